"""The Stripe adapter against a server that behaves as Stripe documents: what is sent, what comes of it."""

import threading
from contextlib import closing
from decimal import Decimal
from typing import Any

import pytest
from pydantic import SecretStr

from booking.errors import ErrorCode
from booking.outcomes import Done, Misconfigured, NotSent, Payment, Rejected, Unknown
from providers.ports import Payments
from tests.providers.lines import in_time
from tests.stripe.answers import CHARGE, DONE, INTENT, OURS, REFUND, adapter, error, give_back, look
from tests.stripe.running import Stripe
from tests.waiting import eventually

LOST: list[dict[str, Any]] = [
    {"kind": "commit_then_timeout"},
    {"kind": "reset_after_commit"},
    {"kind": "500_after_commit"},
    {"kind": "trickle", "seconds": 0.01},
    {"kind": "html", "commit": True},
    {"kind": "html", "status": 200, "commit": True},
    {"kind": "answer", "status": 200, "body": error("api_error"), "commit": True},
    {"kind": "answer", "status": 302, "headers": {"Location": "/v1/refunds"}, "commit": True},
    {"kind": "answer", "status": 503, "commit": True},
    {"kind": "answer", "status": 200, "body": REFUND | {"currency": "usd"}, "commit": True},
    {"kind": "answer", "status": 200, "body": REFUND | {"status": "requires_action"}, "commit": True},
]


@pytest.fixture
def stripe(server: Stripe) -> Payments:
    server.seed(INTENT, 18_00)
    return adapter(server.url)


def test_a_refund_is_made_and_found_again(server: Stripe, stripe: Payments) -> None:
    assert give_back(stripe) == Done(DONE)
    (refund,) = look(stripe)
    assert (refund.refund_id, refund.amount, refund.live) == ("re_1001", Decimal("10.50"), True)
    assert look(stripe, reference="rkbbbbbbbbbbbbbbbbbb") == []
    assert [one["amount"] for one in server.refunds()] == [10_50]


def test_what_leaves_is_one_form_under_our_key_and_nothing_of_this_machine(server: Stripe, stripe: Payments) -> None:
    give_back(stripe, key="demo:refund:9f:0")
    (call,) = server.ledger()
    assert call["form"] == {"amount": "1050", "payment_intent": INTENT, "metadata[reference]": OURS}
    assert call["key"] == "demo:refund:9f:0"
    sent = call["headers"]
    assert sent["user-agent"] == "roomkey"
    assert sent["content-type"] == "application/x-www-form-urlencoded"
    assert set(sent) == {
        *("host", "connection", "accept", "accept-encoding", "content-length"),
        *("user-agent", "content-type", "authorization", "idempotency-key", "stripe-version"),
    }
    look(stripe)
    stripe.get_payment(stripe.connect(), INTENT)
    assert [call["key"] for call in server.ledger(method="GET")] == [None, None]


def test_a_charge_is_refunded_as_one(server: Stripe) -> None:
    stripe = adapter(server.url)
    server.seed(CHARGE, 18_00)
    assert give_back(stripe, payment=CHARGE) == Done(DONE | {"payment_id": CHARGE})
    assert "payment_intent" not in server.ledger()[0]["form"]
    assert len(look(stripe, CHARGE)) == 1


@pytest.mark.parametrize(
    ("currency", "taken", "amount", "units", "told"),
    [("JPY", 5000, "1000", 1000, "1000"), ("KWD", 50_000, "5.12", 5120, "5.120"), ("ISK", 5000_00, "5", 500, "5.00")],
)
def test_minor_units_are_the_currencys(
    server: Stripe, currency: str, taken: int, amount: str, units: int, told: str
) -> None:
    server.seed(INTENT, taken, currency.lower())
    outcome = give_back(adapter(server.url), amount, currency=currency)
    assert isinstance(outcome, Done)
    assert (outcome.result["amount"], outcome.result["currency"]) == (told, currency)
    assert [one["amount"] for one in server.refunds()] == [units]


def test_the_bytes_are_canonical_and_the_same_for_the_same_refund() -> None:
    stripe = adapter(None)
    expected = b'{"amount":1050,"currency":"EUR","payment":"pi_1001","reference":"rk1"}'
    for amount in ("10.5", "10.50", "105E-1"):
        assert stripe.refund_body(INTENT, Decimal(amount), "EUR", "rk1") == expected


@pytest.mark.parametrize(
    ("amount", "currency"),
    [("10.005", "EUR"), ("10.50", "JPY"), ("0", "EUR"), ("NaN", "EUR"), ("1E+30", "EUR"), ("1", "UGX")],
)
def test_an_amount_that_the_currency_does_not_have_is_refused_unsent(
    server: Stripe, stripe: Payments, amount: str, currency: str
) -> None:
    with closing(stripe.connect()) as line:
        outcome = stripe.refund(line, stripe.refund_body(INTENT, Decimal(amount), currency, OURS), "k-1")
    assert isinstance(outcome, Rejected)
    assert (outcome.row, outcome.values["field"]) == ("refused_argument", "amount.amount")
    assert currency in outcome.values["problem"]
    assert server.ledger() == []


@pytest.mark.parametrize("payment", ["P-501", "re_1", "pi_", "pi_1/../../v1/balance", "pi_1?x=1", "ch_1 ", ""])
def test_an_id_that_is_none_of_stripes_never_leaves(server: Stripe, stripe: Payments, payment: str) -> None:
    with closing(stripe.connect()) as line:
        for outcome in (
            stripe.get_payment(line, payment),
            stripe.refund(line, stripe.refund_body(payment, Decimal(1), "EUR", OURS), "k-1"),
        ):
            assert isinstance(outcome, Rejected)
            assert (outcome.row, outcome.values) == ("not_found", {"what": "The payment"})
        assert stripe.find_refunds(line, payment, OURS) == []
    assert server.ledger() == []


def test_what_is_left_of_a_payment(server: Stripe, stripe: Payments) -> None:
    assert stripe.get_payment(stripe.connect(), INTENT) == Payment(INTENT, "EUR", Decimal("18.00"))
    give_back(stripe)
    assert stripe.get_payment(stripe.connect(), INTENT) == Payment(INTENT, "EUR", Decimal("7.50"))
    assert stripe.get_payment(stripe.connect(), CHARGE) == Payment(CHARGE, "EUR", Decimal("7.50"))
    server.seed("pi_unpaid", 18_00, paid=False)
    assert stripe.get_payment(stripe.connect(), "pi_unpaid") == Payment("pi_unpaid", "EUR", Decimal(0))
    for missing in ("pi_none", "ch_none"):
        outcome = stripe.get_payment(stripe.connect(), missing)
        assert isinstance(outcome, Rejected)
        assert outcome.row == "not_found"


def test_the_same_key_gives_the_money_back_once(server: Stripe, stripe: Payments) -> None:
    assert give_back(stripe) == give_back(stripe) == Done(DONE)
    assert [call["replayed"] for call in server.ledger()] == [False, True]
    assert len(server.refunds()) == 1


def test_the_same_key_with_another_amount_is_in_doubt(server: Stripe, stripe: Payments) -> None:
    give_back(stripe)
    assert isinstance(give_back(stripe, "3"), Unknown)
    assert len(server.refunds()) == 1


def test_a_key_in_use_is_in_doubt_and_the_first_call_still_counts(server: Stripe, stripe: Payments) -> None:
    server.fault("commit_late")
    first = threading.Thread(target=give_back, args=(stripe,))
    first.start()
    server.wait_held()
    outcome = give_back(stripe)
    assert isinstance(outcome, Unknown)
    assert outcome.cause == "HTTP 409 invalid_request_error idempotency_key_in_use"
    first.join()
    assert look(stripe) == []
    assert server.release() == 1
    eventually(server.refunds)
    assert give_back(stripe) == Done(DONE)
    assert len(server.refunds()) == 1


@pytest.mark.parametrize("fault", LOST, ids=lambda fault: f"{fault['kind']}-{fault.get('status', '')}")
def test_a_refund_whose_answer_is_lost_is_unknown_found_and_not_repeated(
    server: Stripe, stripe: Payments, fault: dict[str, Any]
) -> None:
    server.fault(**fault)
    assert isinstance(give_back(stripe), Unknown)
    assert len(look(stripe)) == len(server.refunds()) == 1
    assert len(server.ledger(operation="refund")) == 1  # nothing below repeats a call


def test_a_kept_500_stays_in_doubt_and_gives_nothing_back_twice(server: Stripe, stripe: Payments) -> None:
    server.fault("500_after_commit")
    for _ in range(2):
        assert isinstance(give_back(stripe), Unknown)
    assert len(server.refunds()) == 1


def test_a_500_before_the_effect_is_in_doubt_too(server: Stripe, stripe: Payments) -> None:
    server.fault("500_before")
    assert isinstance(give_back(stripe), Unknown)
    assert look(stripe) == server.refunds() == []


@pytest.mark.parametrize("kind", ["429", "lock_timeout"])
def test_a_limit_carries_the_wait_and_spends_no_key(server: Stripe, stripe: Payments, kind: str) -> None:
    server.fault(kind, retry_after="3")
    outcome = give_back(stripe)
    assert isinstance(outcome, NotSent)
    assert (outcome.code, outcome.retry_after) == (ErrorCode.RATE_LIMITED, 3)
    assert give_back(stripe) == Done(DONE)


@pytest.mark.parametrize(
    ("seed", "asked", "row", "values"),
    [
        ({}, {"amount": "18.01"}, "refused_argument", {"field": "amount.amount"}),
        ({"refunded": 18_00}, {}, "refused_argument", {"field": "amount.amount"}),
        ({}, {"payment": "pi_none"}, "not_found", {"what": "The payment"}),
        ({"disputed": True}, {}, "denied", {}),
        ({"refund_status": "failed"}, {}, "denied", {}),
        ({"refund_status": "canceled"}, {}, "denied", {}),
    ],
)
def test_a_refusal_names_its_row_and_its_repeat_is_one_too(
    server: Stripe, seed: Any, asked: Any, row: str, values: dict[str, str]
) -> None:
    server.seed(INTENT, 18_00, **seed)
    for _ in range(2):
        outcome = give_back(adapter(server.url), **asked)
        assert isinstance(outcome, Rejected)
        assert outcome.row == row
        assert outcome.values.items() >= values.items()


def test_a_refund_that_waits_for_the_guest_is_neither_made_nor_absent(server: Stripe) -> None:
    server.seed(INTENT, 18_00, refund_status="requires_action")
    stripe = adapter(server.url)
    assert isinstance(give_back(stripe), Unknown)
    assert isinstance(look(stripe), Unknown)


def test_a_failed_refund_is_found_and_not_live(server: Stripe) -> None:
    server.seed(INTENT, 18_00, refund_status="failed")
    stripe = adapter(server.url)
    give_back(stripe)
    assert [refund.live for refund in look(stripe)] == [False]


def test_more_refunds_than_a_page_holds_prove_no_absence(server: Stripe, stripe: Payments) -> None:
    server.seed(INTENT, 200)
    for n in range(100):
        give_back(stripe, "0.01", reference=f"rk{n:018d}", key=f"k-{n}")
    assert look(stripe) == []
    assert len(look(stripe, reference=f"rk{0:018d}")) == 1
    give_back(stripe, "0.01", reference="rk-last", key="k-last")
    assert isinstance(look(stripe), Unknown)
    assert len(look(stripe, reference="rk-last")) == 1


def test_a_wrong_or_too_small_key_is_our_mistake(server: Stripe) -> None:
    stripe = adapter(server.url, token=SecretStr("sk_wrong"))
    server.seed(INTENT, 18_00)
    for outcome in (give_back(stripe), look(stripe), stripe.get_payment(stripe.connect(), INTENT)):
        assert isinstance(outcome, Misconfigured)
        assert outcome.certain
    server.fault("answer", status=403, body=error())
    assert give_back(adapter(server.url)) == Misconfigured("HTTP 403 invalid_request_error")


def test_a_lookup_that_fails_is_not_empty(server: Stripe, stripe: Payments) -> None:
    impatient = adapter(server.url, read_deadline=0.3)
    for fault in ({"kind": "answer", "status": 503}, {"kind": "html"}, {"kind": "trickle", "seconds": 0.1}):
        server.fault(**fault, times=2)
        with in_time(0.3):
            assert isinstance(look(impatient), Unknown)
        with in_time(0.3):
            assert isinstance(impatient.get_payment(impatient.connect(), INTENT), Unknown)
