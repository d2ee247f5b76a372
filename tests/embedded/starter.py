"""A process of its own that starts an embedded server and holds it until its stdin closes."""

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from cli.embedded.postgres import start_postgres
from cli.embedded.process import EmbeddedError
from cli.embedded.valkey import start_valkey

CHECKOUT = Path(__file__).parents[2]


@dataclass
class Starter:
    process: subprocess.Popen[str]
    pid: int  # the server's
    url: str
    error: str

    def family(self) -> list[psutil.Process]:
        """The starter and everything below it."""
        starter = psutil.Process(self.process.pid)
        return [starter, *starter.children(recursive=True)]


@contextmanager
def starter(
    kind: str,
    folder: Path,
    *,
    prefix: Sequence[str] = (),
    user: str | None = None,
    env: Mapping[str, str] | None = None,
) -> Iterator[Starter]:
    process = subprocess.Popen(
        [*prefix, sys.executable, "-B", "-m", "tests.embedded.starter", kind, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT,
        env={**os.environ, **(env or {})},
        user=user,
        group=None if user is None else pwd.getpwnam(user).pw_gid,
        extra_groups=None if user is None else [],
    )
    with process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"the starter ended with {process.wait()}"
        yield Starter(process, **json.loads(line))


def ended(process: psutil.Process) -> bool:
    """Whether it is gone, or dead and not yet collected by whoever inherited it."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def main() -> None:
    start = {"postgres": start_postgres, "valkey": start_valkey}[sys.argv[1]]
    try:
        server = start(Path(sys.argv[2]))
    except EmbeddedError as error:
        sys.stdout.write(json.dumps({"pid": 0, "url": "", "error": str(error)}) + "\n")
        return
    with server:
        sys.stdout.write(json.dumps({"pid": server.pid, "url": server.url, "error": ""}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
