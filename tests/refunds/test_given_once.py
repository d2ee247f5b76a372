"""A refund is made once, at the hotel system and at Stripe, whatever gets lost and whoever asks."""

from collections.abc import Callable

import pytest

from booking.errors import ErrorCode
from booking.states import State
from dedupe.pauses import list_pauses, resume
from dedupe.submission import Blocked
from tests.changes.house import Wish, dies
from tests.dedupe.rows import CALLER, at_once
from tests.refunds.till import AtStripe, Till
from tests.stripe.running import Stripe
from tests.tasks.desk import SHORT
from tests.waiting import eventually

Tills = Callable[..., Till]

everywhere = pytest.mark.parametrize("place", ["keyed", "lookup-only", "stripe"])
with_keys = pytest.mark.parametrize("place", ["keyed", "stripe"])


def first(till: Till) -> list[tuple[str, str | None]]:
    """The look before the first write, where the payment is shown."""
    return [("check", "absent")] if isinstance(till.place, AtStripe) else []


@everywhere
def test_it_is_made_once_and_told_with_its_number(till: Tills, place: str) -> None:
    at = till(place)
    wish = at.refunded()
    assert at.attempts(wish) == [*first(at), ("write", "done")]
    item = at.desk.item(wish.item)
    assert at.place.given() == [(item.reference, "180")]
    [write] = at.place.writes()
    assert write["key"] == (None if place == "lookup-only" else item.provider_key)
    told = at.told(wish).result
    assert told is not None
    assert {"payment_id": at.payment, "currency": "EUR"}.items() <= told.items()
    assert (float(told["amount"]), set(told)) == (180, {"refund_id", "payment_id", "amount", "currency"})
    assert at.letters(wish) == []
    assert at.desk.rests(wish.item)


@everywhere
@pytest.mark.parametrize("lost", ["after_commit", "reset", "error"])
def test_case_48_an_answer_lost_after_the_commit_is_found_by_our_reference(till: Tills, place: str, lost: str) -> None:
    at = till(place, **({"write_deadline": SHORT} if lost == "after_commit" else {}))
    at.place.lose(lost)
    wish = at.ask()
    assert at.run(wish).state is State.SUCCEEDED
    at.place.release()
    assert at.attempts(wish) == [*first(at), ("write", "unknown"), ("check", "found")]
    assert len(at.place.given()) == len(at.place.writes()) == 1
    assert at.letters(wish) == []


@with_keys
def test_with_a_key_what_was_lost_before_is_sent_again_as_it_was(till: Tills, place: str) -> None:
    at = till(place)
    at.place.lose("before")
    wish = at.refunded()
    assert at.attempts(wish)[-2:] == [("check", "absent"), ("write", "done")]
    one, two = at.place.writes()
    assert one["key"] == two["key"] is not None
    assert len(at.place.given()) == 1


def test_without_a_key_it_is_sent_again_after_quiet_time_alone(till: Tills) -> None:
    at = till("lookup-only")
    at.place.lose("before")
    wish = at.ask()
    assert at.run(wish).state is State.QUEUED
    assert len(at.place.writes()) == 1
    assert at.later(wish).state is State.SUCCEEDED
    assert (len(at.place.writes()), len(at.place.given())) == (2, 1)


@everywhere
def test_a_commit_after_our_timeout_is_found_and_a_key_in_use_is_no_refusal(till: Tills, place: str) -> None:
    at = till(place, write_deadline=SHORT)
    at.place.lose("late")
    wish = at.ask()
    assert at.run(wish).state is State.QUEUED
    if place != "lookup-only":
        assert [write["status"] for write in at.place.writes()] == [None, 409]
    at.place.release()
    assert at.later(wish).state is State.SUCCEEDED
    assert len(at.place.given()) == 1
    assert at.letters(wish) == []


@pytest.mark.parametrize("provable", [True, False])
def test_case_42_an_error_that_stripe_keeps_under_the_key_is_no_refund_and_is_told_by_what_was_declared(
    till: Tills, server: Stripe, provable: bool
) -> None:
    at = till("stripe", absence_provable=provable)
    server.fault("500_before", operation="refund")
    wish = at.ask()
    assert at.run(wish).state is State.QUEUED
    assert [write["replayed"] for write in at.place.writes()] == [False, True]
    told = at.later(wish)
    assert at.place.given() == []
    if provable:
        assert (told.state, at.desk.code(wish.item)) == (State.FAILED, ErrorCode.UNAVAILABLE)
    else:
        assert (told.state, at.letters(wish)) == (State.UNKNOWN, ["unknown_outcome"])
    assert len(at.place.writes()) == 2


def test_where_nothing_can_be_looked_up_a_lost_answer_is_for_a_person_at_once(till: Tills) -> None:
    at = till("blind")
    at.place.lose("reset")
    wish = at.ask()
    assert at.run(wish).state is State.UNKNOWN
    assert at.letters(wish) == ["unknown_outcome"]
    assert at.desk.rests(wish.item)
    with pytest.raises(Blocked, match="subject_in_doubt"):
        at.ask("20")
    assert len(at.place.given()) == len(at.place.writes()) == 1


def test_a_payment_that_can_not_be_looked_at_is_not_given_back_but_looked_at_again(till: Tills, server: Stripe) -> None:
    at = till("stripe")
    server.fault("answer", operation="intent", status=503, times=2)
    wish = at.ask()
    assert at.run(wish).state is State.QUEUED
    assert at.later(wish, 10).state is State.QUEUED
    assert at.place.writes() == []
    assert at.later(wish, 10).state is State.SUCCEEDED
    assert len(at.place.given()) == 1


@with_keys
def test_our_own_credentials_refused_pause_and_are_never_told_as_not_allowed(
    till: Tills, server: Stripe, place: str
) -> None:
    at = till(place)
    if place == "stripe":
        server.fault("answer", operation="refund", status=401, body={"error": {"type": "invalid_request_error"}})
    else:
        refused = {"error": {"code": "unauthorized", "message": "who are you?"}}
        at.desk.pms.fault("status", status=401, body=refused, match={"operation": "refund"}, times=1)
    wish = at.ask()
    assert at.run(wish).state is State.QUEUED
    provider = "stripe" if place == "stripe" else "pms"
    assert [pause.provider for pause in list_pauses(at.desk.engine)] == [provider]
    assert (at.letters(wish), at.told(wish).error) == (["misconfigured"], None)
    assert resume(at.desk.engine, provider) == 1
    assert at.later(wish, 5).state is State.SUCCEEDED
    assert len(at.place.given()) == 1


@everywhere
@pytest.mark.parametrize("sent", [True, False])
def test_case_39_after_a_workers_death_the_refund_is_looked_up_before_anybody_writes(
    till: Tills, place: str, sent: bool
) -> None:
    at = till(place)
    wish = at.ask()
    dies(at.desk, wish.item, "answered" if sent else "begun", 1 + len(first(at)))
    assert at.attempts(wish)[-1] == ("write", None)
    recovered = at.later(wish, 20)
    assert at.attempts(wish)[len(first(at)) + 1][0] == "check"
    if place == "lookup-only" and not sent:
        assert (recovered.state, at.place.writes()) == (State.QUEUED, [])
        recovered = at.later(wish)
    assert recovered.state is State.SUCCEEDED
    assert len(at.place.given()) == len(at.place.writes()) == 1


# Who asks, and how


@with_keys
def test_two_conversations_that_ask_for_the_same_get_one(till: Tills, place: str) -> None:
    at = till(place)
    wish = at.ask("60")
    assert at.desk.item(wish.item).key.startswith(f"{CALLER.tenant_id}:refund:"), "no conversation's own"
    other = at.ask("60", conversation="c-2")
    assert (other.item, other.intent != wish.intent) == (wish.item, True)
    assert at.run(wish).state is State.SUCCEEDED
    late = at.ask("60", conversation="c-3")
    assert late.item == wish.item
    assert at.told(late).result == at.told(wish).result
    assert len(at.place.given()) == 1


def test_many_conversations_at_the_same_instant_get_one(till: Tills) -> None:
    at = till()
    wishes = at_once(8, lambda index: at.ask("60", conversation=f"c-{index}"))
    assert len({wish.item for wish in wishes}) == 1
    assert at.run(wishes[0]).state is State.SUCCEEDED
    assert len(at.place.given()) == 1


@with_keys
def test_case_40_the_same_amount_in_other_digits_is_the_same_refund(till: Tills, place: str) -> None:
    at = till(place)
    wish = at.refunded("180.00")
    for amount in ("180", "180.0", "180.000", "1.8e2"):
        assert at.ask(amount, conversation=f"c-{amount}").item == wish.item
    assert at.place.given()[0][1] == "180"
    assert len(at.place.given()) == 1


@with_keys
def test_one_more_is_given_only_if_it_is_meant_so(till: Tills, place: str) -> None:
    at = till(place)
    with pytest.raises(Blocked, match="additional_to_nothing"):
        at.ask("60", additional=True)
    wish = at.ask("60")
    with pytest.raises(Blocked, match="additional_in_doubt"):
        at.ask("60", additional=True)
    at.run(wish)
    more = at.refunded("60", additional=True)
    assert more.item != wish.item
    assert at.ask("60", additional=True) == more, "the same asking again"
    assert at.ask("60").item == wish.item
    assert [amount for _, amount in at.place.given()] == ["60", "60"]
    assert len({reference for reference, _ in at.place.given()}) == 2


@with_keys
def test_another_refund_of_the_same_payment_waits_for_the_first(till: Tills, place: str) -> None:
    at = till(place)
    wish = at.ask("60")
    for conversation in ("c-1", "c-2"):
        with pytest.raises(Blocked) as blocked:
            at.ask("20", conversation=conversation)
        assert blocked.value.row == "subject_in_doubt"
        assert (wish.intent in blocked.value.values["intent"]) == (conversation == "c-1")
    at.run(wish)
    at.refunded("20", conversation="c-2")
    assert [amount for _, amount in at.place.given()] == ["60", "20"]


def test_of_different_refunds_of_one_payment_at_the_same_instant_one_is_taken(till: Tills) -> None:
    at = till()

    def ask(index: int) -> Wish | None:
        try:
            return at.ask(f"{20 + index}", conversation=f"c-{index}")
        except Blocked:
            return None

    assert len([wish for wish in at_once(6, ask) if wish]) == 1


def test_a_refund_told_as_not_made_that_came_after_all_is_seen_though_another_followed(till: Tills) -> None:
    at = till("lookup-only", write_deadline=SHORT)
    at.place.lose("late")
    wish = at.ask("60", lifetime=30)
    at.run(wish)
    assert at.later(wish, expire=True).state is State.FAILED
    at.refunded("20")
    at.place.release()
    assert at.later(wish, 300).state is State.SUCCEEDED
    assert at.letters(wish) == ["late_success"]


@with_keys
def test_a_refund_told_as_not_made_is_asked_for_again_under_its_own_key_though_another_followed(
    till: Tills, place: str
) -> None:
    """A reservation's later change overtakes the one before. Refunds overtake nothing: another key could give twice."""
    at = till(place, write_deadline=SHORT)
    at.place.lose("late")
    wish = at.ask("60", lifetime=30)
    at.run(wish)
    assert at.later(wish, expire=True).state is State.FAILED
    at.refunded("20")
    at.place.release()  # long after all that was declared
    eventually(lambda: len(at.place.given()) == 2)
    assert at.refunded("60").item == wish.item
    assert sorted(amount for _, amount in at.place.given()) == ["20", "60"]
