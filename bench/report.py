"""Findings as tables on the terminal and as a JSON file."""

import json
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

_Rows = list[dict[str, Any]]


def write(found: dict[str, Any], folder: Path) -> Path:
    """Write `<scenario>.json` in `folder`; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{found['scenario']}.json"
    path.write_text(json.dumps(found, indent=1) + "\n")
    return path


def summarise(found: dict[str, Any]) -> _Rows:
    """Medians of both sides by layout and delay, and `ratio`: Roomkey's intents/s by the baseline's."""
    rows = []
    for workers in found["plan"]["layouts"]:
        for delay in found["plan"]["delays_ms"]:
            sides = {side: _median(_bursts(found, workers, delay, side)) for side in ("roomkey", "baseline")}
            ratio = sides["roomkey"]["per_second"] / sides["baseline"]["per_second"]
            rows.append({"workers": workers, "delay_ms": delay, "ratio": ratio, **sides})
    return rows


def _bursts(found: dict[str, Any], workers: int, delay: int, side: str) -> _Rows:
    return [b for b in found["bursts"] if (b["workers"], b["delay_ms"], b["side"]) == (workers, delay, side)]


def _median(bursts: _Rows) -> dict[str, Any]:
    names = ("per_second", "submit_p50_ms", "submit_p99_ms", "calls_per_intent", "foreign_cpu_share")
    medians: dict[str, Any] = {name: statistics.median(burst[name] for burst in bursts) for name in names}
    trees = bursts[0]["cpu_s_per_1000"]
    medians["cpu_s_per_1000"] = {
        tree: statistics.median(burst["cpu_s_per_1000"][tree] for burst in bursts) for tree in trees
    }
    medians["per_second_range"] = [pick(burst["per_second"] for burst in bursts) for pick in (min, max)]
    medians["readable_share"] = sum(burst["readable"] for burst in bursts) / sum(burst["n"] for burst in bursts)
    return medians


def show(found: dict[str, Any], console: Console) -> None:
    """Print the tables; the documented default layout comes first."""
    slots, default = found["plan"]["slots"], found["plan"]["default_layout"]
    for workers in found["plan"]["layouts"]:
        named = f"{workers} worker process(es) x {slots // workers} threads"
        title = f"{named}{' (the default)' if workers == default else ''}, both sides"
        rows = [row for row in found["summary"] if row["workers"] == workers]
        console.print(_throughput(title, rows), _cpu(rows), _unloaded(found, workers), _memory(found, workers))
    console.print(_notes(found), style="dim", markup=False)


def _throughput(title: str, rows: _Rows) -> Table:
    table = Table("PMS ms", "side", title=title, title_justify="left")
    for name in (
        "intents/s",
        "(min to max)",
        "ratio",
        "submit p50 ms",
        "p99 ms",
        "PMS calls/intent",
        "readable",
        "CPU by others",
    ):
        table.add_column(name, justify="right")
    for row in rows:
        for side in ("roomkey", "baseline"):
            one = row[side]
            low, high = one["per_second_range"]
            ratio = f"[bold]{row['ratio']:.2f}[/bold]" if side == "roomkey" else ""
            table.add_row(
                str(row["delay_ms"]),
                side,
                f"{one['per_second']:.0f}",
                f"{low:.0f} to {high:.0f}",
                ratio,
                f"{one['submit_p50_ms']:.1f}",
                f"{one['submit_p99_ms']:.1f}",
                f"{one['calls_per_intent']:.3f}",
                f"{one['readable_share']:.0%}",
                f"{one['foreign_cpu_share']:.0%}",
            )
    return table


def _cpu(rows: _Rows) -> Table:
    trees = ("api", "worker", "caretaker", "postgres", "valkey", "client", "stub")
    table = Table("PMS ms", "side", title="CPU seconds per 1,000 intents", title_justify="left")
    for name in (*trees, "all but client, stub"):
        table.add_column(name, justify="right")
    for row in rows:
        for side in ("roomkey", "baseline"):
            used = row[side]["cpu_s_per_1000"]
            own = sum(value for name, value in used.items() if name not in ("client", "stub"))
            cells = [f"{used[name]:.2f}" if name in used else "-" for name in trees]
            table.add_row(str(row["delay_ms"]), side, *cells, f"{own:.2f}")
    return table


def _unloaded(found: dict[str, Any], workers: int) -> Table:
    table = Table("side", title="Unloaded, PMS 0 ms: hand in one, wait for its result", title_justify="left")
    for name in ("p50 ms", "p99 ms", "PMS alone p50 ms", "above the PMS p50 ms", "p99 ms"):
        table.add_column(name, justify="right")
    for one in found["unloaded"]:
        if one["workers"] == workers:
            figures = ("p50_ms", "p99_ms", "pms_alone_p50_ms", "above_pms_p50_ms", "above_pms_p99_ms")
            table.add_row(one["side"], *(f"{one[name]:.1f}" for name in figures))
    return table


def _memory(found: dict[str, Any], workers: int) -> Table:
    table = Table("side", "process", "RSS MB", "PSS MB", title="Memory after the bursts", title_justify="left")
    for layout in found["memory"]:
        if layout["workers"] == workers:
            for side in ("roomkey", "baseline"):
                for tree, processes in layout[side].items():
                    table.add_row(side, tree, _joined(processes, "rss"), _joined(processes, "pss"))
    return table


def _joined(processes: Iterable[dict[str, Any]], name: str) -> str:
    return ", ".join("-" if process[name] is None else f"{process[name]:.0f}" for process in processes)


def _notes(found: dict[str, Any]) -> str:
    plan, foreign = found["plan"], statistics.median(burst["foreign_cpu_share"] for burst in found["bursts"])
    return (
        f"{plan['n']} intents a burst, {plan['repeats']} burst(s) a cell in turns, medians; {plan['submitters']} "
        f"submit at once: Roomkey's over HTTP, the baseline's in process. {found['machine']['cpus']} CPUs, "
        f"{foreign:.0%} used by others. The slots bound 300 ms at {plan['slots'] / 0.3:.0f} intents/s. The baseline's "
        "code: bench/baseline.py."
    )
