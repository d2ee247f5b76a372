"""`python -m bench SCENARIO`: measure, print tables, write `.roomkey/bench/SCENARIO.json`."""

import argparse
import dataclasses
import signal
import sys
from pathlib import Path

from rich.console import Console

from bench import report, throughput

FOLDER = Path(".roomkey/bench")
#: Columns that the tables need; a narrower terminal wraps them, as does a file.
WIDTH = 120


def main() -> int:
    """Run one scenario."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("scenario", choices=["throughput"])
    parser.add_argument("--n", type=int, help="intents a burst")
    parser.add_argument("--quick", action="store_true", help="only show that it works; the numbers mean nothing")
    parser.add_argument("--json", type=Path, default=FOLDER, metavar="FOLDER", help="where the JSON goes")
    given = parser.parse_args()
    if given.n is not None and not 1 <= given.n <= 20_000:
        parser.error("--n must be 1 to 20000")
    plan = throughput.QUICK if given.quick else throughput.Plan()
    if given.n is not None:
        plan = dataclasses.replace(plan, n=given.n)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the temp folder goes and all processes end
    console, progress = Console(), Console(stderr=True, style="dim")
    console.width = max(console.width, WIDTH)
    found = throughput.run(plan, lambda line: progress.print(line, markup=False, highlight=False))
    found["summary"] = report.summarise(found)
    path = report.write(found, given.json)
    report.show(found, console)
    console.print(f"written to {path}", markup=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
