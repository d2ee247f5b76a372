"""Refunds that are not made: of another payment, of too much, of no such amount. And their words."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from booking.arguments import RefundPayment
from booking.errors import ErrorCode, ToolError
from booking.states import State
from dedupe.engine import Engine
from tests.api.checks import refused
from tests.api.serving import Api, settings_for
from tests.changes.talk import Talk
from tests.conftest import Tenant
from tests.refunds.till import TOOL, Till
from tests.stripe.running import SECRET, Stripe

Tills = Callable[..., Till]

everywhere = pytest.mark.parametrize("place", ["keyed", "stripe"])
#: What would be said of another effect.
FOREIGN = ("booked", "changed", "cancelled", "hotel system")


def amounts(till: Till) -> list[str]:
    return [amount for _, amount in till.place.given()]


# The payment


@everywhere
def test_an_unknown_payment_is_not_found(till: Tills, place: str) -> None:
    at = till(place)
    number = "pi_unknown" if place == "stripe" else "P-999"
    error = at.refused("10", payment=number)
    assert (error.code, error.message) == (ErrorCode.NOT_FOUND, f"Payment {number} was not found.")
    assert error.fix == "Ask the guest for the number; never guess it."
    assert at.place.given() == []


def test_a_number_that_is_none_of_stripes_leaves_nothing(till: Tills, server: Stripe) -> None:
    at = till("stripe")
    assert at.refused("10", payment="P-501").message == "Payment P-501 was not found."
    assert server.ledger() == []


@everywhere
def test_another_currency_is_told_with_the_right_one(till: Tills, place: str) -> None:
    at = till(place)
    error = at.refused("10", "USD")
    assert (error.code, error.retryable) == (ErrorCode.INVALID_ARGUMENT, True)
    assert error.message == "The payment system does not accept amount.currency: this payment is in EUR."
    assert at.refunded("10").item
    assert amounts(at) == ["10"]


@everywhere
def test_too_much_is_told_with_what_is_left(till: Tills, place: str) -> None:
    at = till(place)
    at.refunded("100")
    error = at.refused("80.01")
    assert error.code is ErrorCode.INVALID_ARGUMENT
    assert error.message.startswith("The payment system does not accept amount.amount: at most 80.00 EUR can be ")
    at.refunded("80")
    assert amounts(at) == ["100", "80"]


def test_at_stripe_what_the_payment_forbids_is_known_before_a_refund_is_asked_for(till: Tills) -> None:
    at = till("stripe")
    at.refused("10", "USD")
    at.refused("180.01")
    assert at.place.writes() == []


def test_what_left_the_payment_between_look_and_write_is_refused_by_stripe_itself(till: Tills, server: Stripe) -> None:
    at = till("stripe")
    server.fault("answer", operation="intent", body=_shown(taken=500_00), status=200)
    error = at.refused("200")
    assert error.code is ErrorCode.INVALID_ARGUMENT
    assert error.message.startswith("The payment system does not accept amount.amount: Refund amount (20000)")
    assert len(at.place.writes()) == 1


def _shown(taken: int) -> dict[str, Any]:
    charge = {"id": "ch_501", "object": "charge", "amount_captured": taken, "amount_refunded": 0, "currency": "eur"}
    return {"id": "pi_501", "object": "payment_intent", "currency": "eur", "latest_charge": charge}


def test_money_that_another_company_took_is_not_given_back(till: Tills, server: Stripe) -> None:
    assert till().refused("10", payment="P-504").code is ErrorCode.PERMISSION_DENIED
    server.seed("pi_504", 500_00, disputed=True)
    at = till("stripe")
    assert at.refused("10", payment="pi_504").code is ErrorCode.PERMISSION_DENIED
    assert at.place.given() == []


def test_with_several_payment_systems_the_hotel_must_be_said(
    database_url: str, redis_url: str, tenant: Tenant, engine: Engine
) -> None:
    berlin = {"name": "Berlin", "time_zone": "Europe/Berlin", "currency": "EUR"}
    hotels = {"BER": berlin, "MUC": {**berlin, "payments": "stripe"}}
    providers = {"pms": {}, "stripe": {"kind": "stripe", "token": SECRET, "url": "http://127.0.0.1:9"}}
    settings = settings_for(database_url, redis_url, providers=providers, properties=hotels)
    asked = {"payment_id": "P-501", "amount": {"amount": "5", "currency": "EUR"}}
    with Api.started(settings, tenant, engine) as api:
        problem = refused(api.submit({"tool": TOOL, "arguments": asked, "conversation_id": "c-1"}), 422)
        assert problem.tool_error.message.startswith("property: is required here; must be one of BER, MUC")
        for hotel in hotels:  # two payment systems, two payments
            body = {"tool": TOOL, "arguments": {**asked, "property": hotel}, "conversation_id": "c-1"}
            assert api.submit(body).status_code == 202


# Amounts


@pytest.mark.parametrize("amount", ["0", "0.00", "-1", "-0.01", "NaN", "Infinity", "1.2345", "1e13", "", "ten"])
def test_an_amount_that_is_none_is_refused_before_anything_is_stored(amount: str) -> None:
    money = {"amount": amount, "currency": "EUR"}
    with pytest.raises(ValidationError):
        RefundPayment.model_validate({"payment_id": "P-501", "amount": money})


def test_over_http_a_wrong_amount_names_its_field(talk: Talk) -> None:
    for amount in ("0", "-5", 0, -0.01):
        asked: dict[str, Any] = {"payment_id": "P-501", "amount": {"amount": amount, "currency": "EUR"}}
        problem = refused(talk.tool(TOOL, **asked), 422)
        assert problem.tool_error.message.startswith("amount.amount: ")
    lower: dict[str, Any] = {"payment_id": "P-501", "amount": {"amount": "5", "currency": "eur"}}
    assert refused(talk.tool(TOOL, **lower), 422).tool_error.message.startswith("amount.currency: ")
    assert talk.desk.pms.ledger() == []


@everywhere
def test_three_decimals_where_the_currency_has_two_are_refused(till: Tills, place: str) -> None:
    at = till(place)
    error = at.refused("10.005")
    assert error.code is ErrorCode.INVALID_ARGUMENT
    assert error.message.startswith("The payment system does not accept amount.amount: ")
    assert at.place.given() == []
    assert at.refunded("10.010").item
    assert amounts(at) == ["10.01"]


def test_yen_have_no_decimals_and_are_not_counted_in_hundredths(till: Tills, server: Stripe) -> None:
    at = till("stripe")
    server.seed("pi_yen", 5000, "jpy")
    wish = at.ask("1000", "JPY", payment="pi_yen", most=5000)
    assert at.run(wish).state is State.SUCCEEDED
    assert [one["amount"] for one in server.refunds()] == [1000]
    told_of = at.told(wish).result
    assert told_of is not None
    assert (told_of["amount"], told_of["currency"]) == ("1000", "JPY")
    error = at.refused("10.5", "JPY", payment="pi_yen", most=5000)
    assert error.message.endswith("an amount in JPY must be more than 0 and a multiple of 1.")
    assert len(server.refunds()) == 1


def test_yen_at_a_hotel_system_that_takes_none(till: Tills) -> None:
    assert till().refused("100", "JPY").message.endswith("amount.currency: this payment is in EUR.")


# Words


@everywhere
def test_failures_are_told_in_the_words_of_a_refund(till: Tills, server: Stripe, place: str) -> None:
    at = till(place)
    away = till(place, url="http://127.0.0.1:9")
    seen = [_away(at, away), _expired(at), _throttled(at, server), _unknown(at, server)]
    assert [error.message for error in seen] == [
        "The payment system could not be reached in time; this was not refunded.",
        "This was not refunded in time and will not be any more.",
        "The payment system is taking no more requests for now; this was not refunded.",
        "It is not yet known whether this was refunded; it is being confirmed.",
    ]
    for error in seen:
        assert not any(word in str(error) for word in FOREIGN)
    assert seen[0].fix == "Tell the guest that it was not refunded. It may be asked for again later."


def _away(at: Till, away: Till) -> ToolError:
    wish = at.ask("1")
    away.run(wish)
    away.later(wish, 3600, expire=True)
    return at.error(wish)


def _expired(at: Till) -> ToolError:
    wish = at.ask("2")
    at.later(wish, 3600, expire=True)
    return at.error(wish)


def _throttled(at: Till, server: Stripe) -> ToolError:
    wish = at.ask("3")
    at.desk.pms.fault("rate_limited", match={"operation": "refund"}, times=1)
    server.fault("429", operation="intent")
    at.run(wish)
    at.later(wish, 3600, expire=True)
    return at.error(wish)


def _unknown(at: Till, server: Stripe) -> ToolError:
    wish = at.ask("4")
    at.place.lose("reset")
    at.desk.pms.fault("status", status=503, match={"operation": "find_refunds"})
    server.fault("answer", operation="find", status=503, times=100)
    at.desk.pms.fault("status", status=503, match={"operation": "refund"})
    server.fault("answer", operation="refund", status=503, times=100)
    at.run(wish)
    while at.desk.item(wish.item).state is State.QUEUED:
        at.later(wish, 90)
    return at.error(wish)
