"""Calls to dedupe from the event loop: in threads, as many as connections, and never for long."""

import logging
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import anyio
import anyio.to_thread

from dedupe.engine import DatabaseAway, Engine, or_away

log = logging.getLogger("roomkey.api")

#: A caller is told within 3 s, also by a Postgres that hangs; its own timeouts don't fire then.
SECONDS = 2.5

P = ParamSpec("P")
T = TypeVar("T")


class Database:
    """Runs functions of dedupe, which block, in threads. One per process, made within the event loop's life."""

    def __init__(self, engine: Engine, connections: int) -> None:
        self._engine = engine
        self._limiter = anyio.CapacityLimiter(connections)
        self._away = False

    async def call(self, function: Callable[Concatenate[Engine, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`function(engine, *args)`, in a thread. Raises DatabaseAway, within SECONDS.

        A thread that is waited for no longer runs on to its end, so what it does may still be committed.
        """
        return await self.call_within(SECONDS, function, *args, **kwargs)

    async def call_within(
        self, seconds: float, function: Callable[Concatenate[Engine, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """The same for an answer that is due earlier."""

        def run() -> T:
            with or_away():
                return function(self._engine, *args, **kwargs)

        try:
            with anyio.fail_after(seconds):
                result = await anyio.to_thread.run_sync(run, abandon_on_cancel=True, limiter=self._limiter)
        except TimeoutError:
            self._note(f"no answer within {seconds:.1f} s")
            raise DatabaseAway(f"no answer within {seconds:.1f} s") from None
        except DatabaseAway as away:
            self._note(str(away))
            raise
        self._note(None)
        return result

    def _note(self, trouble: str | None) -> None:
        """Log the begin and the end of an outage, not each request of it."""
        if trouble and not self._away:
            log.warning("Postgres is away: %s", trouble)
        elif self._away and not trouble:
            log.info("Postgres is back")
        self._away = trouble is not None
