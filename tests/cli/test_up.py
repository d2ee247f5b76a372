"""`roomkey up` as a process: what it starts, and that nothing is left of it."""

import json
import signal
from pathlib import Path

import psutil

from tests.cli.running import ended, reachable_folder, roomkey, running_up, starting_up
from tests.conftest import Servers
from tests.waiting import eventually

ALL = {"api", "worker", "worker-batch", "caretaker", "simulator", "mailcatcher", "postgres", "valkey"}


def test_a_kill_leaves_nothing_behind_and_ctrl_c_stops_in_order() -> None:
    with reachable_folder() as folder:
        with running_up(folder) as up:
            first = json.loads((folder / ".roomkey" / "keys.json").read_text())
            family = up.family()
            below = [*family.values(), *psutil.Process(up.process.pid).children(recursive=True)]
            assert set(family) == ALL
            up.end(signal.SIGKILL)
            eventually(lambda: all(ended(process) for process in below), within=15)
        with running_up(folder) as up:
            assert json.loads((folder / ".roomkey" / "keys.json").read_text()) == first, "later runs have the same keys"
            family = up.family()
            up.process.send_signal(signal.SIGINT)
            gone = _in_order(family)
            assert up.process.wait(10) == 0
            assert set(gone[:4]) == {"api", "worker", "worker-batch", "caretaker"}
            assert set(gone[4:6]) == {"simulator", "mailcatcher"}
            assert gone[6:] == ["valkey", "postgres"]
            assert up.output.endswith("stopped\n")
            assert not (folder / ".roomkey" / "state.json").exists()


def test_an_interrupted_start_is_undone() -> None:
    with reachable_folder() as folder, starting_up(folder) as up:
        eventually(lambda: "making a new PostgreSQL" in up.output, within=15)
        below = psutil.Process(up.process.pid).children(recursive=True)
        assert up.end(signal.SIGINT) == 130
        assert "Traceback" not in up.output
        eventually(lambda: all(ended(process) for process in below), within=15)  # initdb tidies up at its own pace


_STOPPING = ["api", "worker", "worker-batch", "caretaker", "simulator", "mailcatcher", "valkey", "postgres"]


def _in_order(family: dict[str, psutil.Process]) -> list[str]:
    """The names in the order in which they end; what ends between two looks counts as in order of stopping."""
    left = sorted(family, key=_STOPPING.index)
    gone: list[str] = []

    def look() -> bool:
        gone.extend([name for name in left if name not in gone and ended(family[name])])
        return len(gone) == len(left)

    eventually(look, within=40)
    return gone


def test_a_port_that_is_taken_is_told_before_anything_is_started(servers: Servers, tmp_path: Path) -> None:
    taken = servers.redis_url.rpartition(":")[2].partition("/")[0]
    done = roomkey("up", cwd=tmp_path, ROOMKEY_API_PORT=taken)
    assert done.returncode == 4
    assert done.stderr.splitlines()[-1] == (
        f"roomkey: port {taken} is taken; free it, or choose another with ROOMKEY_API_PORT (0: any)"
    )
    assert not (tmp_path / ".roomkey" / "postgres").exists()


def test_a_process_that_cannot_start_ends_up_with_its_reason(tmp_path: Path) -> None:
    away = "postgresql://127.0.0.1:9/x"
    named = {"ROOMKEY_BROKER_URL": "redis://x", "ROOMKEY_PMS_URL": "http://x", "ROOMKEY_SMTP_URL": "smtp://x"}
    done = roomkey("up", cwd=tmp_path, ROOMKEY_API_PORT="0", ROOMKEY_DATABASE_URL=away, **named)
    assert done.returncode == 3
    assert "simulator" not in done.stderr, "it is not needed where a hotel system is named"
    assert "mail catcher" not in done.stderr, "nor is this where a mail server is"
    last = done.stderr.splitlines()[-1]
    assert last.startswith("roomkey: Postgres: ")
    assert "Connection refused" in last
    assert last.endswith("start it, or correct ROOMKEY_DATABASE_URL")
