"""The table of errors as a page for people: `python -m booking.errors_page > docs/errors.md`."""

import sys

from booking.errors import TABLE, WHO, WHO_BY_ROW

_HEAD = """\
# Errors: who can fix it

Every failure that a caller is told is a row of `booking/errors.py`. This page is printed from it by
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
