"""What the model is told of a batch of reminders: who was mailed before, who is now, and who still isn't. Pure."""

from collections import Counter

from booking.effects import Effect
from booking.errors import ErrorCode, ToolError, tool_error
from booking.results import IntentRow, ItemRow, RemindersAnswer
from booking.rooms import listed
from booking.states import PENDING, State


def reminders_answer(row: IntentRow) -> RemindersAnswer | None:
    """The counts of a batch, once its arrivals are known. While they are read again, those known before count."""
    found = next((item for item in row.items if item.effect is Effect.ARRIVALS), None)
    mails = _mails(row)
    if found is None or (found.state is not State.SUCCEEDED and not mails):
        return None
    counts = Counter(_standing(item) for item in mails)
    before = counts["sent"] if found.result is None else min(int(found.result["sent_before"]), counts["sent"])
    values = {name: counts[name] for name in ("to_send", "being_confirmed", "to_be_corrected", "not_sent", "left_out")}
    values |= {"already_sent": before, "sent": counts["sent"] - before}
    return RemindersAnswer(arrivals=len(mails), **values, said=_said(len(mails), values))


def reminders_error(row: IntentRow) -> ToolError | None:
    """What to do about those that are not sent; None where nothing is left to do."""
    found = next((item for item in row.items if item.effect is Effect.ARRIVALS), None)
    answer = reminders_answer(row)
    if found is not None and found.state in (State.FAILED, State.CANCELLED):
        return _unread(found, answer)
    wrong, again = _named(row, "to_be_corrected"), _named(row, "not_sent")
    if answer is None or not (wrong or again or answer.being_confirmed):
        return None
    return tool_error("reminders", said=answer.said, fix=" ".join(_fixes(row, wrong, again, answer.being_confirmed)))


def _unread(found: ItemRow, answer: RemindersAnswer | None) -> ToolError | None:
    """The arrivals could not be read. What is known of those before stays true."""
    if answer is None or found.error is None or found.state is State.CANCELLED:
        return found.error
    return tool_error("arrivals_unread", said=answer.said)


def _fixes(row: IntentRow, wrong: str, again: str, confirmed: int) -> list[str]:
    request = _mails(row)[0].request
    fixes = []
    if wrong:
        fixes.append(f"Have the mail addresses of {wrong} corrected at the hotel.")
    if wrong or again:
        call = f"call send_checkin_reminders for {request['property']} and {request['date']} again"
        fixes.append(f"{'Then ' if wrong else ''}{call if wrong else 'C' + call[1:]}; nobody is mailed twice.")
    if confirmed:
        fixes.append(f"Do nothing about {_named(row, 'being_confirmed')}: being confirmed.")
    return fixes


def _mails(row: IntentRow) -> list[ItemRow]:
    return [item for item in row.items if item.effect is Effect.REMINDER]


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
    # Given up by whoever had asked, or no longer arriving.
    return "not_sent" if item.error is not None and item.error.message == _CANCELLED else "left_out"


_CANCELLED = tool_error("cancelled").message
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


def _named(row: IntentRow, standing: str) -> str:
    return listed([str(item.request["reservation_id"]) for item in _mails(row) if _standing(item) == standing])
