"""`roomkey demo`: starts everything embedded in a folder of its own, plays the scenes, and judges them."""

import shutil
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from booking.settings import Provider, ProviderKind, Settings
from cli.config import DEMO_HOTELS
from cli.demo.agent import Agent
from cli.demo.hotel import Hotel
from cli.demo.post import Post
from cli.demo.scenes import SCENES
from cli.demo.stage import Row, Stage
from cli.stack import Stack, start_stack

#: Short deadlines, so that a timeout takes two seconds of the demo and a dead worker's lease seven.
HASTY = Provider(write_deadline=2.0, read_deadline=1.0, settle_time=1.0, idle_timeout=1.0)
#: A mail server that the catcher plays.
POST = Provider(kind=ProviderKind.SMTP, write_deadline=2.0)


def play(data: Path) -> int:
    """Play all scenes on fresh data under `data`/demo. Returns the exit code: 1 if any row is wrong.

    Everything is embedded, whatever the environment names: a demo must not book at anybody's hotel.
    """
    console = Console()
    folder = data / "demo"
    shutil.rmtree(folder, ignore_errors=True)
    settings = Settings(api_port=0, providers={"pms": HASTY, "mail": POST}, properties=DEMO_HOTELS)
    started = time.monotonic()
    console.print("[bold]Friday, 18:40.[/] The hotel system is slow. Starting Roomkey on real parts …")
    stack = start_stack(folder, settings, on_progress=lambda step: console.print(f"  [dim]{step}[/]"))
    try:
        rows = _scenes(console, stack)
    finally:
        stack.stop()
    console.print(_table(rows))
    seconds = time.monotonic() - started
    if any(row.wrong for row in rows):
        console.print(f"[bold red]Not as promised[/] ({seconds:.0f} s). Logs: {folder / 'logs'}")
        return 1
    console.print(f"[bold green]Every guest has what they asked for, once[/] ({seconds:.0f} s).")
    return 0


def _scenes(console: Console, stack: Stack) -> list[Row]:
    agent, hotel, post = Agent(stack.api_url, stack.keys["agent"]), Hotel(stack.pms_url), Post(stack.mail_url)
    stage = Stage(agent, hotel, post, stack, say=lambda line: console.print(f"  [dim]{line}[/]"))
    rows = []
    for scene in SCENES:
        console.print(f"[cyan]▶[/] {scene.__doc__}")
        row = scene(stage)
        console.print(f"  {_mark(row)} {row.outcome}, {row.effects} in the ledger")
        rows.append(row)
    agent.close()
    hotel.close()
    post.close()
    return rows


def _table(rows: list[Row]) -> Table:
    table = Table(title="Friday 18:40")
    for name in ("intent", "outcome"):
        table.add_column(name)
    for name in ("calls", "bookings or mails in the ledger"):
        table.add_column(name, justify="right")
    table.add_column("")
    for row in rows:
        verdict = f"[red]✗ {row.wrong}[/]" if row.wrong else "[green]✓[/]"
        table.add_row(row.scene, row.outcome, str(row.calls), str(row.effects), verdict)
    return table


def _mark(row: Row) -> str:
    return "[red]✗[/]" if row.wrong else "[green]✓[/]"
