import pytest

from booking.states import IntentOutcome, State, outcome_of

Q, R, S, F, U, C, X = (
    State.QUEUED,
    State.RUNNING,
    State.SUCCEEDED,
    State.FAILED,
    State.UNKNOWN,
    State.CANCELLED,
    State.SUPERSEDED,
)


@pytest.mark.parametrize(
    ("states", "outcome"),
    [
        ([S], IntentOutcome.SUCCEEDED),
        ([S, S], IntentOutcome.SUCCEEDED),
        ([F], IntentOutcome.FAILED),
        ([C], IntentOutcome.FAILED),
        ([F, C], IntentOutcome.FAILED),
        ([S, F], IntentOutcome.PARTIAL),
        ([C, S], IntentOutcome.PARTIAL),
        ([S, U], IntentOutcome.PARTIAL),
        ([S, F, U], IntentOutcome.PARTIAL),
        ([U], IntentOutcome.UNKNOWN),
        ([F, U], IntentOutcome.UNKNOWN),
        ([C, U], IntentOutcome.UNKNOWN),
        # It had succeeded, and was undone later by something else.
        ([X], IntentOutcome.SUCCEEDED),
        ([X, S], IntentOutcome.SUCCEEDED),
        ([X, F], IntentOutcome.PARTIAL),
        ([X, U], IntentOutcome.PARTIAL),
    ],
)
def test_an_intents_outcome_follows_from_its_items(states: list[State], outcome: IntentOutcome) -> None:
    assert outcome_of(states) is outcome
    assert outcome_of(states[::-1]) is outcome


@pytest.mark.parametrize("pending", [Q, R])
@pytest.mark.parametrize("other", State)
def test_while_one_item_is_pending_there_is_no_outcome(pending: State, other: State) -> None:
    assert outcome_of([other, pending]) is None
