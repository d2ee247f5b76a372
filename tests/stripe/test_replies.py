"""What an answer of Stripe means, example by example."""

from decimal import Decimal
from typing import Any

import pytest

from booking.effects import Effect, words
from booking.errors import ErrorCode, tool_error
from booking.outcomes import Done, Misconfigured, NotSent, Payment, Rejected, Unknown
from providers.stripe_replies import Asked
from tests.stripe.answers import (
    CHARGE,
    DONE,
    INTENT,
    OF_CHARGE,
    OF_INTENT,
    OURS,
    REFUND,
    error,
    page,
    payment,
    refund,
    refunds,
)

PAGE = b"<!doctype html><h1>Sorry</h1>"
UNREADABLE = [
    {"id": None},
    {"id": ""},
    {"id": "re_\n1"},
    {"object": "charge"},
    {"amount": None},
    {"amount": "1050"},
    {"amount": 1050.0},
    {"amount": True},
    {"amount": -1050},
    {"currency": None},
    {"currency": "EUR"},
    {"payment_intent": None},
    {"payment_intent": "pi_1002"},
    {"metadata": [OURS]},
    {"status": "requires_action"},
    {"status": "refunded"},
    {"status": None},
    {"status": ["succeeded"]},
    {"error": None},
]


@pytest.mark.parametrize("status", ["succeeded", "pending"])
def test_a_refund_that_is_there_or_on_its_way_is_done(status: str) -> None:
    assert refund(200, REFUND | {"status": status}) == Done(DONE)


def test_a_refund_of_a_charge_names_the_charge() -> None:
    outcome = refund(200, REFUND | {"payment_intent": None}, Asked(CHARGE, 1050, "EUR", OURS))
    assert outcome == Done(DONE | {"payment_id": CHARGE})


@pytest.mark.parametrize("change", [*UNREADABLE, {"amount": 1051}, {"currency": "usd"}, {"metadata": {}}], ids=str)
def test_success_for_anything_else_is_unknown(change: dict[str, Any]) -> None:
    assert isinstance(refund(200, REFUND | change), Unknown)


@pytest.mark.parametrize("reference", [OURS + "0", OURS[:-1], "", None])
def test_success_with_another_reference_is_unknown(reference: str | None) -> None:
    assert isinstance(refund(200, REFUND | {"metadata": {"reference": reference}}), Unknown)


@pytest.mark.parametrize("status", ["failed", "canceled"])
def test_a_refund_that_failed_at_once_gave_nothing_back(status: str) -> None:
    outcome = refund(200, REFUND | {"status": status})
    assert isinstance(outcome, Rejected)
    assert outcome.row == "denied"
    assert isinstance(refund(200, REFUND | {"status": status, "amount": 1}), Unknown)


@pytest.mark.parametrize(
    ("status", "said", "row", "values"),
    [
        (400, error(param="amount"), "refused_argument", {"field": "amount.amount", "problem": "it is refused"}),
        (400, error(code="charge_already_refunded"), "refused_argument", {"field": "amount.amount"}),
        (400, error(code="charge_disputed"), "denied", {}),
        (400, error(code="refund_disputed_payment"), "denied", {}),
        (400, error(code="charge_not_refundable"), "denied", {}),
        (402, error("card_error", code="card_declined"), "denied", {}),
        (404, error(code="resource_missing", param="payment_intent"), "not_found", {"what": "The payment"}),
        (400, error(code="resource_missing", param="charge"), "not_found", {"what": "The payment"}),
    ],
)
def test_a_documented_refusal_names_its_row(status: int, said: Any, row: str, values: dict[str, str]) -> None:
    outcome = refund(status, said)
    assert isinstance(outcome, Rejected)
    assert outcome.row == row
    assert outcome.values.items() >= values.items()
    tool_error(outcome.row, **outcome.values, **words(Effect.REFUND))  # every value of the message is there


@pytest.mark.parametrize("message", [None, "", "a\nb", "x" * 300, 7, "\u202e\u200b"])
def test_words_that_are_no_line_are_not_told(message: Any) -> None:
    outcome = refund(400, error(param="amount", message=message))
    assert isinstance(outcome, Rejected)
    assert outcome.values["problem"] == "it was refused"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (409, error(code="idempotency_key_in_use")),
        (400, error("idempotency_error")),  # an earlier write stands under this key
        (400, error("idempotency_error", param="amount")),
        (400, error()),
        (400, error(code="parameter_unknown", param="metadata")),
        (400, error("api_error", param="amount")),
        (400, {"error": {"param": "amount"}}),
        (402, error(code="card_declined")),
        (402, PAGE),
        (500, error("api_error")),
        (500, error(param="amount")),
        (502, PAGE),
        (503, b""),
        (424, error("api_error")),
        (200, PAGE),
        (200, b""),
        (200, error()),
        (201, REFUND),
        (204, b""),
        (302, b""),
        (307, REFUND),
        (308, error(param="amount")),
        (404, error(code="parameter_missing")),
        (409, error(code="resource_missing")),
        (500, error(code="resource_missing")),
    ],
)
def test_what_no_rule_names_is_unknown(status: int, said: Any) -> None:
    assert isinstance(refund(status, said), Unknown)


@pytest.mark.parametrize("ask", [refund, payment, refunds])
@pytest.mark.parametrize(
    ("status", "said", "certain"),
    [
        (401, error(), True),
        (401, PAGE, True),
        (403, error(), False),
        (403, PAGE, False),
        (404, PAGE, False),
        (404, error(code=None, param=None), False),  # Stripe's "unrecognized request URL"
        (405, b"", False),
    ],
)
def test_a_wrong_key_or_address_is_our_mistake(ask: Any, status: int, said: Any, certain: bool) -> None:
    outcome = ask(status, said)
    assert isinstance(outcome, Misconfigured)
    assert outcome.certain is certain


@pytest.mark.parametrize("ask", [payment, refunds])
def test_a_read_that_is_sent_elsewhere_went_to_a_wrong_address(ask: Any) -> None:
    assert isinstance(ask(302), Misconfigured)


@pytest.mark.parametrize("ask", [refund, payment, refunds])
@pytest.mark.parametrize("code", ["rate_limit", "lock_timeout", None])
def test_a_limit_or_a_lock_was_before_everything(ask: Any, code: str | None) -> None:
    outcome = ask(429, error(code=code), retry_after="7")
    assert isinstance(outcome, NotSent)
    assert (outcome.code, outcome.retry_after) == (ErrorCode.RATE_LIMITED, 7)


def test_a_cause_repeats_only_what_a_rule_knows() -> None:
    assert refund(500, error("api_error")).cause == "HTTP 500 api_error"
    assert refund(409, error(code="idempotency_key_in_use")).cause == (
        "HTTP 409 invalid_request_error idempotency_key_in_use"
    )
    assert refund(400, error(code="sk_live_1")).cause == "HTTP 400 invalid_request_error"
    assert refund(500, {"error": {"type": "sk_live_1"}}).cause == "HTTP 500"


def test_what_is_left_of_a_payment() -> None:
    assert payment(200, OF_INTENT) == Payment(INTENT, "EUR", Decimal("15.00"))
    assert payment(200, OF_CHARGE, CHARGE) == Payment(CHARGE, "EUR", Decimal("15.00"))
    assert payment(200, OF_INTENT | {"latest_charge": None}) == Payment(INTENT, "EUR", Decimal(0))
    yen = {"currency": "jpy"}
    assert payment(200, OF_INTENT | yen | {"latest_charge": OF_CHARGE | yen}) == Payment(INTENT, "JPY", Decimal(1500))


@pytest.mark.parametrize(
    "change",
    [
        {"id": "pi_1002"},
        {"object": "charge"},
        {"currency": "usd"},
        {"currency": None},
        {"latest_charge": CHARGE},  # not expanded: it doesn't tell what was given back
        {"latest_charge": OF_CHARGE | {"amount_refunded": 1801}},
        {"latest_charge": OF_CHARGE | {"amount_refunded": None}},
        {"latest_charge": OF_CHARGE | {"amount_captured": -1, "amount_refunded": -5}},
        {"latest_charge": OF_CHARGE | {"amount_captured": "1800"}},
        {"latest_charge": OF_CHARGE | {"amount_captured": 10**15}},
        {"error": {}},
    ],
    ids=str,
)
def test_an_answer_that_is_not_the_payment_is_unknown(change: dict[str, Any]) -> None:
    assert isinstance(payment(200, OF_INTENT | change), Unknown)
    without = {name: value for name, value in OF_INTENT.items() if name not in change}
    assert isinstance(payment(200, without if "error" not in change else OF_INTENT | change), Unknown)


def test_a_payment_that_is_not_there_is_not_found() -> None:
    outcome = payment(404, error(code="resource_missing", param="intent"))
    assert isinstance(outcome, Rejected)
    assert (outcome.row, outcome.values) == ("not_found", {"what": "The payment"})
    assert isinstance(payment(402, error("card_error")), Unknown)
    assert isinstance(payment(500), Unknown)
    assert isinstance(payment(500, error(code="resource_missing")), Unknown)


def test_a_currency_that_is_counted_in_two_ways_needs_a_person() -> None:
    outcome = payment(200, OF_CHARGE | {"currency": "ugx"}, CHARGE)
    assert isinstance(outcome, Rejected)
    assert outcome.row == "denied"


def test_a_lookup_gives_exactly_our_refunds() -> None:
    other = REFUND | {"id": "re_2", "metadata": {"reference": OURS + "0"}, "status": "requires_action"}
    bare = REFUND | {"id": "re_3", "metadata": None, "amount": None}
    failed = REFUND | {"id": "re_4", "status": "failed"}
    found = refunds(200, page(REFUND, other, bare, failed))
    assert [(one.refund_id, one.amount, one.live) for one in found] == [
        ("re_1001", Decimal("10.50"), True),
        ("re_4", Decimal("10.50"), False),
    ]
    assert (found[0].payment_id, found[0].reference, found[0].currency) == (INTENT, OURS, "EUR")
    assert refunds(200, page()) == []


def test_more_than_one_page_proves_no_absence() -> None:
    other = REFUND | {"metadata": {}}
    assert isinstance(refunds(200, page(other, has_more=True)), Unknown)
    assert isinstance(refunds(200, page(has_more=True)), Unknown)
    assert len(refunds(200, page(other, REFUND, has_more=True))) == 1


@pytest.mark.parametrize("change", UNREADABLE, ids=str)
def test_one_of_ours_that_cannot_be_read_is_never_dropped(change: dict[str, Any]) -> None:
    assert isinstance(refunds(200, page(REFUND, REFUND | change)), Unknown)


@pytest.mark.parametrize("body", [b"", PAGE, REFUND, error(), page(None), page({}), page() | {"object": "refund"}, []])
def test_what_is_no_page_tells_nothing(body: Any) -> None:
    assert isinstance(refunds(200, body), Unknown)


@pytest.mark.parametrize("more", [None, "false", 0])
def test_a_page_that_does_not_say_whether_it_is_the_last_tells_nothing(more: Any) -> None:
    assert isinstance(refunds(200, page(REFUND, has_more=more)), Unknown)


def test_a_lookup_that_fails_is_not_empty() -> None:
    assert isinstance(refunds(404, error(code="resource_missing")), Unknown)
    assert isinstance(refunds(500, error("api_error")), Unknown)
