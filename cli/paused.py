"""Providers that are paused: every booking at them waits, so it is told with the mend."""

import time
from collections.abc import Callable
from datetime import UTC
from typing import TYPE_CHECKING

from cli.called import command
from dedupe.engine import DatabaseAway, make_engine, or_away
from dedupe.pauses import Pause, list_pauses

if TYPE_CHECKING:
    from cli.stack import Stack

#: Seconds between two looks.
_EVERY = 3.0


def since(pause: Pause) -> str:
    """Since when, and why."""
    return f"paused since {pause.since.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC ({pause.cause})"


class Watch:
    """Tells each pause of a running stack once."""

    def __init__(self, stack: "Stack", say: Callable[[str], None]) -> None:
        assert stack.settings.database_url is not None, "a stack that runs has one"
        self._engine = make_engine(stack.settings.database_url.get_secret_value(), 1)
        self._data, self._say = stack.data, say
        self._told: list[Pause] = []
        self._next = 0.0

    def look(self) -> None:
        """Look, if it is time to. A database that is away is for others to tell."""
        if time.monotonic() < self._next:
            return
        try:
            with or_away():
                found = list_pauses(self._engine)
        except DatabaseAway:
            return
        finally:
            self._next = time.monotonic() + _EVERY
        for pause in found:
            if pause not in self._told:
                resume = command(f"resume {pause.provider}", self._data)
                self._say(f"provider {pause.provider}: {since(pause)}; mend its credentials, then: {resume}")
        self._told = found

    def close(self) -> None:
        """Let the connection go."""
        self._engine.dispose()
