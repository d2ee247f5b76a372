"""The findings of Friday as tables."""

from typing import Any

from rich.console import Console
from rich.table import Table


def show(found: dict[str, Any], console: Console) -> None:
    """Print the tables."""
    console.print(_aims(found), _calls(found), _states(found), _neighbour(found), _sides(found))
    reads, plan = found["reads"], found["plan"]
    refused = ", ".join(f"{count} {code}" for code, count in reads["refused"].items()) or "none"
    console.print(
        f"{reads['asked']} searches: {reads['answered']} answered, refused: {refused}. "
        f"In the first {plan['settling']:g} s of the outage {found['outage_first_seconds_calls']} calls; in the last "
        f"{plan['after'] / 2:g} s of the play {found['settled_per_s_after']:.1f} intents/s came to rest, "
        f"{plan['rate']:g}/s arrived. "
        f"{found['seconds']:.0f} s in all; {found['machine']['cpus']} CPUs, {found['foreign_cpu_share']:.0%} used by "
        "others. The code without Roomkey: bench/before.py.",
        style="dim",
        markup=False,
    )


def _aims(found: dict[str, Any]) -> Table:
    table = Table("aim", title="Friday", title_justify="left")
    for name in ("found", "at most", ""):
        table.add_column(name, justify="right")
    for aim in found["aims"]:
        met = "[green]met[/green]" if aim["met"] else "[bold red]missed[/bold red]"
        table.add_row(aim["name"], _figure(aim["found"]), f"{aim['most']:g}", met)
    return table


def _calls(found: dict[str, Any]) -> Table:
    table = Table("part", title="Calls per intent, from the hotel systems' ledgers", title_justify="left")
    for name in ("intents", "writes", "checks", "all", "audits due later"):
        table.add_column(name, justify="right")
    for name, part in found["calls_per_intent"].items():
        figures = (part[kind] for kind in ("writes", "checks", "all", "audits_due"))
        table.add_row(name, str(part["intents"]), *map(_figure, figures))
    return table


def _states(found: dict[str, Any]) -> Table:
    names = ("succeeded", "failed", "unknown", "open", "untrue")
    table = Table("part", title="What was told at the end", title_justify="left")
    for name in names:
        table.add_column(name, justify="right")
    for part, states in found["states"].items():
        table.add_row(part, *(str(states[name]) for name in names))
    return table


def _neighbour(found: dict[str, Any]) -> Table:
    table = Table("when", title="The second provider: seconds from intent to answer", title_justify="left")
    for name in ("p50", "p99"):
        table.add_column(name, justify="right")
    for when, took in found["second_provider"].items():
        table.add_row(when, _figure(took["p50"]), _figure(took["p99"]))
    return table


def _sides(found: dict[str, Any]) -> Table:
    without = found["without"]
    table = Table("", title="The part with the outage, beside three layers of three tries", title_justify="left")
    for name in ("without Roomkey", "with"):
        table.add_column(name, justify="right")
    ours = found["over_time"]["calls"]
    table.add_row("calls/s in the outage", _figure(without["outage_calls_per_s"]), _figure(found["outage_calls_per_s"]))
    table.add_row("calls/s, the most", str(max(without["calls"])), str(max(ours)))
    table.add_row("booked twice or more", str(without["booked_twice_or_more"]), "0")
    table.add_row("told as failed, but booked", str(without["told_failed_but_booked"]), "0")
    return table


def _figure(value: float | None) -> str:
    return "never" if value is None else f"{value:.2f}"
