"""The client against the real API; a worker's part is done in between."""

import re
import socket
import threading
from collections.abc import Iterator

import httpx
import pytest

from dedupe.engine import Engine
from roomkey_client import Client, RoomkeyError
from roomkey_client.client import REPEATS
from tests.api.serving import Api, settings_for, stay
from tests.api.work import book
from tests.conftest import Tenant


@pytest.fixture
def api(database_url: str, redis_url: str, tenant: Tenant, engine: Engine) -> Iterator[Api]:
    with Api.started(settings_for(database_url, redis_url), tenant, engine) as started:
        yield started


@pytest.fixture
def client(api: Api) -> Iterator[Client]:
    with Client(f"http://127.0.0.1:{api.port}", api.tenant.agent) as made:
        yield made


def test_an_intent_is_waited_for_to_its_end(api: Api, client: Client) -> None:
    intent = client.submit("create_booking", stay(), "c-1")
    assert intent["state"] == "pending"
    worker = threading.Thread(target=book, args=(api.engine, intent["items"][0]["id"], "B-77"))
    worker.start()
    done = client.wait(intent["id"], 20)
    worker.join()
    assert (done["outcome"], done["items"][0]["result"]["booking_id"]) == ("succeeded", "B-77")


def test_a_wait_ends_with_the_intent_as_it_is(client: Client) -> None:
    intent = client.submit("create_booking", stay(), "c-1")
    assert client.wait(intent["id"], 0)["state"] == "pending"


def test_a_refusal_carries_what_the_model_is_told_and_is_not_repeated(client: Client) -> None:
    with pytest.raises(RoomkeyError) as refused:
        client.submit("create_booking", stay(check_in="tomorrow"), "c-1")
    assert (refused.value.status, refused.value.tool_error["code"]) == (422, "INVALID_ARGUMENT")


def test_a_lost_answer_is_asked_for_again_with_the_same_key() -> None:
    keys: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=hang_up, args=(listener, keys), daemon=True).start()
        port = listener.getsockname()[1]
        with Client(f"http://127.0.0.1:{port}", "rk_none") as client, pytest.raises(httpx.TransportError):
            client.submit("create_booking", stay(), "c-1")
    assert len(keys) == REPEATS + 1
    assert len(set(keys)) == 1


def hang_up(listener: socket.socket, keys: list[str]) -> None:
    """Take each request whole, note its key, and close without an answer."""
    for _ in range(REPEATS + 1):
        line, _ = listener.accept()
        with line:
            head = b""
            while b"\r\n\r\n" not in head:
                head += line.recv(65_536)
            keys += re.findall(r"(?i)idempotency-key: (\w+)", head.decode())
