"""The tenant's limit: above it no refund is made without a person, whether at once or in many parts."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from booking.errors import ErrorCode
from booking.states import State
from dedupe.submission import Blocked, Mismatch
from tests.api.checks import refused
from tests.changes.talk import Talk, told
from tests.dedupe.rows import run
from tests.refunds.till import TOOL, Till

Tills = Callable[..., Till]

everywhere = pytest.mark.parametrize("place", ["keyed", "stripe"])


def amounts(till: Till) -> list[str]:
    return [amount for _, amount in till.place.given()]


@everywhere
def test_over_the_limit_it_is_refused_at_once_and_nothing_is_sent(till: Tills, place: str) -> None:
    at = till(place)
    wish = at.ask("100.01", most=100)
    error = at.error(wish)
    assert (error.code, error.retryable) == (ErrorCode.PERMISSION_DENIED, False)
    assert error.message == "A refund of 100.01 EUR is not allowed without a person. Do not try again."
    assert error.fix == "Offer the guest a person."
    assert at.desk.item(wish.item).state is State.FAILED
    assert at.desk.rests(wish.item)
    assert at.ask("100.01", most=100) == wish
    assert (at.place.writes(), at.attempts(wish)) == ([], [])
    assert at.refunded("100", most=100, conversation="c-2").item != wish.item


@everywhere
def test_with_a_higher_limit_it_may_be_asked_for_again(till: Tills, place: str) -> None:
    at = till(place)
    wish = at.ask("180", most=100)
    assert at.refunded("180", most=200) == wish
    assert amounts(at) == ["180"]
    again = at.ask("180", conversation="c-2", most=200)
    assert at.told(again).state is State.SUCCEEDED
    assert amounts(at) == ["180"]


def test_a_refund_over_the_limit_stands_in_the_way_of_no_other(till: Tills) -> None:
    at = till()
    at.ask("180", most=100)
    at.refunded("50", most=100)
    wish = at.ask("40", most=100, conversation="c-2")
    assert at.error(at.ask("180", most=100, conversation="c-3")).code is ErrorCode.PERMISSION_DENIED
    assert at.run(wish).state is State.SUCCEEDED


def test_after_a_lower_limit_nothing_more_is_given(till: Tills) -> None:
    at = till()
    at.refunded("60", most=100)
    with suppress(Mismatch):  # or the answer from the record
        assert at.told(at.ask("60", conversation="c-2", most=50)).state is State.SUCCEEDED
    assert at.error(at.ask("60", additional=True, most=50)).code is ErrorCode.PERMISSION_DENIED
    assert amounts(at) == ["60"]


@everywhere
def test_refunds_of_one_payment_count_together(till: Tills, place: str) -> None:
    at = till(place)
    wish = at.refunded("60", most=100)
    at.refused("10", "USD", most=100)  # nothing was given for it
    for amount, additional in (("40.01", False), ("60", True)):
        with pytest.raises(Blocked) as blocked:
            at.ask(amount, conversation="c-2", most=100, additional=additional)
        assert blocked.value.row == "over_limit"
    assert at.ask("60", conversation="c-2", most=100).item == wish.item, "the same again is no more"
    at.refunded("40", most=100)
    assert amounts(at) == ["60", "40"]


def test_what_may_have_been_given_back_counts(till: Tills) -> None:
    at = till("blind")
    at.place.lose("reset")
    assert at.run(at.ask("60", most=100)).state is State.UNKNOWN
    with pytest.raises(Blocked):
        at.ask("50", most=100)


def test_over_http_it_is_in_the_answer_and_counts_for_the_guard(talk: Talk) -> None:
    engine = talk.api.engine
    run(engine, "UPDATE tenants SET settings = CAST(:limit AS jsonb)", limit=json.dumps({"max_refund": 100}))
    asked: dict[str, Any] = {"payment_id": "P-501", "amount": {"amount": "120.00", "currency": "EUR"}}
    response = talk.tool(TOOL, **asked)
    intent = response.json()
    assert (response.status_code, intent["state"], intent["outcome"]) == (202, "done", "failed")
    assert (told(intent)["code"], intent["stop"]) == ("PERMISSION_DENIED", None)
    assert "120 EUR" in told(intent)["message"]
    again = talk.tool(TOOL, **asked).json()
    assert again["stop"]["reason"] == "same_call"
    refused(talk.tool(TOOL, **asked), 409, "STOPPED")
    assert again["handoff"] == "The refund of 120 EUR was not possible: it is not allowed. A colleague will call you."
    assert talk.desk.pms.ledger() == []
    given = talk.done(TOOL, "c-2", **{**asked, "amount": {"amount": "99.5", "currency": "EUR"}})
    assert given["outcome"] == "succeeded"
    assert talk.conversation("c-2")["handoff"] == "99.5 EUR is given back. A colleague will call you."
    assert talk.conversation("c-2")["owned"] == []
    more = talk.tool(TOOL, "c-3", **{**asked, "amount": {"amount": "1", "currency": "EUR"}})
    problem = refused(more, 403, "PERMISSION_DENIED")
    assert problem.tool_error.message == "A refund of 1 EUR more is not allowed without a person. Do not try again."
