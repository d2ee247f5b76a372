"""The competitor: what a competent team writes by hand for the same job, without Roomkey.

A table with a unique key; INSERT … ON CONFLICT DO NOTHING, then a Celery message; the worker claims by UPDATE, POSTs to
the hotel system over a kept-alive connection, and UPDATEs the result. Three durable commits an intent, late acks, one
Postgres connection a thread. It gives up nothing in speed, but much else: a lost message is a lost booking, a timeout
is anybody's guess, and nobody hears of either.

`python -m bench.baseline CONFIG` runs a worker; CONFIG is a JSON file.
"""

import http.client
import json
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from celery import Celery

_SCHEMA = """
CREATE TABLE bookings (
    key         text PRIMARY KEY,
    payload     jsonb NOT NULL,
    state       text NOT NULL DEFAULT 'queued',
    booking_id  text,
    created_at  timestamptz NOT NULL DEFAULT now(),
    claimed_at  timestamptz,
    done_at     timestamptz
)
"""
_INSERT = "INSERT INTO bookings (key, payload) VALUES (%s, %s) ON CONFLICT DO NOTHING"
_CLAIM = """
UPDATE bookings SET state = 'running', claimed_at = now() WHERE key = %s AND state = 'queued' RETURNING payload
"""
_RESULT = "UPDATE bookings SET state = 'done', booking_id = %s, done_at = now() WHERE key = %s"
_DONE = "SELECT count(*) FROM bookings WHERE state = 'done'"
_READ = "SELECT booking_id FROM bookings WHERE key = %s"
_TASK = "baseline.create_booking"


@dataclass(frozen=True)
class Config:
    """Where everything is, and how many threads a worker has."""

    database: str
    broker: str
    pms: str
    threads: int


class Table:
    """The bookings table; one connection a thread, each statement its own commit."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._local = threading.local()

    def run(self, statement: str, values: tuple[Any, ...] = ()) -> psycopg.Cursor[Any]:
        """Execute one statement."""
        if not hasattr(self._local, "connection"):
            self._local.connection = psycopg.connect(self._url, autocommit=True)
        connection: psycopg.Connection[Any] = self._local.connection
        return connection.execute(statement, values)

    def create(self) -> None:
        """Make the table."""
        self.run(_SCHEMA)

    def done(self) -> int:
        """How many results are readable."""
        return int(self.run(_DONE).fetchone()[0])  # type: ignore[index]

    def result(self, key: str) -> str | None:
        """The booking's id, once it is there."""
        row = self.run(_READ, (key,)).fetchone()
        return row[0] if row else None


class Pms:
    """The hotel system: one kept-alive connection a thread, no retry."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url).netloc
        self._local = threading.local()

    def book(self, key: str, payload: dict[str, Any]) -> str:
        """Make the booking; the provider's id."""
        if not hasattr(self._local, "connection"):
            self._local.connection = http.client.HTTPConnection(self._address, timeout=10)
        connection: http.client.HTTPConnection = self._local.connection
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        try:
            connection.request("POST", "/v1/bookings", json.dumps(payload | {"reference": key}), headers)
            answer = connection.getresponse()
            body = answer.read()
        except OSError:
            connection.close()
            raise
        if answer.status != 201:
            raise RuntimeError(f"the hotel system answered {answer.status}")
        return str(json.loads(body)["booking_id"])


def make_app(broker: str, submitters: int) -> Celery:
    """The Celery app."""
    app = Celery("baseline", broker=broker, set_as_current=False)
    app.conf.update(
        task_acks_late=True,
        task_ignore_result=True,
        task_default_queue="baseline",
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_enable_remote_control=False,
        broker_pool_limit=submitters,
        broker_connection_retry_on_startup=True,
    )
    return app


def add_task(app: Celery, table: Table, pms: Pms) -> None:
    """Register the one task."""

    def create_booking(key: str) -> None:
        row = table.run(_CLAIM, (key,)).fetchone()
        if row is None:
            return  # another delivery of the same message has it
        table.run(_RESULT, (pms.book(key, row[0]), key))

    app.task(name=_TASK)(create_booking)


def submit(app: Celery, table: Table, key: str, payload: dict[str, Any]) -> None:
    """Hand in one booking: durable when this returns; the same key twice is one booking."""
    if table.run(_INSERT, (key, json.dumps(payload))).rowcount:
        app.send_task(_TASK, (key,))


def write_config(path: Path, config: Config) -> None:
    """Where a worker reads it from."""
    path.write_text(json.dumps(asdict(config)))


def main() -> None:
    """Run a worker until SIGTERM."""
    config = Config(**json.loads(Path(sys.argv[1]).read_text()))
    app = make_app(config.broker, 1)
    add_task(app, Table(config.database), Pms(config.pms))
    options = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=WARNING"]
    app.worker_main(["--quiet", "worker", "--pool=threads", f"--concurrency={config.threads}", *options])


if __name__ == "__main__":
    main()
