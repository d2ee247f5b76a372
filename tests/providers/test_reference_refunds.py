"""Refunds at a hotel system of the reference contract: sent once, found again, and told by positive rules."""

import json
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from booking.effects import Effect, words
from booking.errors import ErrorCode, tool_error
from booking.outcomes import Done, Misconfigured, NotSent, Refund, Rejected, Unknown
from booking.settings import Mode, Provider
from providers.line import Reply
from providers.ports import Payments
from providers.reference import capabilities_of, reference_pms
from providers.reference_payments import refund_body, refund_request
from providers.refund_replies import classify_refund, classify_refunds
from tests.pms import Pms as Simulator
from tests.pms import start_simulator
from tests.providers.answers import NOW, OURS, error, reply
from tests.providers.test_replies_any import anything, as_json, nearly, parsed, said

TOKEN = "s3cret-t0ken"
PAYMENT, OF_AN_AGENCY = "P-501", "P-504"
REFUND: dict[str, Any] = {
    "refund_id": "R-1001",
    "payment_id": PAYMENT,
    "booking_id": None,
    "reference": OURS,
    "amount": "80.00",
    "currency": "EUR",
    "status": "refunded",
}
ASKED = {"payment_id": PAYMENT, "amount": "80", "currency": "EUR", "reference": OURS}
LOST: list[dict[str, Any]] = [
    {"kind": "commit_then_timeout"},
    {"kind": "reset_after_commit"},
    {"kind": "trickle", "part": "both"},
    {"kind": "truncated"},
    {"kind": "big"},
    {"kind": "without_id"},
    {"kind": "html", "when": "after"},
    {"kind": "status", "status": 503, "when": "after"},
    {"kind": "ok_with_error", "when": "after"},
    {"kind": "redirect", "location": "/v1/refunds", "when": "after"},
]


@pytest.fixture(scope="module")
def running() -> Iterator[Simulator]:
    with start_simulator(token=TOKEN) as simulator:
        yield simulator


@pytest.fixture
def simulator(running: Simulator) -> Simulator:
    running.clear_faults()
    running.reset()
    running.clear_ledger()
    return running


def adapter(simulator: Simulator, **more: Any) -> Payments:
    return reference_pms(Provider(**{"token": SecretStr(TOKEN), "write_deadline": 0.5} | more), simulator.url)


def give_back(pms: Payments, amount: str = "80", payment: str = PAYMENT, currency: str = "EUR") -> Any:
    return pms.refund(pms.connect(), pms.refund_body(payment, Decimal(amount), currency, OURS), "k-1")


def found(pms: Payments, reference: str = OURS) -> Any:
    return pms.find_refunds(pms.connect(), PAYMENT, reference)


def refunded(simulator: Simulator) -> Decimal:
    return Decimal(next(one["refunded"] for one in simulator.payments() if one["payment_id"] == PAYMENT))


def test_a_refund_is_made_and_found_again(simulator: Simulator) -> None:
    pms = adapter(simulator)
    made = give_back(pms)
    assert isinstance(made, Done)
    assert made.result.pop("refund_id")
    assert made.result == {"payment_id": PAYMENT, "amount": "80", "currency": "EUR"}
    (refund,) = found(pms)
    assert (refund.amount, refund.currency, refund.payment_id, refund.live) == (Decimal(80), "EUR", PAYMENT, True)
    assert found(pms, "rkbbbbbbbbbbbbbbbbbb") == []
    assert refunded(simulator) == 80


def test_the_same_key_and_bytes_give_the_money_back_once(simulator: Simulator) -> None:
    pms = adapter(simulator)
    assert give_back(pms) == give_back(pms)
    assert refunded(simulator) == 80


@pytest.mark.parametrize(
    ("mode", "key", "given"), [("keyed", "k-1", 80), ("lookup-only", None, 160), ("blind", None, 160)]
)
def test_only_a_keyed_system_is_sent_the_key(simulator: Simulator, mode: str, key: str | None, given: int) -> None:
    simulator.set_mode(mode)
    pms = adapter(simulator, mode=Mode(mode))
    for _ in range(2):
        assert isinstance(give_back(pms), Done)
    assert [call["key"] for call in simulator.ledger(reference=OURS)] == [key, key]
    assert refunded(simulator) == given


def test_a_blind_system_cannot_be_looked_up(simulator: Simulator) -> None:
    simulator.set_mode("blind")
    assert isinstance(found(adapter(simulator, mode=Mode.BLIND)), Unknown)


def test_what_each_mode_declares_of_refunds() -> None:
    keyed, lookup_only, blind = (capabilities_of(Provider(mode=mode)) for mode in Mode)
    assert keyed.honours_key("refund")
    assert not lookup_only.honours_key("refund")
    assert not blind.honours_key("refund")
    assert (keyed.can_look_up, lookup_only.can_look_up, blind.can_look_up) == (True, True, False)
    assert keyed.shows == lookup_only.shows == blind.shows == {"change", "cancel"}


def test_no_payment_is_shown(simulator: Simulator) -> None:
    pms = adapter(simulator)
    with closing(pms.connect()) as line, pytest.raises(NotImplementedError):
        pms.get_payment(line, PAYMENT)


def test_the_bytes_are_the_same_for_the_same_refund() -> None:
    body = refund_body(PAYMENT, Decimal("8E+1"), "EUR", OURS)
    assert body == b'{"payment_id":"P-501","amount":"80","currency":"EUR","reference":"%s"}' % OURS.encode()
    path, sent = refund_request(json.loads(refund_body("P/5?0", Decimal("80.00"), "EUR", OURS)))
    assert path == "/v1/payments/P%2F5%3F0/refunds"
    assert sent == b'{"amount":"80.00","currency":"EUR","reference":"%s"}' % OURS.encode()


@pytest.mark.parametrize(
    ("asked", "row", "values"),
    [
        (
            {"amount": "180.01"},
            "refused_argument",
            {"field": "amount.amount", "problem": "at most 180.00 EUR can be refunded"},
        ),
        ({"currency": "USD"}, "refused_argument", {"field": "amount.currency", "problem": "this payment is in EUR"}),
        ({"amount": "1.001"}, "refused_argument", {"field": "amount.amount"}),
        ({"payment": "P-1"}, "not_found", {"what": "The payment"}),
        ({"payment": OF_AN_AGENCY}, "denied", {}),
    ],
)
def test_a_refusal_names_its_row(simulator: Simulator, asked: Any, row: str, values: dict[str, str]) -> None:
    outcome = give_back(adapter(simulator), **asked)
    assert isinstance(outcome, Rejected)
    assert outcome.row == row
    assert outcome.values.items() >= values.items()
    assert simulator.effects() == []


def test_a_refusal_that_is_about_rooms_says_nothing_of_a_refund() -> None:
    price = {"amount": "190.00", "currency": "EUR"}
    for body in (error("sold_out"), error("price_changed", price=price)):
        assert isinstance(classify_refund(reply(409, body), ASKED, NOW), Unknown)


@pytest.mark.parametrize("fault", LOST, ids=lambda fault: fault["kind"])
def test_a_refund_whose_answer_is_lost_is_unknown_and_found(simulator: Simulator, fault: dict[str, Any]) -> None:
    pms = adapter(simulator)
    simulator.fault(**fault, match={"operation": "refund"})
    assert isinstance(give_back(pms), Unknown)
    assert len(found(pms)) == 1
    assert len(simulator.ledger(reference=OURS, method="POST")) == 1  # nothing below repeats a call


def test_a_429_carries_the_wait(simulator: Simulator) -> None:
    simulator.fault(kind="rate_limited", retry_after="3", times=2)
    for outcome in (give_back(adapter(simulator)), found(adapter(simulator))):
        assert isinstance(outcome, NotSent)
        assert (outcome.code, outcome.retry_after) == (ErrorCode.RATE_LIMITED, 3)
    assert simulator.effects() == []


def test_a_wrong_token_is_our_mistake(simulator: Simulator) -> None:
    pms = adapter(simulator, token=SecretStr("wrong"))
    for outcome in (give_back(pms), found(pms)):
        assert isinstance(outcome, Misconfigured)
        assert outcome.certain


def test_a_lookup_that_fails_is_not_empty(simulator: Simulator) -> None:
    pms = adapter(simulator, read_deadline=0.5)
    for fault in ({"kind": "status", "status": 503}, {"kind": "reset_before_commit"}, {"kind": "trickle"}):
        simulator.fault(**fault)
        assert isinstance(found(pms), Unknown)
        simulator.clear_faults()


@pytest.mark.parametrize(
    "change",
    [
        {"refund_id": None},
        {"refund_id": ""},
        {"payment_id": "P-502"},
        {"reference": OURS + "0"},
        {"reference": None},
        {"amount": "80.01"},
        {"amount": "8E+1"},
        {"amount": None},
        {"amount": True},
        {"currency": "USD"},
        {"currency": "eur"},
        {"status": "pending"},
        {"status": None},
        {"error": None},
    ],
    ids=str,
)
def test_a_confirmation_of_anything_else_is_unknown(change: dict[str, Any]) -> None:
    assert isinstance(classify_refund(reply(201, REFUND), ASKED, NOW), Done)
    assert isinstance(classify_refund(reply(201, REFUND | change), ASKED, NOW), Unknown)


@pytest.mark.parametrize("amount", [80, 80.0, "80", "80.0", "80.000"])
def test_an_amount_counts_however_it_is_written(amount: Any) -> None:
    assert isinstance(classify_refund(reply(201, REFUND | {"amount": amount}), ASKED, NOW), Done)


@pytest.mark.parametrize(
    "entry", [None, {}, error("internal"), REFUND | {"status": "failed"}, REFUND | {"amount": "much"}]
)
def test_an_unreadable_entry_is_never_dropped(entry: Any) -> None:
    assert isinstance(classify_refunds(reply(200, {"refunds": [REFUND, entry]}), PAYMENT, OURS, NOW), Unknown)


def test_our_reference_on_another_payment_is_not_an_answer() -> None:
    foreign = reply(200, {"refunds": [REFUND | {"payment_id": "P-502"}]})
    assert isinstance(classify_refunds(foreign, PAYMENT, OURS, NOW), Unknown)
    assert classify_refunds(foreign, PAYMENT, "rkzzzzzzzzzzzzzzzzzz", NOW) == []


REFUSALS = {(400, "invalid"), (422, "invalid"), (404, "not_found"), (403, "forbidden")}
codes = st.sampled_from(["sold_out", "price_changed", "invalid", "not_found", "forbidden", "key_reused", "other"])
errors = st.builds(
    lambda fields, code: {"error": {**fields, "code": code}}, nearly({"message": "no", "field": "amount"}), codes
)
statuses = st.integers(100, 599) | st.sampled_from([200, 201, 400, 403, 404, 409, 422, 429])
bodies = st.one_of(
    as_json(nearly(REFUND) | errors | said | anything),
    as_json(st.fixed_dictionaries({"refunds": st.lists(nearly(REFUND), max_size=3)})),
    st.sampled_from([b"", b"<html>", b"[" * 100_000, b"\xff", b'"\\ud800"', b'{"amount": ' + b"1" * 5000 + b"}"]),
    st.binary(max_size=40),
)
replies = st.builds(Reply, statuses, st.dictionaries(st.just("retry-after"), st.text(max_size=20)), bodies)


@settings(deadline=None, max_examples=300)
@given(replies)
def test_a_refund_is_done_or_refused_only_by_what_the_answer_says(answer: Reply) -> None:
    outcome = classify_refund(answer, ASKED, NOW)
    body = parsed(answer)
    match outcome:
        case Done(result):
            assert answer.status in (200, 201)
            assert "error" not in body
            assert (body["reference"], body["payment_id"], body["status"]) == (OURS, PAYMENT, "refunded")
            assert Decimal(str(body["amount"])) == 80
            assert result == {"refund_id": body["refund_id"], "payment_id": PAYMENT, "amount": "80", "currency": "EUR"}
        case Rejected():
            assert (answer.status, body["error"]["code"]) in REFUSALS
            assert tool_error(outcome.row, **outcome.values, **words(Effect.REFUND)).message.isprintable()
        case NotSent():
            assert answer.status == 429
        case Misconfigured():
            assert answer.status in (401, 403, 404, 405)
        case _:
            assert isinstance(outcome, Unknown)


@settings(deadline=None, max_examples=300)
@given(replies)
def test_a_lookup_gives_a_list_only_by_what_the_answer_says(answer: Reply) -> None:
    listed = classify_refunds(answer, PAYMENT, OURS, NOW)
    match listed:
        case list():
            assert answer.status == 200
            ours = [entry["refund_id"] for entry in parsed(answer)["refunds"] if entry["reference"] == OURS]
            assert [refund.refund_id for refund in listed] == ours
            assert all(isinstance(refund, Refund) and refund.payment_id == PAYMENT for refund in listed)
        case NotSent():
            assert answer.status == 429
        case Misconfigured():
            assert answer.status in (401, 403, 404, 405) or 300 <= answer.status < 400
        case _:
            assert isinstance(listed, Unknown)
