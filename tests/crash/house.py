"""A house with its own database and hotel system, in which workers live and die on brokers of their own."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis

from booking.arguments import Guest, Stay
from dedupe.engine import Engine
from dedupe.items import Item
from tasks.message import make_app
from tasks.publish import Publisher
from tests.dedupe.rows import attempts, one_item, room, row, seen, url_of
from tests.pms import Pms

ROOT = Path(__file__).parents[2]
#: Seconds; the lease is 5 s longer.
WRITE_DEADLINE = 2.0


def guest_of(conversation: str) -> Guest:
    """What is in doubt for one guest must not stand in the way of another one's drama."""
    return Guest(name=f"Guest of {conversation}", email="guest@hotel-demo.com")


@dataclass
class Process:
    """A worker or caretaker of ours."""

    popen: subprocess.Popen[bytes]
    log: Path

    @property
    def alive(self) -> bool:
        return self.popen.poll() is None

    @property
    def code(self) -> int | None:
        """How it ended: minus the signal's number, if by one."""
        return self.popen.poll()

    def signal(self, number: signal.Signals) -> None:
        self.popen.send_signal(number)


@dataclass
class House:
    """Each broker is a database of the same Valkey: `broker(0)` is the one that all survivors share."""

    engine: Engine
    pms: Pms
    valkey: str
    logs: Path
    stack: ExitStack
    started: list[Process] = field(default_factory=list)

    def broker(self, number: int) -> str:
        return self.valkey.rsplit("/", 1)[0] + f"/{number}"

    def client(self, number: int = 0) -> redis.Redis:
        client: redis.Redis = redis.Redis.from_url(self.broker(number))
        self.stack.callback(client.close)
        return client

    def waiting(self, number: int = 0) -> int:
        """Messages in the queue of a broker."""
        return int(self.client(number).llen("bookings.pms"))

    def publish(self, *items: int, number: int = 0) -> None:
        """As the API does right after its commit."""
        app = make_app(self.broker(number), 5.0, [])
        assert Publisher(app, budget=20.0).publish([(item, "bookings.pms") for item in items]) == []
        app.close()

    def start(self, *words: str, number: int = 0, threads: int = 8) -> Process:
        """Start `worker`, `worker <step>` or `caretaker` on a broker."""
        log = self.logs / f"{len(self.started)}-{'-'.join(words)}.log"
        with log.open("wb") as out:
            popen = subprocess.Popen(
                [sys.executable, "-m", "tests.crashing_worker", *words],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
                cwd=ROOT,
            )
        assert popen.stdin is not None
        popen.stdin.write(json.dumps(self.settings(number, threads)).encode() + b"\n")
        popen.stdin.close()
        process = Process(popen, log)
        self.started.append(process)
        self.stack.callback(end, process)
        return process

    def settings(self, number: int, threads: int) -> dict[str, Any]:
        # Quiet time is short, for there is nobody here who commits late.
        common = {"write_deadline": WRITE_DEADLINE, "settle_time": 0.5, "idle_timeout": 0.5}
        return {
            "database_url": url_of(self.engine),
            "broker_url": self.broker(number),
            "pms_url": self.pms.url,
            "worker": {"threads": threads},
            "providers": {"pms": common, "careful": common | {"mode": "lookup-only"}},
        }

    def ask(self, conversation: str, *rooms: Stay, provider: str = "pms") -> int:
        """Ask for one room; gives its item's id. Not published. Each conversation's guest is another one."""
        asked = [one.model_copy(update={"guest": guest_of(conversation)}) for one in rooms or (room(),)]
        item = one_item(self.engine, *asked, conversation=conversation).id
        with self.engine.connect() as connection:
            connection.exec_driver_sql("UPDATE items SET provider = %s WHERE id = %s", (provider, item))
        return item

    def item(self, item_id: int) -> Item:
        return seen(self.engine, item_id)

    def state(self, item_id: int) -> str:
        return str(row(self.engine, item_id).state)

    def attempts(self, item_id: int) -> list[tuple[str, str | None]]:
        return attempts(self.engine, item_id)

    def calls(self, item_id: int) -> list[str]:
        """The operations that the hotel system was asked for, for an item, in order."""
        return [call["operation"] for call in self.pms.ledger(reference=self.item(item_id).reference)]

    def effects(self, item_id: int) -> list[str]:
        """The bookings that exist for an item."""
        return [one["booking_id"] for one in self.pms.bookings(reference=self.item(item_id).reference)]

    def told(self, item_id: int) -> list[str | None]:
        """The bookings that the guest is told of."""
        return [row(self.engine, item_id).provider_id]


def end(process: Process) -> None:
    """End it, whatever state it is in, and wait for that."""
    if process.alive:
        process.popen.kill()
    process.popen.wait(timeout=20)


@contextmanager
def open_house(engine: Engine, pms: Pms, valkey: str, logs: Path) -> Iterator[House]:
    """A house; all its processes are gone at the end."""
    with ExitStack() as stack:
        yield House(engine, pms, valkey, logs, stack)
