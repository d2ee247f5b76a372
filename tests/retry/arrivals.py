"""Batches of reminders as an expansion leaves them: all of it real but the hotel's list of arrivals."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

from booking.arguments import SendCheckinReminders
from booking.outcomes import Reservation
from booking.states import Kind, State
from dedupe.admit import admit
from dedupe.begin import begin
from dedupe.engine import Engine
from dedupe.expand import expand
from dedupe.items import Begun, Closing, Item, Move, Proof
from dedupe.submission import Admitted
from dedupe.tenants import Caller
from tasks.intake import submission_of
from tasks.operations import TOOLS
from tasks.operations.arrivals import mails
from tasks.operations.port import Asking
from tests.dedupe.rows import HOTELS, seen

DAY = dt.date(2027, 3, 1)


def ask_reminders(engine: Engine, caller: Caller, conversation: str = "c-77") -> tuple[Admitted, Item]:
    """Ask for everyone of the day to be mailed; the intent, and the item of its expansion."""
    who = Asking(caller, conversation, HOTELS)
    arguments = SendCheckinReminders(property="BER", date=DAY)
    asked = admit(engine, submission_of(who, TOOLS["send_checkin_reminders"], arguments, None, 600))
    [(item_id, _)] = asked.publish
    return asked, seen(engine, item_id)


def start_expansion(engine: Engine, item: Item) -> Begun:
    begun = begin(engine, item, Kind.CHECK, held=None, lease=125, send_window=120)
    assert begun is not None
    return begun


def arrive(number: int) -> list[Reservation]:
    """So many guests arrive on the day."""
    stay: dict[str, Any] = {
        "property": "BER",
        "room_type": "double",
        "check_in": DAY.isoformat(),
        "check_out": "2027-03-05",
    }
    return [
        Reservation(
            f"B-{n}", f"rk{n}", "confirmed", guest_name=f"Guest {n}", guest_email=f"g{n}@guests.example", **stay
        )
        for n in range(number)
    ]


def expanded(engine: Engine, item: Item, begun: Begun, arrivals: Sequence[Reservation]) -> bool:
    """The expansion has found these; False where it may not add them any more."""
    move = Move(State.SUCCEEDED, proof=Proof("", {"arrivals": len(arrivals)}))
    settled = expand(engine, item, begun, Closing("found"), move, lambda secret: mails(secret, item, arrivals))
    return settled.moved
