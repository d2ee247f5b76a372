"""A desk that asks for rooms and runs them in this process: no broker, everything else real."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from redis import Redis
from sqlalchemy import Row

from booking.arguments import Stay
from booking.errors import ErrorCode
from booking.settings import Mode, Provider
from dedupe.engine import Engine
from dedupe.items import Item
from providers.limiter import Limiter
from providers.reference import ReferencePms, capabilities_of
from tasks.runtime import Runtime
from tasks.wake import Waker
from tasks.write import run_item
from tests.dedupe.rows import attempts, change, letters, one_item, pass_time, row, seen
from tests.pms import Pms

#: For calls that shall time out, seconds.
SHORT = 0.4
#: Longer than the quiet time of every desk here.
QUIET = 60.0


@dataclass(frozen=True)
class Desk:
    """The write path at one hotel system."""

    engine: Engine
    pms: Pms
    runtime: Runtime
    redis: Redis

    @classmethod
    def at(cls, engine: Engine, pms: Pms, redis: Redis, mode: str, **changes: Any) -> "Desk":
        """`changes` are capabilities, and `url`."""
        url = str(changes.pop("url", pms.url))
        # Generous, so that a busy machine makes no timeouts that no test asked for.
        patient: dict[str, Any] = {"read_deadline": 10.0, "send_window": 10.0, "settle_time": timedelta(seconds=20)}
        declared = replace(capabilities_of(Provider(mode=Mode(mode), url=url)), **(patient | changes))
        runtime = Runtime(engine, {"pms": ReferencePms(url, declared, {})}, Limiter(redis, {}), Waker(redis))
        return cls(engine, pms, runtime, redis)

    def ask(self, *rooms: Stay, **how: Any) -> int:
        """Ask for one room; gives its item's id."""
        return one_item(self.engine, *rooms, **how).id

    def run(self, item_id: int) -> Item:
        """Run it, which must be possible, and look at it."""
        assert run_item(self.runtime, item_id)
        return self.item(item_id)

    def later(self, item_id: int, seconds: float = QUIET, *, expire: bool = False) -> Item:
        """Run it after so long a time."""
        pass_time(self.engine, item_id, seconds, expire=expire)
        self.redis.flushdb()  # for the limiter, too, that time has passed
        change(self.engine, item_id, "due_at = least(due_at, clock_timestamp())")
        return self.run(item_id)

    def rests(self, item_id: int) -> bool:
        """Nothing is to be done for it any more, however long one waits."""
        pass_time(self.engine, item_id, 1e6)
        return not run_item(self.runtime, item_id)

    def item(self, item_id: int) -> Item:
        return seen(self.engine, item_id)

    def row(self, item_id: int) -> Row[Any]:
        return row(self.engine, item_id)

    def attempts(self, item_id: int) -> list[tuple[str, str | None]]:
        return attempts(self.engine, item_id)

    def letters(self, item_id: int) -> list[str]:
        return letters(self.engine, item_id)

    def writes(self) -> list[dict[str, Any]]:
        """The creates that the hotel system received."""
        return self.pms.ledger(operation="create_booking")

    def looks(self) -> list[dict[str, Any]]:
        """The look-ups that the hotel system received."""
        return self.pms.ledger(operation="find")

    def code(self, item_id: int) -> ErrorCode | None:
        """The code that the agent is told."""
        error = self.item(item_id).error
        return error.code if error else None


def seconds_until(moment: datetime | None, item: Item) -> float:
    """From the item's time on."""
    assert moment is not None
    return (moment - item.now).total_seconds()
