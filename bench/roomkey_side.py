"""Roomkey as it is run: one API process, worker processes, one caretaker; asked over HTTP."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import uvloop
from pydantic import SecretStr

from bench.http import Link
from bench.parts import Parts, module, said, wait_until
from bench.sides import SLOTS, SUBMITTERS, warm
from bench.work import PROPERTY, Ask
from booking.settings import Property, Settings, TenantSettings
from cli.config import dump_settings
from cli.embedded.process import Child
from dedupe import tenants
from dedupe.engine import make_engine
from dedupe.migrate import migrate

_DONE = "SELECT count(*) FROM items WHERE state = 'succeeded'"
_WAIT = 25  # seconds of a long poll


class Roomkey:
    """Roomkey over HTTP, the submission included."""

    name = "roomkey"

    def __init__(self, url: str, bearer: str, database: str, pids: dict[str, list[int]]) -> None:
        self.pids = pids
        self._url = url
        self._headers = f"Authorization: Bearer {bearer}\r\n"
        self._database = psycopg.connect(database, autocommit=True)
        self._ids: dict[str, str] = {}

    def submit(self, work: Sequence[Ask]) -> list[float]:
        """POST /v1/intents over so many kept-alive connections."""
        return self._spread(self._hand_in, work)

    def done(self) -> int:
        """By the table: asking for each over HTTP would be load of its own."""
        row = self._database.execute(_DONE).fetchone()
        return int(row[0]) if row else 0

    def readable(self, work: Sequence[Ask]) -> int:
        """GET each intent."""
        found: list[bool] = []

        async def read(link: Link, ask: Ask) -> None:
            answer = await link.ask("GET", f"/v1/intents/{self._ids[ask.conversation]}")
            found.append(json.loads(answer.body).get("outcome") == "succeeded")

        self._spread(read, work)
        return sum(found)

    def round_trips(self, work: Sequence[Ask]) -> list[float]:
        """POST, then one long poll."""

        async def there_and_back(link: Link, ask: Ask) -> None:
            await self._hand_in(link, ask)
            answer = await link.ask("GET", f"/v1/intents/{self._ids[ask.conversation]}?wait={_WAIT}")
            if json.loads(answer.body).get("outcome") != "succeeded":
                raise RuntimeError(f"not booked: {answer.status} {answer.body!r}")

        return self._spread(there_and_back, work, links=1)

    async def _hand_in(self, link: Link, ask: Ask) -> None:
        body = {"tool": "create_booking", "arguments": ask.arguments, "conversation_id": ask.conversation}
        answer = await link.ask("POST", "/v1/intents", json.dumps(body).encode())
        if answer.status != 202:
            raise RuntimeError(f"not accepted: {answer.status} {answer.body!r}")
        self._ids[ask.conversation] = json.loads(answer.body)["id"]

    def _spread(
        self, act: Callable[[Link, Ask], Awaitable[None]], work: Sequence[Ask], links: int = SUBMITTERS
    ) -> list[float]:
        """`act` on each of `work`, over `links` connections at once; the seconds each took."""
        left, took = iter(work), list[float]()

        async def one() -> None:
            async with Link(self._url, self._headers) as link:
                for ask in left:
                    began = time.perf_counter()
                    await act(link, ask)
                    took.append(time.perf_counter() - began)

        async def everyone() -> None:
            await asyncio.gather(*(one() for _ in range(links)))

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(everyone())
        return took


def create_tenant(parts: Parts) -> str:
    """Make the schema and a tenant, once a run; its bearer key."""
    engine = make_engine(parts.postgres, 2)
    migrate(engine)
    tenants.create_tenant(engine, "bench", TenantSettings())
    made = tenants.create_key(engine, "bench", tenants.Scope.AGENT)
    engine.dispose()
    if made is None:
        raise RuntimeError("no bearer key was made")
    return made[1]


@contextmanager
def running_roomkey(parts: Parts, workers: int, bearer: str) -> Iterator[Roomkey]:
    """Roomkey's processes, with its slots spread over so many workers."""
    config = _write_settings(parts)
    with ExitStack() as stack:

        def run(name: str, *arguments: str) -> Child:
            command = [*arguments, "--config", str(config), "--data", str(parts.folder / "data")]
            return stack.enter_context(module(parts.folder, name, "cli.main", command))

        api, caretaker = run("api", "api"), run("caretaker", "caretaker")
        working = [run(f"worker-{n}", "worker", "--threads", str(SLOTS // workers)) for n in range(workers)]
        url = wait_until(lambda: said(api, "listening on "), api)
        pids = {"api": [api.pid], "worker": [child.pid for child in working], "caretaker": [caretaker.pid]}
        side = Roomkey(url, bearer, parts.postgres, pids)
        warm(side, [api, caretaker, *working])
        yield side


def _write_settings(parts: Parts) -> Path:
    settings = Settings(
        database_url=SecretStr(parts.postgres),
        broker_url=SecretStr(parts.broker(0)),
        pms_url=parts.stub.url,
        api_port=0,
        properties={PROPERTY: Property(name="Bench", time_zone="Europe/Berlin", currency="EUR")},
    )
    path = parts.folder / "settings.json"
    path.touch(0o600)
    path.write_text(dump_settings(settings))
    return path
