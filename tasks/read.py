"""Run a read: a few calls within one budget. It blocks, so it runs in a thread that may hang for so long."""

import logging
import random
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from booking.outcomes import Failure, HeldBack, Misconfigured, NotSent, Reservation
from booking.reads import GetReservation, ListArrivals, Offer, ReadArguments, SearchAvailability
from providers.gate import Closed, Health, Verdict
from providers.limiter import Limiter, health_of
from providers.ports import ArrivalsPage, Line, NoAnswer, Pms, Unreachable
from tasks.decide import decide_read
from tasks.decisions import Give

log = logging.getLogger("roomkey.read")

#: From the request to the answer, seconds; with what the API adds, an agent waits 8 at most.
READ_SECONDS = 7.0
#: A permit's life beyond the call's deadlines, seconds.
_MARGIN = 1.0

Found = list[Offer] | Reservation | ArrivalsPage


@dataclass(frozen=True)
class Asked:
    """One read of a conversation, as it was asked for."""

    tool: str
    conversation_id: str
    provider: str
    arguments: ReadArguments


@dataclass(frozen=True)
class Ran:
    """How a read ended, after how many calls.

    `refused`: why the provider refuses our own credentials. Every call would end alike; it is to be paused.
    """

    answer: Found | Give
    tries: int
    refused: str | None = None


class Reads:
    """Reads at the providers. Safe for many threads."""

    def __init__(self, providers: Mapping[str, Pms], limiter: Limiter | None = None) -> None:
        self._providers = providers
        self._limiter = limiter

    def run(self, asked: Asked, until: float) -> Ran:
        """Call until there is an answer, or until `decide_read` gives up. `until` is of the monotonic clock."""
        tries = 0
        while True:
            outcome = self._try(asked, tries + 1, until)
            if not isinstance(outcome, Failure):
                return Ran(outcome, tries + 1)
            tries += not isinstance(outcome, HeldBack)  # held back is no call: nothing was tried
            decision = decide_read(tries, outcome, until - time.monotonic(), random.random())  # noqa: S311
            if isinstance(decision, Give):
                certain = isinstance(outcome, Misconfigured) and outcome.certain
                return Ran(decision, tries, outcome.cause if certain else None)
            time.sleep(decision.wait)

    def _try(self, asked: Asked, number: int, until: float) -> Found | Failure:
        started = time.monotonic()
        pms = self._providers.get(asked.provider)
        outcome = self._permitted(pms, asked, until) if pms else Misconfigured("this provider has no address here")
        _log(asked, number, outcome, time.monotonic() - started)
        return outcome

    def _permitted(self, pms: Pms, asked: Asked, until: float) -> Found | Failure:
        if self._limiter is None:
            return _call(pms, asked.arguments, until)
        caps = pms.capabilities
        lease = caps.connect_deadline + caps.read_deadline + _MARGIN
        permit = self._limiter.enter(asked.provider, lease, queues=False)
        if isinstance(permit, Closed):
            return HeldBack(permit.wait, permit.cause, permit.sick)
        health = Health(Verdict.NONE)
        try:
            outcome = _call(pms, asked.arguments, until)
            health = health_of(outcome)
        finally:
            self._limiter.leave(asked.provider, permit, health)
        return outcome


def _call(pms: Pms, arguments: ReadArguments, until: float) -> Found | NoAnswer:
    """One call on one line, neither of which outlives `until`."""
    try:
        line = pms.connect(within=until - time.monotonic())
    except Unreachable as failure:
        return NotSent(str(failure))
    with closing(line):
        return _ask(pms, line, arguments, until - time.monotonic())


def _ask(pms: Pms, line: Line, arguments: ReadArguments, within: float) -> Found | NoAnswer:
    match arguments:
        case SearchAvailability():
            return pms.availability(line, arguments, within)
        case GetReservation():
            return pms.get_booking(line, arguments, within)
        case ListArrivals():
            return pms.arrivals(line, arguments, within)


def _log(asked: Asked, number: int, outcome: Found | Failure, elapsed: float) -> None:
    """One line a try. No arguments: they hold guests' names."""
    log.log(
        logging.ERROR if isinstance(outcome, Misconfigured) else logging.INFO,
        "read tool=%s conversation=%s provider=%s attempt=%d outcome=%s elapsed=%.3fs%s",
        asked.tool,
        asked.conversation_id,
        asked.provider,
        number,
        type(outcome).__name__ if isinstance(outcome, Failure) else "Answered",
        elapsed,
        f" cause={outcome.cause!r}" if isinstance(outcome, Failure) else "",
    )
