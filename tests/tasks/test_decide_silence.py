"""`decide` after a look-up that told nothing: when to look again, and when a person is asked."""

from datetime import datetime
from typing import Any

import pytest

from booking.capabilities import Capabilities
from booking.errors import ErrorCode
from booking.outcomes import Absent, Finding, Misconfigured, NotSent, Unknown
from booking.states import DeadLetter, Kind, State
from dedupe.items import Item
from tasks.decide import decide
from tasks.decisions import Decision, Later, Park
from tasks.waits import LOOK_AGAIN_MOST, MISCONFIGURED_SECONDS
from tests.tasks.build import KEYED, LOOKUP_ONLY, NOW, QUIET, UNPROVEN, an_item, doubtful, seconds


def saw(finding: Finding, item: Item, caps: Capabilities = LOOKUP_ONLY, now: datetime = NOW) -> Decision:
    return decide(Kind.CHECK, finding, item, caps, now)


def quiet_item(**changes: Any) -> Item:
    """In doubt since longer than quiet time."""
    return doubtful(sent_ago=QUIET.total_seconds() + 1, **changes)


@pytest.mark.parametrize("finding", [Unknown("HTTP 503"), NotSent("connection refused")])
@pytest.mark.parametrize("caps", [KEYED, LOOKUP_ONLY], ids=["keyed", "lookup-only"])
def test_a_look_up_that_tells_nothing_is_repeated_and_nothing_is_written(caps: Capabilities, finding: Finding) -> None:
    waits = []
    for failures in range(3):
        decision = saw(finding, doubtful(failures=failures), caps)
        assert isinstance(decision, Later)
        assert decision.told_nothing
        waits.append(decision.due_in)
    # Without a key, a third look-up waits until it can prove absence.
    assert waits == ([5, 10, 15] if caps is KEYED else [5, pytest.approx(40, abs=0.1), pytest.approx(40, abs=0.1)])


def test_many_earlier_tries_that_reached_nobody_do_not_delay_the_look_up_beyond_a_minute() -> None:
    decision = saw(Unknown("HTTP 503"), doubtful(failures=50))
    assert isinstance(decision, Later)
    assert decision.due_in == LOOK_AGAIN_MOST == 60


def test_a_throttled_look_up_waits_as_told_and_counts_as_no_try() -> None:
    decision = saw(NotSent("HTTP 429", ErrorCode.RATE_LIMITED, retry_after=17), doubtful())
    assert decision == Later(17, State.QUEUED, told_nothing=False)


@pytest.mark.parametrize(
    ("doubted_for", "wait"),
    [
        (60, 300),
        (599.999, 300),
        (600, 900),
        (3599.999, 900),
        (3600, 3600),
        (6 * 3600 - 0.001, 3600),
        (6 * 3600, 86_400),
        (90 * 86_400, 86_400),
    ],
)
@pytest.mark.parametrize(("finding", "caps"), [(Unknown("HTTP 503"), LOOKUP_ONLY), (Absent(NOW), UNPROVEN)])
def test_an_unknown_one_is_looked_up_on_and_on_ever_more_rarely(
    finding: Finding, caps: Capabilities, doubted_for: float, wait: float
) -> None:
    decision = saw(finding, quiet_item(doubted_at=NOW - seconds(doubted_for)), caps)
    assert isinstance(decision, Park)
    assert (decision.reason, decision.due_in) == (DeadLetter.UNKNOWN_OUTCOME, wait)


def test_just_under_a_minute_in_doubt_no_person_is_asked_yet() -> None:
    assert isinstance(saw(Unknown("HTTP 503"), doubtful(doubted_at=NOW - seconds(59.999))), Later)


def test_wrong_credentials_at_a_look_up_keep_the_doubt_and_tell_a_person() -> None:
    decision = saw(Misconfigured("HTTP 401"), doubtful(sent_ago=1))
    assert decision == Later(
        MISCONFIGURED_SECONDS,
        State.QUEUED,
        letters=((DeadLetter.MISCONFIGURED, "HTTP 401"),),
        told_nothing=True,
    )


def test_without_any_known_doubt_time_the_item_counts_as_freshly_in_doubt() -> None:
    assert isinstance(saw(Unknown("HTTP 503"), an_item(doubts=(NOW,), last_send=NOW)), Later)
