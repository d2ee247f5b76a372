"""The kinds of effects on outside systems, and the words that tell of them."""

from enum import StrEnum


class Effect(StrEnum):
    """What an item does. ARRIVALS changes nothing outside: it finds out whom a batch is for, and adds their items."""

    BOOKING = "booking"
    CHANGE = "change"
    CANCEL = "cancel"
    REFUND = "refund"
    REMINDER = "reminder"
    ARRIVALS = "arrivals"


#: effect -> how it is said that it was done, and to what.
_WORDS = {
    Effect.BOOKING: ("booked", "hotel system"),
    Effect.CHANGE: ("changed", "hotel system"),
    Effect.CANCEL: ("cancelled", "hotel system"),
    Effect.REFUND: ("refunded", "payment system"),
    Effect.REMINDER: ("mailed", "mail server"),
    Effect.ARRIVALS: ("mailed", "hotel system"),
}


def words(effect: str, *, looking: bool = False) -> dict[str, str]:
    """The values `done` and `system` for the messages of `booking.error_table`.

    `looking`: it is about the look before the write, which for a mail is at the hotel system.
    """
    done, system = _WORDS[Effect(effect)]
    return {"done": done, "system": "hotel system" if looking and effect == Effect.REMINDER else system}
