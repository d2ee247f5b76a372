"""Wait for something to become true, without guessing how long it takes."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def eventually(look: Callable[[], T], *, within: float = 5.0) -> T:
    """Call `look` until it returns something true, and return that; fail after `within` seconds.

    An AssertionError inside `look` counts as "not yet", and is the one raised at the end.
    """
    deadline = time.monotonic() + within
    while True:
        last: AssertionError | None = None
        try:
            seen = look()
        except AssertionError as error:
            last = error
        else:
            if seen:
                return seen
        if time.monotonic() > deadline:
            raise last or AssertionError(f"not within {within} s")
        time.sleep(0.02)
