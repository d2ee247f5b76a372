"""The `roomkey` command as real processes."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.waiting import eventually

#: Not a name that happens to be on PATH.
ROOMKEY = [str(Path(sys.executable).with_name("roomkey"))]


def surroundings(**variables: str) -> dict[str, str]:
    """Our environment without any ROOMKEY_ variable but these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ROOMKEY_")}
    return {**kept, "COLUMNS": "200", **variables}


def roomkey(*arguments: str, cwd: Path, stdin: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    return subprocess.run(
        [*ROOMKEY, *arguments],
        cwd=cwd,
        env=surroundings(**variables),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@contextmanager
def reachable_folder() -> Iterator[Path]:
    """A folder with a space in its path that other users can reach (pytest's own are private to root)."""
    path = Path(tempfile.mkdtemp(prefix="room key "))
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path)


class Up:
    """A running `roomkey up`."""

    def __init__(self, process: "subprocess.Popen[bytes]", folder: Path) -> None:
        self.process = process
        self.folder = folder

    @property
    def output(self) -> str:
        return (self.folder / "up.txt").read_text()

    def family(self) -> dict[str, psutil.Process]:
        """Everything it has started, by name: api, worker, worker-batch, caretaker, simulator, mailcatcher, servers."""
        return {_name(child): child for child in psutil.Process(self.process.pid).children() if not ended(child)}

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(40)


@contextmanager
def starting_up(folder: Path, *arguments: str, **variables: str) -> Iterator[Up]:
    """`roomkey up` in `folder` on a free port, ended afterwards."""
    with (folder / "up.txt").open("wb") as output:
        process = subprocess.Popen(
            [*ROOMKEY, "up", *arguments],
            cwd=folder,
            env=surroundings(ROOMKEY_API_PORT="0", ROOMKEY_WORKER_THREADS="4", **variables),
            stdout=output,
            stderr=output,
        )
    up = Up(process, folder)
    try:
        yield up
    finally:
        if process.poll() is None:
            up.end(signal.SIGTERM)


@contextmanager
def running_up(folder: Path, *arguments: str, **variables: str) -> Iterator[Up]:
    """The same, ready."""
    with starting_up(folder, *arguments, **variables) as up:
        eventually(lambda: "Roomkey is up" in up.output or up.process.poll() is not None, within=60)
        assert up.process.poll() is None, up.output
        yield up


def ended(process: psutil.Process) -> bool:
    """Whether it is gone, or dead and not yet collected by whoever inherited it."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _name(process: psutil.Process) -> str:
    words = process.cmdline() or ["ended"]  # between its end and our look it has no command line
    if "cli.main" in words:
        name = words[words.index("cli.main") + 1]
        return f"{name}-batch" if words[-1] == "batch" else name
    return Path(words[0]).name.removesuffix("-server")
