"""What the model is told of a batch of reminders: who was mailed before, who is now, and who still isn't. Pure."""

from collections import Counter
from collections.abc import Sequence

from booking.effects import Effect
from booking.errors import ErrorCode, ToolError, tool_error
from booking.results import IntentRow, ItemRow, RemindersAnswer
from booking.rooms import listed
from booking.states import PENDING, State


def reminders_answer(row: IntentRow) -> RemindersAnswer | None:
    """The counts of a batch, once its arrivals are known."""
    found = next((item for item in row.items if item.effect is Effect.ARRIVALS), None)
    if found is None or found.state is not State.SUCCEEDED or found.result is None:
        return None
    mails = [item for item in row.items if item.effect is Effect.REMINDER]
    counts = Counter(_standing(item) for item in mails)
    before = min(int(found.result.get("already_sent", 0)), counts["sent"])
    values = {name: counts[name] for name in ("to_send", "being_confirmed", "to_be_corrected", "not_sent", "left_out")}
    values |= {"already_sent": before, "sent": counts["sent"] - before}
    return RemindersAnswer(arrivals=len(mails), **values, said=_said(len(mails), values))


def reminders_error(row: IntentRow) -> ToolError | None:
    """What to do about those that are not sent; None where nothing is left to do."""
    mails = [item for item in row.items if item.effect is Effect.REMINDER]
    answer = reminders_answer(row)
    wrong = _named(mails, "to_be_corrected")
    again = wrong or _named(mails, "not_sent")
    if answer is None or not (again or answer.being_confirmed):
        return None
    first = mails[0].request
    fixes = [
        f"Have the mail addresses of {wrong} corrected at the hotel." if wrong else "",
        f"Then call send_checkin_reminders for {first['property']} and {first['date']} again; nobody is mailed twice."
        if again
        else "",
        "Do nothing about the one that is being confirmed." if answer.being_confirmed == 1 else "",
        f"Do nothing about the {answer.being_confirmed} that are being confirmed."
        if answer.being_confirmed > 1
        else "",
    ]
    error = tool_error("reminders", said=answer.said, fix=" ".join(filter(None, fixes)))
    return error.model_copy(update={"retryable": bool(again)})


def _standing(item: ItemRow) -> str:
    if item.state in PENDING:
        return "to_send"
    if item.state is State.SUCCEEDED:
        return "sent"
    if item.state is State.UNKNOWN:
        return "being_confirmed"
    if item.state is State.FAILED:
        wrong = item.error is not None and item.error.code is ErrorCode.INVALID_ARGUMENT
        return "to_be_corrected" if wrong else "not_sent"
    return "left_out"


_WORDS = (
    ("already_sent", "{} already sent"),
    ("sent", "{} sent now"),
    ("to_send", "{} still to be sent"),
    ("being_confirmed", "{} being confirmed by a person"),
    ("to_be_corrected", "{} to be corrected"),
    ("not_sent", "{} not sent"),
    ("left_out", "{} no longer arriving"),
)


def _said(total: int, values: dict[str, int]) -> str:
    parts = [words.format(values[name]) for name, words in _WORDS if values[name]]
    return f"{total} {'arrival' if total == 1 else 'arrivals'}: {', '.join(parts)}." if parts else "Nobody arrives."


def _named(mails: Sequence[ItemRow], standing: str) -> str:
    return listed([str(item.request["reservation_id"]) for item in mails if _standing(item) == standing])
