"""What becomes of a server when its starter is killed, and under whom it runs."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from cli.embedded.postgres import start_postgres
from cli.embedded.server import Server
from cli.embedded.valkey import start_valkey
from tests.embedded.starter import ended, starter
from tests.waiting import eventually

linux = pytest.mark.skipif(sys.platform != "linux", reason="no parent-death signal elsewhere")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@linux
def test_a_killed_starter_leaves_no_postgres_and_the_next_one_finds_all(place: Path) -> None:
    folder = place / "postgres"
    with starter("postgres", folder) as first:
        family = first.family()
        assert first.pid in [process.pid for process in family]
        with psycopg.connect(first.url) as client:
            client.execute("CREATE TABLE kept AS SELECT 7 AS n")
            client.commit()
            client.execute("SELECT 1")  # a client in a transaction must not hold the shutdown up
            first.process.kill()
            first.process.wait()
            with start_postgres(folder) as second:  # at once: it may still be stopping
                with psycopg.connect(second.url) as again:
                    assert again.execute("SELECT n FROM kept").fetchone() == (7,)
                assert second.pid != first.pid
            client.close()
        eventually(lambda: all(ended(process) for process in family))
    assert "was not properly shut down" not in (folder / "postgres.log").read_text()


@linux
def test_a_killed_starter_leaves_no_valkey_and_the_next_one_finds_all(place: Path) -> None:
    folder = place / "valkey"
    with starter("valkey", folder) as first:
        family = first.family()
        with redis.Redis.from_url(first.url) as client:
            client.set("kept", "7")
        first.process.kill()
        first.process.wait()
        with start_valkey(folder) as second, redis.Redis.from_url(second.url) as client:
            assert client.get("kept") == b"7"
        eventually(lambda: all(ended(process) for process in family))


@linux
@pytest.mark.parametrize("kind", ["postgres", "valkey"])
def test_a_killed_starter_needs_no_successor(place: Path, kind: str) -> None:
    with starter(kind, place / kind) as held:
        family = held.family()
        held.process.kill()
        eventually(lambda: all(ended(process) for process in family))


@pytest.mark.timeout(30)  # PostgreSQL notices by itself after a minute, which isn't meant here
@pytest.mark.parametrize("start", [start_postgres, start_valkey])
def test_a_server_that_outlived_its_starter_is_stopped_first(place: Path, start: Callable[[Path], Server]) -> None:
    """As after a kill where the kernel tells a child nothing: the lock is free, the server runs."""
    folder = place / f"outlived {start.__name__}"
    left = start(folder)
    left.lock.release()
    with start(folder) as server:
        assert not left.running
        assert server.pid != left.pid


def test_nothing_on_path_is_run(place: Path) -> None:
    """Also the way of a container: without `unshare`, root's server runs as the user nobody."""
    tools, trace = place / "tools", place / "trace"
    tools.mkdir()
    for name in ("postgres", "initdb", "psql", "pg_ctl", "pg_isready", "valkey-server", "redis-server"):
        (tools / name).write_text(f"#!/bin/sh\necho {name} >> '{trace}'\nexit 1\n")
        (tools / name).chmod(0o755)
    with starter("postgres", place / "bare", env={"PATH": str(tools)}) as held:
        assert not held.error
        psycopg.connect(held.url).close()
        assert psutil.Process(held.pid).uids().real != 0
    with starter("valkey", place / "bare valkey", env={"PATH": str(tools)}) as held:
        assert not held.error
    assert not trace.exists()


@as_root
@linux
def test_as_nobody_without_unshare_it_still_dies_with_a_root_starter(place: Path) -> None:
    with starter("postgres", place / "bare", env={"PATH": ""}) as held:
        assert psutil.Process(held.pid).uids().real != 0
        family = held.family()
        held.process.kill()
        eventually(lambda: all(ended(process) for process in family))
    with starter("postgres", place / "bare") as again:  # unshare is back, the data is nobody's: as before
        assert not again.error
        assert psutil.Process(again.pid).uids().real != 0


@as_root
def test_under_root_the_files_stay_roots_where_namespaces_work(place: Path) -> None:
    with start_postgres(place / "postgres") as server:
        owner = (place / "postgres" / "data" / "PG_VERSION").stat().st_uid
        assert owner == psutil.Process(server.pid).uids().real


@as_root
def test_under_root_a_folder_of_somebody_else_stays_theirs(place: Path) -> None:
    folder = place / "theirs"
    folder.mkdir()
    shutil.chown(folder, "daemon", "daemon")
    with start_postgres(folder) as server:
        assert psutil.Process(server.pid).uids().real == folder.stat().st_uid != 0
    assert {path.stat().st_uid for path in folder.rglob("*")} == {folder.stat().st_uid}


@as_root
@linux
@pytest.mark.parametrize("kind", ["postgres", "valkey"])
def test_an_ordinary_user_starts_both(place: Path, kind: str) -> None:
    """As nobody where nobody can run this Python.

    Otherwise (Python lies in root's home) in a user namespace: there the starter isn't root and has none of root's
    rights, but may still read what is root's own.
    """
    home = place / f"ordinary {kind}"
    home.mkdir()
    if nobody_can_run_python():
        shutil.chown(home, "nobody")
        held_by = starter(kind, home / "server", user="nobody")
    else:
        held_by = starter(kind, home / "server", prefix=("unshare", "--user", "--map-user=65534"))
    with held_by as held:
        assert not held.error
        family = held.family()
        held.process.kill()
        eventually(lambda: all(ended(process) for process in family))


def nobody_can_run_python() -> bool:
    try:
        subprocess.run([sys.executable, "-c", ""], user="nobody", check=True, capture_output=True)
    except (PermissionError, subprocess.CalledProcessError):
        return False
    return True


@as_root
def test_a_folder_nobody_can_reach_is_told_with_the_mend(place: Path) -> None:
    private = place / "private"
    private.mkdir(mode=0o700)
    with starter("postgres", private / "postgres", env={"PATH": ""}) as held:
        assert "use a folder and a checkout that others can reach" in held.error
