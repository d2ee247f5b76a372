"""`python -m bench SCENARIO`: measure, print tables, write `.roomkey/bench/SCENARIO.json`. Exit 1: an aim is missed."""

import argparse
import dataclasses
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from bench import picture, priorities, report, throughput
from bench.friday import plan as friday_plan
from bench.friday import report as friday_report
from bench.friday import run as friday

FOLDER = Path(".roomkey/bench")
#: Columns that the tables need; a narrower terminal wraps them, as does a file.
WIDTH = 120
MOST = 20_000  # intents

Say = Callable[[str], None]


def main() -> int:
    """Run one scenario."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("scenario", choices=["throughput", "friday", "priorities"])
    parser.add_argument("--n", type=_count, help="throughput: intents a burst")
    parser.add_argument("--intents", type=_count, help="friday: intents on each slow evening")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="friday: draw it there, as SVG")
    parser.add_argument("--quick", action="store_true", help="only show that it works; the numbers mean nothing")
    parser.add_argument("--json", type=Path, default=FOLDER, metavar="FOLDER", help="where the JSON goes")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the temp folder goes and all processes end
    console, progress = Console(), Console(stderr=True, style="dim")
    console.width = max(console.width, WIDTH)

    def say(line: str) -> None:
        progress.print(line, markup=False, highlight=False)

    measure = {"throughput": _throughput, "friday": _friday, "priorities": _priorities}[given.scenario]
    return measure(given, console, say)


def _count(said: str) -> int:
    count = int(said)
    if not 1 <= count <= MOST:
        raise argparse.ArgumentTypeError(f"must be 1 to {MOST}")
    return count


def _throughput(given: argparse.Namespace, console: Console, say: Say) -> int:
    plan = throughput.QUICK if given.quick else throughput.Plan()
    if given.n is not None:
        plan = dataclasses.replace(plan, n=given.n)
    found = throughput.run(plan, say)
    found["summary"] = report.summarise(found)
    _written(found, given, console, report.show)
    return 0


def _friday(given: argparse.Namespace, console: Console, say: Say) -> int:
    plan = friday_plan.QUICK if given.quick else friday_plan.Plan()
    if given.intents is not None:
        plan = dataclasses.replace(plan, intents=given.intents)
    found = friday.run(plan, say)
    _written(found, given, console, friday_report.show)
    if given.picture is not None:
        given.picture.write_text(picture.draw(found))
    return _judged(found, given, console)


def _priorities(given: argparse.Namespace, console: Console, say: Say) -> int:
    found = priorities.run(priorities.QUICK if given.quick else priorities.Plan(), say)
    _written(found, given, console, priorities.show)
    return _judged(found, given, console)


def _judged(found: dict[str, Any], given: argparse.Namespace, console: Console) -> int:
    missed = [aim["name"] for aim in found["aims"] if not aim["met"]]
    if not missed or given.quick:
        return 0
    console.print(f"missed: {'; '.join(missed)}", markup=False)
    return 1


def _written(
    found: dict[str, Any],
    given: argparse.Namespace,
    console: Console,
    show: Callable[[dict[str, Any], Console], None],
) -> None:
    path = report.write(found, given.json)
    show(found, console)
    console.print(f"written to {path}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
