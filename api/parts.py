"""What the routes work with, made once per application from its `Deps`."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from api.callers import Callers
from api.database import Database
from api.deps import CONNECTIONS, Deps
from api.reading import Reading
from api.snapshots import Snapshot, done_snapshots, snapshots
from api.waiting import Waiting
from api.wakeups import WakeUps


class Parts:
    """The long-lived parts of one API process."""

    def __init__(self, deps: Deps) -> None:
        self.deps = deps
        self.database = Database(deps.engine, CONNECTIONS)
        self.callers = Callers(self.database)
        self.reading = Reading(deps.reads)
        self.waiting = Waiting(self._read, self._read_done)
        self.wakeups = WakeUps(deps.redis_url, self.waiting.woken) if deps.redis_url else None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hear wake-ups and look for those who wait, until left."""
        tasks = [asyncio.create_task(self.waiting.sweep())]
        if self.wakeups:
            tasks.append(asyncio.create_task(self.wakeups.run()))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, ids: Sequence[str]) -> Mapping[str, Snapshot]:
        return await self.database.call(snapshots, ids)

    async def _read_done(self, ids: Sequence[str]) -> Mapping[str, Snapshot]:
        return await self.database.call(done_snapshots, ids)
