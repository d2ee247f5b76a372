"""Reads run in threads of their own: one may hang for its whole time, and must keep no thread from the database."""

import asyncio
import time

import anyio
import anyio.to_thread

from tasks.decisions import READ_LEAST, Give
from tasks.read import Asked, Ran, Reads

#: Reads at a time in one process. At 1.5 s a read, 40 a second.
THREADS = 64


class Reading:
    """Runs reads, at most so many at once. One per process."""

    def __init__(self, reads: Reads, threads: int = THREADS) -> None:
        self._reads = reads
        self._free = asyncio.Semaphore(threads)
        self._threads = anyio.CapacityLimiter(threads)

    async def run(self, asked: Asked, until: float) -> Ran:
        """How the read ended, by `until` (monotonic clock). The wait for a thread counts, too."""
        try:
            async with asyncio.timeout(until - time.monotonic() - READ_LEAST):
                await self._free.acquire()
        except TimeoutError:
            return Ran(Give("read_unavailable"), 0)
        try:
            return await anyio.to_thread.run_sync(self._reads.run, asked, until, limiter=self._threads)
        finally:
            self._free.release()
