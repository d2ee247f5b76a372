"""Wishes from several conversations, two workers, answers that get lost and commits that come late: the order of the
wishes is the order at the hotel."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from booking.states import State
from dedupe.peek import any_due
from dedupe.submission import Blocked
from tasks.write import run_item
from tests.changes.house import A, B, C, Dates, House, Wish
from tests.dedupe.rows import at_once, pass_time, rows
from tests.retry.again import unguarded
from tests.waiting import eventually

Houses = Callable[..., House]

#: Seconds. The hotel system gives up a call at `DEADLINE`, commits `LATE` at the latest, and declares more than that.
DEADLINE, LATE, SETTLES = 0.15, 0.6, 1.5
QUICK = {
    "write_deadline": DEADLINE,
    "send_window": 0.5,
    "idle_timeout": timedelta(seconds=0.2),
    "settle_time": timedelta(seconds=SETTLES),
}
CHAIRS = 2
WISHES_EACH = 5
#: The wishes that were taken, by item: None is a cancellation.
Book = dict[int, Dates | None]


def make_trouble(house: House, rng: random.Random) -> None:
    house.desk.pms.fault("hold_before_commit", match={"operation": "change"}, times=1, hold_ms=LATE * 1000)
    for kind, how in (
        ("hold_before_commit", {"hold_ms": LATE * 1000}),
        ("commit_then_timeout", {"hold_ms": LATE * 1000}),
        ("reset_after_commit", {}),
        ("reset_before_commit", {}),
    ):
        for operation in ("change", "cancel"):
            house.desk.pms.fault(kind, match={"operation": operation}, share=0.3, seed=rng.randrange(1000), **how)


def work(house: House, over: threading.Event) -> None:
    """A worker: it runs what is due until all is over."""
    while not over.is_set():
        item = any_due(house.desk.engine, "bookings.pms")
        house.desk.redis.flushdb()  # a breaker's waits would only make this longer
        if item is None or not run_item(house.desk.runtime, item):
            over.wait(0.01)


@contextmanager
def workers(house: House, number: int = 2) -> Iterator[None]:
    over = threading.Event()
    threads = [threading.Thread(target=work, args=(house, over)) for _ in range(number)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(20)


def wish_in_turn(house: House, number: str, chair: int, rng: random.Random, book: Book) -> None:
    """Wishes one after the other, there and back, each asked for until it is taken."""
    conversation, dates_of_chair = f"c-{chair}", [(A, B), (B, C)][chair]
    for left in reversed(range(WISHES_EACH)):
        dates = rng.choice(dates_of_chair if left else [*dates_of_chair, None])

        def ask(dates: Dates | None = dates) -> Wish | None:
            try:
                if dates is None:
                    return house.cancel(number, conversation=conversation)
                return house.change(number, dates, conversation=conversation)
            except Blocked:
                return None

        wish = eventually(ask, within=30)
        assert wish is not None
        book[wish.item] = dates


def settled(house: House) -> bool:
    """No wish is open, and the hotel system has nothing in hand any more."""
    return not rows(house.desk.engine, "SELECT FROM items WHERE state IN ('queued', 'running', 'unknown')")


def expected(house: House, book: Book) -> tuple[str, Dates]:
    """What the hotel must hold after the wishes that were told as fulfilled, in the order in which they were taken."""
    status, dates = "confirmed", A
    for item in sorted(book):
        state, wished = house.desk.item(item).state, book[item]
        if state not in (State.SUCCEEDED, State.SUPERSEDED):
            continue
        if wished is None:
            status = "cancelled"
        else:
            dates = wished
    return status, dates


@pytest.mark.parametrize(("mode", "seed"), [("keyed", 1), ("lookup-only", 0)])
def test_the_last_wish_that_was_taken_and_told_as_done_is_what_the_hotel_holds(
    house: Houses, mode: str, seed: int
) -> None:
    at = house(mode, **QUICK)
    unguarded(at.desk.engine)
    number = at.seed()
    make_trouble(at, random.Random(seed))
    book: Book = {}
    with workers(at):
        at_once(CHAIRS, lambda chair: wish_in_turn(at, number, chair, random.Random(f"{seed} {chair}"), book))
        eventually(lambda: settled(at), within=30)
    eventually(lambda: not at.desk.pms.held())
    assert any(rule["hits"] for rule in at.desk.pms.faults()), "no trouble, no test"
    [booking] = at.desk.pms.bookings(booking_id=number)
    assert (booking["status"], (booking["check_in"], booking["check_out"])) == expected(at, book)
    _the_last_one_is_told_truly(at, number, book)
    _each_key_had_one_effect_at_most(at)
    _audits_change_nothing(at, number, book)


def _the_last_one_is_told_truly(house: House, number: str, book: Book) -> None:
    last = max(book)
    wished, state = book[last], house.desk.item(last).state
    if state is State.SUCCEEDED:
        assert (house.status(number) == "cancelled") if wished is None else (house.dates(number) == wished)
    else:
        assert state is State.FAILED
        assert house.desk.item(last).error is not None


def _each_key_had_one_effect_at_most(house: House) -> None:
    effects = [call["key"] for call in house.desk.pms.effects() if call["key"]]
    assert len(effects) == len(set(effects))


def _audits_change_nothing(house: House, number: str, book: Book) -> None:
    house.desk.pms.clear_faults()
    before = expected(house, book)
    for item in sorted(book):
        pass_time(house.desk.engine, item, 3600)
        run_item(house.desk.runtime, item)
    assert expected(house, book) == before
    assert (house.status(number), house.dates(number)) == before
    assert rows(house.desk.engine, "SELECT reason FROM dead_letters WHERE closed_at IS NULL") == []
