"""Who waits for which intent: no wake-up is missed, reads are shared, and nobody is kept for ever."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

import pytest

from api.snapshots import Snapshot
from api.waiting import Waiting
from dedupe.engine import DatabaseAway

PENDING = Snapshot("demo", False, b"pending")
DONE = Snapshot("demo", True, b"done")


class Store:
    """Intents in memory, with a log of reads and something to do before a read answers."""

    def __init__(self, intents: dict[str, Snapshot]) -> None:
        self.intents = intents
        self.looks: list[list[str]] = []
        self.checks: list[list[str]] = []
        self.before_look: Callable[[], Awaitable[None]] | None = None
        self.away = False

    async def look(self, ids: Sequence[str]) -> Mapping[str, Snapshot]:
        self.looks.append(sorted(ids))
        found = {name: self.intents[name] for name in ids if name in self.intents}
        if self.before_look:
            await self.before_look()
        await asyncio.sleep(0)
        if self.away:
            raise DatabaseAway("away")
        return found

    async def check(self, ids: Sequence[str]) -> Mapping[str, Snapshot]:
        self.checks.append(sorted(ids))
        await asyncio.sleep(0)
        if self.away:
            raise DatabaseAway("away")
        return {name: self.intents[name] for name in ids if self.intents[name].done}


async def stays() -> None:
    await asyncio.Event().wait()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not true():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0)


def run(main: Callable[[], Coroutine[None, None, None]]) -> None:
    asyncio.run(main())


def test_a_wake_up_between_the_look_and_its_answer_is_not_missed() -> None:
    async def main() -> None:
        store = Store({"a": PENDING})
        waiting = Waiting(store.look, store.check)

        async def settle() -> None:
            store.before_look = None
            store.intents["a"] = DONE
            waiting.woken(["a"])

        store.before_look = settle
        assert await asyncio.wait_for(waiting.poll("a", "demo", 30, stays), 1) == DONE
        assert waiting.count == 0

    run(main)


def test_all_who_look_or_are_woken_together_share_one_read() -> None:
    async def main() -> None:
        store = Store({f"i{n}": PENDING for n in range(200)})
        waiting = Waiting(store.look, store.check)
        polls = [asyncio.create_task(waiting.poll(name, "demo", 30, stays)) for name in store.intents]
        await until(lambda: sum(map(len, store.looks)) == 200)
        assert len(store.looks) <= 2
        names = list(store.intents)
        for name in names:
            store.intents[name] = DONE
            waiting.woken([name, "somebody else's"])
        assert set(await asyncio.gather(*polls)) == {DONE}
        assert sum(map(len, store.checks)) == 200
        assert len(store.checks) <= 2

    run(main)


def test_another_tenant_learns_nothing_and_does_not_wait() -> None:
    async def main() -> None:
        for intents in ({"a": PENDING}, {"a": DONE}, {}):
            store = Store(dict(intents))
            for seconds in (0, 30):
                poll = Waiting(store.look, store.check).poll("a", "other", seconds, stays)
                assert await asyncio.wait_for(poll, 1) is None

    run(main)


def test_beyond_the_bound_nobody_waits() -> None:
    async def main() -> None:
        store = Store({"a": PENDING})
        waiting = Waiting(store.look, store.check, most=2)
        polls = [asyncio.create_task(waiting.poll("a", "demo", 30, stays)) for _ in range(2)]
        await until(lambda: waiting.count == 2)
        assert await asyncio.wait_for(waiting.poll("a", "demo", 30, stays), 1) == PENDING
        waiting.release()
        assert await asyncio.gather(*polls) == [PENDING, PENDING]
        assert await asyncio.wait_for(waiting.poll("a", "demo", 30, stays), 1) == PENDING
        assert waiting.count == 0

    run(main)


def test_who_leaves_or_is_cancelled_is_forgotten() -> None:
    async def main() -> None:
        store = Store({"a": PENDING})
        waiting = Waiting(store.look, store.check)
        left = asyncio.Event()

        async def leaves() -> None:
            await left.wait()

        leaver = asyncio.create_task(waiting.poll("a", "demo", 30, leaves))
        cancelled = asyncio.create_task(waiting.poll("a", "demo", 30, stays))
        await until(lambda: waiting.count == 2)
        left.set()
        cancelled.cancel()
        await asyncio.wait_for(leaver, 1)
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        assert waiting.count == 0
        waiting.woken(["a"])
        assert store.checks == []

    run(main)


def test_the_sweep_finds_what_no_wake_up_told_also_after_an_outage() -> None:
    async def main() -> None:
        store = Store({"a": PENDING})
        waiting = Waiting(store.look, store.check, sweep=0.01)
        sweep = asyncio.create_task(waiting.sweep())
        poll = asyncio.create_task(waiting.poll("a", "demo", 30, stays))
        await until(lambda: bool(store.checks))
        store.away = True
        tried = len(store.checks)
        await until(lambda: len(store.checks) > tried + 1)
        store.away = False
        store.intents["a"] = DONE
        assert await asyncio.wait_for(poll, 1) == DONE
        sweep.cancel()

    run(main)


def test_a_look_during_an_outage_tells_everyone_and_the_next_one_works() -> None:
    async def main() -> None:
        store = Store({"a": DONE})
        store.away = True
        waiting = Waiting(store.look, store.check)
        polls = [waiting.poll("a", "demo", 30, stays) for _ in range(3)]
        answers = await asyncio.gather(*polls, return_exceptions=True)
        assert [type(answer) for answer in answers] == [DatabaseAway] * 3
        store.away = False
        assert await waiting.poll("a", "demo", 30, stays) == DONE

    run(main)


def test_the_end_of_the_wait_shows_the_present_state() -> None:
    async def main() -> None:
        store = Store({"a": PENDING})
        waiting = Waiting(store.look, store.check)
        begun = time.monotonic()
        poll = asyncio.create_task(waiting.poll("a", "demo", 0.1, stays))
        await until(lambda: waiting.count == 1 and bool(store.looks))
        slow = store.intents["a"] = Snapshot("demo", False, b"slow today")
        assert await poll == slow
        assert 0.1 <= time.monotonic() - begun < 2

    run(main)
