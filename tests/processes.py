"""Servers as processes of their own, for tests."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def listening(module: str, *arguments: str, without: tuple[str, ...] = ()) -> Iterator[tuple[str, int]]:
    """`python -m module`, stopped at the end: the address that it says it listens on, and its pid.

    `without`: names that its environment shall not have.
    """
    environment = {name: value for name, value in os.environ.items() if name not in without}
    command = [sys.executable, "-m", module, *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("listening on "), f"{module} did not start: {line!r}"
        yield line.removeprefix("listening on ").strip(), process.pid
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
