"""`Retry-After` as providers really send it: seconds, decimals, a date, or junk."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

#: Plain decimals only: float() would also take "1e20", "nan", "1_0" and digits of other scripts.
_SECONDS = re.compile(r"[0-9]{1,400}(\.[0-9]{1,400})?")


def retry_after(value: str | None, now: datetime, cap: float = 300) -> float | None:
    """Seconds to wait from `now` (aware), between 0 and `cap`; None where the header is absent or junk."""
    if value is None:
        return None
    text = value.strip(" \t")
    if _SECONDS.fullmatch(text):
        return min(float(text), cap)
    if not text.isascii() or len(text) > 64:
        return None
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if at.tzinfo is None:  # "-0000", or no zone at all: HTTP dates are GMT
        at = at.replace(tzinfo=UTC)
    try:
        seconds = (at - now).total_seconds()
    except OverflowError:  # year 1 or 9999 beside a zone
        return None
    return min(max(seconds, 0.0), cap)
