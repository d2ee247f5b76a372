"""The table of errors as a page for people: `python -m booking.errors_page > docs/errors.md`."""

import sys

from booking.error_table import TABLE, ErrorCode

#: code -> (who can fix it, what the runtime does by itself). For people: printed in docs/errors.md.
WHO: dict[ErrorCode, tuple[str, str]] = {
    ErrorCode.INVALID_ARGUMENT: ("the model", "no"),
    ErrorCode.NOT_FOUND: ("the guest", "no"),
    ErrorCode.PERMISSION_DENIED: ("nobody", "no"),
    ErrorCode.CONFLICT: ("the model and the guest", "no"),
    ErrorCode.UNAVAILABLE: ("the runtime", "yes, before this is told"),
    ErrorCode.RATE_LIMITED: ("the runtime", "as the hotel system asks, before this is told"),
    ErrorCode.UNKNOWN_OUTCOME: ("the runtime, then a person", "look-ups only"),
    ErrorCode.EXPIRED: ("the model and the guest", "no"),
    ErrorCode.CANCELLED: ("the model and the guest", "no"),
    ErrorCode.STOPPED: ("a person", "no"),
    ErrorCode.PARTIAL_FAILURE: ("the model and the guest", "no; only the failed items may be asked for again"),
}
#: Rows that differ from their code; most are for the host application or the operator, not for the model.
WHO_BY_ROW: dict[str, tuple[str, str]] = {
    "partial_for_good": ("the guest", "no"),
    "reminders": ("the hotel, a person", "no; nobody is mailed twice"),
    "no_address": ("the hotel", "no"),
    "mail_refused": ("a person", "no"),
    "key_reused": ("the host application", "no"),
    "wrong_bearer": ("the host application", "no"),
    "wrong_scope": ("the host application", "no"),
    "too_slow": ("the host application", "no"),
    "wrong_method": ("the host application", "no"),
    "no_such_intent": ("the host application", "no"),
    "gone": ("the host application", "no"),
    "no_database": ("the operator", "no; the same request may be sent again"),
    "internal": ("the operator", "no"),
}

_HEAD = """\
# Errors: who can fix it

Every failure that a caller is told is a row of `booking/error_table.py`. This page is printed from it by
`python -m booking.errors_page > docs/errors.md`, and a test holds the two together. The message and the fix are written
for the language model and are shown to it as they are; words in braces are filled in. *Model may retry* means: with
different input. Where the runtime retries, the model hears nothing until that is used up.

| row | code | who fixes it | the runtime retries | message | fix | model may retry |
| --- | --- | --- | --- | --- | --- | --- |
"""


def page() -> str:
    """The whole page."""
    return _HEAD + "".join(_line(row) for row in TABLE)


def _line(row: str) -> str:
    code, message, fix, retryable = TABLE[row]
    who, runtime = WHO_BY_ROW.get(row, WHO[code])
    cells = (f"`{row}`", code.value, who, runtime, message, fix or "", "yes" if retryable else "no")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
