"""The broker stops half-way through the messages of a batch: all of it is stored, all of it runs, and it ends once."""

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import redis

from cli.embedded.server import Server
from cli.embedded.valkey import start_valkey
from dedupe.engine import Engine
from tests.api.serving import Api, settings_for, stay
from tests.conftest import Tenant
from tests.crash.house import open_house
from tests.dedupe.rows import rows
from tests.pms import Pms
from tests.waiting import eventually

pytestmark = pytest.mark.timeout(300)
ROOMS = 1000
#: Seconds: two processes start, and a thousand rooms are booked on two cores that others use, too.
WITHIN = 150.0


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that the broker keeps its messages in while it is away."""
    made = Path(tempfile.mkdtemp(prefix="roomkey-broker-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def kill_at_first(broker: Server, number: int) -> threading.Thread:
    """SIGKILL the broker as soon as so many messages have reached it."""

    def watch() -> None:
        with redis.Redis.from_url(broker.url) as client:
            while int(client.llen("bookings.pms")) < number:
                pass
        os.kill(broker.pid, signal.SIGKILL)

    thread = threading.Thread(target=watch, name="kills the broker")
    thread.start()
    return thread


class Poller:
    """Polls an intent until it has ended and a little longer, and notes each change of its state."""

    def __init__(self, api: Api, intent: str) -> None:
        self.seen: list[str] = []
        self._thread = threading.Thread(target=self._poll, args=(api, intent), name="polls")
        self._thread.start()

    def _poll(self, api: Api, intent: str) -> None:
        after_the_end = 0
        while after_the_end < 10:
            answer = api.http.get(f"/v1/intents/{intent}", params={"wait": 1, "items": "none"}).json()
            if self.seen[-1:] != [answer["state"]]:
                self.seen.append(answer["state"])
            after_the_end += answer["state"] == "done"

    def end(self) -> list[str]:
        self._thread.join(60)
        assert not self._thread.is_alive()
        return self.seen


def test_case_62_the_broker_stops_half_way_through_a_batch_and_all_of_it_runs_once(
    database_url: str, engine: Engine, tenant: Tenant, pms: Pms, place: Path, tmp_path: Path
) -> None:
    pms.set_rooms("BER", "double", ROOMS)
    named = [{"guest": {"name": f"Ana {n}", "email": f"ana{n}@guests.example"}} for n in range(ROOMS)]
    body = {"tool": "book_rooms", "conversation_id": "c-77", "arguments": {**stay(), "rooms": named}}
    with ExitStack() as stack:
        broker = start_valkey(place)
        stack.callback(broker.stop)
        api = stack.enter_context(Api.started(settings_for(database_url, broker.url), tenant, engine))
        killer = kill_at_first(broker, 10)
        answer = api.submit(body)
        killer.join(20)
        assert answer.status_code == 202, answer.text
        intent = answer.json()["id"]
        stored = rows(engine, "SELECT state, published FROM items")
        assert [(row.state, row.published) for row in stored] == [("queued", 1)] * ROOMS
        poller = Poller(api, intent)
        broker.stop()

        back = stack.enter_context(start_valkey(place))
        assert back.url == broker.url
        with redis.Redis.from_url(back.url) as client:
            assert int(client.llen("bookings.pms")) < ROOMS, "most messages were never sent"
        house = stack.enter_context(open_house(engine, pms, back.url, tmp_path))
        house.start("worker")
        house.start("caretaker")
        eventually(lambda: _over(engine), within=WITHIN)
        assert poller.end() == ["pending", "done"]
        ended: dict[str, Any] = api.poll(intent).json()
    assert (ended["outcome"], ended["succeeded"]) == ("succeeded", list(range(ROOMS)))
    assert len({item["result"]["booking_id"] for item in ended["items"]}) == ROOMS
    assert len(pms.bookings()) == ROOMS


def _over(engine: Engine) -> bool:
    [left] = rows(engine, "SELECT count(*) AS number FROM items WHERE state IN ('queued', 'running')")
    assert left.number == 0, f"{left.number} of {ROOMS} rooms have not ended"
    return True
