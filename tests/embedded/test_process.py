import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from cli.embedded.process import Stopping, end_leftover

STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); input()"


@contextmanager
def process(mark: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ignores SIGTERM and carries `mark` in its command line."""
    command = [sys.executable, "-c", STUBBORN, mark]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as popen:
        assert popen.stdout is not None
        popen.stdout.readline()  # it has begun to ignore
        yield popen


def test_a_leftover_that_ignores_the_signal_is_killed() -> None:
    with process("/the folder/data") as left:
        end_leftover(left.pid, "/the folder/data", Stopping(((signal.SIGTERM, 0.1),)))
        assert left.wait(5) == -signal.SIGKILL


def test_a_process_that_only_has_the_pid_is_left_alone() -> None:
    with process("/another folder/data") as other:
        end_leftover(other.pid, "/the folder/data", Stopping(((signal.SIGTERM, 0.1),)))
        other.communicate(b"\n")
        assert other.returncode == 0
