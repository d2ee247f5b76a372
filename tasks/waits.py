"""How long and how often: the numbers that `tasks.decide` goes by, and what follows from them alone. Pure."""

import random
from datetime import datetime, timedelta

from booking.capabilities import Capabilities
from booking.outcomes import HeldBack
from booking.states import State
from dedupe.items import Item

#: Writes since an item was last armed. One repeat mends nearly all passing trouble; more only load a sick system.
MAX_WRITES = 2
#: Waits between tries that reached nobody, seconds: full jitter up to BACKOFF * 2^n, at most BACKOFF_MOST.
BACKOFF, BACKOFF_MOST = 1.0, 60.0
#: Waits between look-ups that told nothing, seconds: LOOK_AGAIN more each time, at most LOOK_AGAIN_MOST.
LOOK_AGAIN, LOOK_AGAIN_MOST = 5.0, 60.0
#: Those who wait for a sick provider come back within this much of each other, seconds: fewer at once than a breaker
#: lets through after its probe, and all of them within the ten seconds in which throughput must be back.
HELD_BACK_SPREAD = 5.0
#: Our own credentials were refused: an operator's mend takes minutes.
MISCONFIGURED_SECONDS = 30.0
#: An item in doubt this long is shown as unknown, and a person is asked.
SHOW_UNKNOWN_AFTER = timedelta(minutes=1)
#: How often an unknown one is looked up, by how long it has been in doubt; then once a day.
UNKNOWN_SCHEDULE = (
    (timedelta(minutes=10), 300.0),
    (timedelta(hours=1), 900.0),
    (timedelta(hours=6), 3600.0),
)


def key_live(item: Item, caps: Capabilities, now: datetime) -> bool:
    """Whether a write sent now under the item's key can't have a second effect."""
    if not caps.honours_key(item.effect):
        return False
    # The mark, and with it `may_send_until`, comes only after the line is open.
    last_byte = now + timedelta(seconds=caps.connect_deadline + caps.send_window)
    return item.first_sent_at is None or item.first_sent_at + caps.key_life > last_byte


def quiet_at(item: Item, caps: Capabilities, now: datetime) -> datetime:
    """From then on a look-up that finds nothing proves that nothing happened, if the provider declares so."""
    return (item.last_send or now) + caps.idle_timeout + caps.settle_time


def may_write(item: Item, now: datetime) -> bool:
    """Whether another write may be begun at all."""
    return item.writes < MAX_WRITES and item.expires_at > now and not item.stop_writes


def doubt_age(item: Item, now: datetime) -> timedelta:
    """How long it has been in doubt."""
    return now - (item.doubted_at or now)


def shown_state(item: Item, now: datetime) -> State:
    """What is told of one that waits: after a minute in doubt, that it is not known."""
    if item.state is State.UNKNOWN or doubt_age(item, now) >= SHOW_UNKNOWN_AFTER:
        return State.UNKNOWN
    return State.QUEUED


def unknown_wait(item: Item, now: datetime) -> float:
    """Seconds to the next look-up of one that is shown as unknown."""
    age = doubt_age(item, now)
    return next((wait for limit, wait in UNKNOWN_SCHEDULE if age < limit), 86_400.0)


def until(moment: datetime, now: datetime) -> float:
    """Seconds from `now` to `moment`, not below 0."""
    # A hair later than the moment, so that the run really starts after it.
    return max((moment - now).total_seconds(), 0.0) + 0.05


def backoff(item: Item) -> float:
    """Seconds before the next try of one that reached nobody: full jitter."""
    return chance_of(item) * min(BACKOFF * 2.0 ** min(item.failures + 1, 10), BACKOFF_MOST)


def not_sent_wait(item: Item, caps: Capabilities, now: datetime, asked: float | None) -> float:
    """Seconds before the next try of one that reached nobody. `asked`: the provider's wish."""
    wait = max(backoff(item), asked or 0.0)
    if item.doubts:
        return max(wait, until(quiet_at(item, caps, now), now))
    # Never beyond its time: it is then settled at once, not told late.
    return min(wait, until(item.expires_at, now))


def look_again_wait(item: Item, caps: Capabilities, now: datetime, asked: float | None) -> float:
    """Seconds before the next look-up after one that told nothing. `asked`: the provider's wish."""
    wait = max(min(LOOK_AGAIN * (item.failures + 1), LOOK_AGAIN_MOST), asked or 0.0)
    if item.failures and not caps.honours_key(item.effect):
        # Before quiet time only a find would tell anything; twice asked in vain, the next may as well prove absence.
        wait = max(wait, until(quiet_at(item, caps, now), now))
    return wait


def held_back_wait(item: Item, outcome: HeldBack) -> float:
    """Seconds before the next try of one that was held back: not all who wait come back at the same instant."""
    # A limit hands out slots one after the other: they need no more than to be apart from a clock's tick.
    return outcome.wait + chance_of(item) * (HELD_BACK_SPREAD if outcome.sick else 0.3)


def chance_of(item: Item) -> float:
    """A number in [0, 1), drawn from the item, so that the decision stays a function of its arguments."""
    return random.Random(f"{item.id}:{item.rev}").random()  # noqa: S311 - spreads load, hides nothing
