"""What happens in the house: workers die at each step, one freezes, one is told to stop, the broker forgets all."""

import signal
from dataclasses import dataclass
from typing import Any

from dedupe.submission import Admitted
from tests.crash.house import House, Process, guest_of
from tests.dedupe.rows import ask, room, row, rows
from tests.waiting import eventually

#: (name, provider, step at which the worker dies)
DEATHS = [
    ("connected", "pms", "connected"),
    ("begun", "pms", "begun"),
    ("answered", "pms", "answered"),
    ("settled", "pms", "settled"),
    ("begun-careful", "careful", "begun"),
    ("answered-careful", "careful", "answered"),
]
FLUSHED = 100
#: A start of eight processes on two busy cores, then a lease of 7 s and the relay's 5 s.
WITHIN = 90.0


@dataclass
class Drama:
    """The evidence."""

    items: dict[str, int]
    codes: dict[str, int | None]
    after_death: dict[str, tuple[str, list[tuple[str, str | None]], int]]
    asked_again: Admitted
    frozen: int
    frozen_row: Any
    drained: int
    drained_code: int | None
    left: int
    flushed: list[int]
    worker: Process
    caretaker: Process


def play(house: House) -> Drama:
    """All of it, side by side; returns when every item has come to rest."""
    for room_type in ("double", "suite"):
        house.pms.set_rooms("BER", room_type, 1000)
    items = {name: house.ask(f"c-{name}", provider=provider) for name, provider, _ in DEATHS}
    dying = {
        name: house.start("worker", step, number=index + 1, threads=1) for index, (name, _, step) in enumerate(DEATHS)
    }
    frozen_worker = house.start("worker", number=7, threads=1)
    drained_worker = house.start("worker", number=8, threads=1)
    for index, (name, _, _) in enumerate(DEATHS):
        house.publish(items[name], number=index + 1)

    hold = house.pms.fault("commit_then_timeout", match={"room_type": "suite", "operation": "create_booking"}, times=2)
    frozen, drained, left = (house.ask(f"c-{name}", room("suite")) for name in ("frozen", "drained", "left"))
    house.publish(frozen, number=7)
    house.publish(drained, left, number=8)
    house.pms.wait_held(2, within=WITHIN)
    frozen_worker.signal(signal.SIGSTOP)
    drained_worker.signal(signal.SIGTERM)
    house.pms.release(hold)
    eventually(lambda: not drained_worker.alive, within=WITHIN)

    codes = {name: eventually(lambda name=name: dying[name].code, within=WITHIN) for name in dying}  # type: ignore[misc]
    after_death = {
        name: (house.state(item), house.attempts(item), len(house.effects(item))) for name, item in items.items()
    }
    asked_again = ask(house.engine, room().model_copy(update={"guest": guest_of("c-begun")}), conversation="c-begun")

    flushed = [house.ask(f"c-flushed-{n}") for n in range(FLUSHED)]
    house.publish(*flushed)
    assert house.waiting() == FLUSHED
    house.client().flushall()
    worker, caretaker = house.start("worker"), house.start("caretaker")
    everything = [*items.values(), frozen, drained, left, *flushed]
    eventually(lambda: _at_rest(house, everything), within=WITHIN)
    frozen_row = row(house.engine, frozen)
    frozen_worker.signal(signal.SIGCONT)
    return Drama(
        items=items,
        codes=codes,
        after_death=after_death,
        asked_again=asked_again,
        frozen=frozen,
        frozen_row=frozen_row,
        drained=drained,
        drained_code=drained_worker.code,
        left=left,
        flushed=flushed,
        worker=worker,
        caretaker=caretaker,
    )


def _at_rest(house: House, items: list[int]) -> bool:
    pending = rows(
        house.engine,
        "SELECT id, state FROM items WHERE id = ANY(:ids) AND state NOT IN ('succeeded', 'failed')",
        ids=items,
    )
    assert not pending, f"{len(pending)} of {len(items)} items are not at rest: {pending[:5]}"
    return True
