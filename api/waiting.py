"""Long polls: who waits for which intent, and one SELECT for all who look or are woken at the same time."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from api.snapshots import Snapshot
from dedupe.engine import DatabaseAway

log = logging.getLogger("roomkey.api")

Read = Callable[[Sequence[str]], Awaitable[Mapping[str, Snapshot]]]

#: Beyond these nobody waits: everyone is answered at once, and told by `poll_after_ms` when to come again.
MOST_WAITERS = 5000
#: How often those who wait are looked for without having been woken: wake-ups may get lost, Redis may be away.
SWEEP_SECONDS = 1.0


class Lookups:
    """Reads intents: whoever asks while a SELECT runs shares the next one."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._asked: dict[str, list[asyncio.Future[Snapshot | None]]] = {}
        self._running: asyncio.Task[None] | None = None

    async def get(self, intent_id: str) -> Snapshot | None:
        """The intent by a read that begins after this call; None where there is none. Raises DatabaseAway."""
        future: asyncio.Future[Snapshot | None] = asyncio.get_running_loop().create_future()
        self._asked.setdefault(intent_id, []).append(future)
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        try:
            while self._asked:
                asked, self._asked = self._asked, {}
                await self._answer(asked)
        finally:
            self._running = None

    async def _answer(self, asked: dict[str, list[asyncio.Future[Snapshot | None]]]) -> None:
        waiting = [(intent_id, future) for intent_id, futures in asked.items() for future in futures]
        try:
            found = await self._read(list(asked))
        except Exception as error:  # noqa: BLE001 - whatever it is, those who asked are told
            for _, future in waiting:
                if not future.done():
                    future.set_exception(error)
        else:
            for intent_id, future in waiting:
                if not future.done():
                    future.set_result(found.get(intent_id))


class Waiting:
    """Holds long polls until their intent is done. `read` reads intents, `read_done` those of them that are done."""

    def __init__(self, read: Read, read_done: Read, most: int = MOST_WAITERS, sweep: float = SWEEP_SECONDS) -> None:
        self._lookups = Lookups(read)
        self._read_done = read_done
        self._most = most
        self._sweep = sweep
        self._waiters: dict[str, set[asyncio.Future[Snapshot | None]]] = {}
        self._count = 0
        self._woken: set[str] = set()
        self._answering: asyncio.Task[None] | None = None
        self._released = False

    @property
    def count(self) -> int:
        """How many wait now."""
        return self._count

    async def poll(
        self, intent_id: str, tenant_id: str, seconds: float, gone: Callable[[], Awaitable[None]]
    ) -> Snapshot | None:
        """The tenant's intent once it is done, or as it is after `seconds`; None where the tenant has none such.

        `gone` returns when the caller has left; the wait ends then. Raises DatabaseAway.
        """
        until = time.monotonic() + seconds
        if seconds <= 0 or self._released or self._count >= self._most:
            return _of(tenant_id, await self._lookups.get(intent_id))
        with self._waiter(intent_id) as done:  # before the first look, so that no wake-up is missed
            first = _of(tenant_id, await self._lookups.get(intent_id))
            if first is None or first.done:
                return first
            left = await _first(done, gone, until - time.monotonic())
            if left:
                return first
            if done.done() and (settled := done.result()):
                return settled
        return await self._lookups.get(intent_id)

    def woken(self, intent_ids: Iterable[str]) -> None:
        """Look whether these intents are done, if anyone waits for them."""
        self._woken.update(self._waiters.keys() & set(intent_ids))
        if self._woken and self._answering is None:
            self._answering = asyncio.create_task(self._answer())

    def release(self) -> None:
        """Answer everyone at once, and let nobody wait any more: the process ends."""
        self._released = True
        for futures in self._waiters.values():
            for future in futures:
                if not future.done():
                    future.set_result(None)

    async def sweep(self) -> None:
        """Look for all who wait, once in a while, for ever."""
        while True:
            await asyncio.sleep(self._sweep)
            self.woken(self._waiters)

    @contextmanager
    def _waiter(self, intent_id: str) -> Iterator[asyncio.Future[Snapshot | None]]:
        future: asyncio.Future[Snapshot | None] = asyncio.get_running_loop().create_future()
        self._waiters.setdefault(intent_id, set()).add(future)
        self._count += 1
        try:
            yield future
        finally:
            self._count -= 1
            futures = self._waiters[intent_id]
            futures.discard(future)
            if not futures:
                del self._waiters[intent_id]

    async def _answer(self) -> None:
        try:
            while self._woken:
                woken, self._woken = self._woken, set()
                for intent_id, snapshot in (await self._read_done(list(woken))).items():
                    for future in self._waiters.get(intent_id, ()):
                        if not future.done():
                            future.set_result(snapshot)
        except DatabaseAway:
            self._woken.clear()  # the sweep looks again
        finally:
            self._answering = None


def _of(tenant_id: str, snapshot: Snapshot | None) -> Snapshot | None:
    return snapshot if snapshot and snapshot.tenant_id == tenant_id else None


async def _first(done: asyncio.Future[Snapshot | None], gone: Callable[[], Awaitable[None]], seconds: float) -> bool:
    """Wait for `done`, the caller's leaving, or the end of `seconds`; True where the caller left."""
    leaving = asyncio.ensure_future(gone())
    either: set[asyncio.Future[Any]] = {done, leaving}
    try:
        await asyncio.wait(either, timeout=max(seconds, 0), return_when=asyncio.FIRST_COMPLETED)
        return leaving.done() and not done.done()
    finally:
        leaving.cancel()
