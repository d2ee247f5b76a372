"""Rules that hold for every answer whatsoever, written down apart from the code that keeps them."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from booking.effects import Effect, words
from booking.errors import tool_error
from booking.outcomes import Done, Misconfigured, NotSent, Payment, Refund, Rejected, Unknown
from providers.line import Reply
from providers.stripe_replies import CODES, classify_payment, classify_refund, classify_refunds
from tests.providers.test_replies_any import anything, as_json, nearly, parsed
from tests.stripe.answers import ASKED, DONE, INTENT, NOW, OF_CHARGE, OF_INTENT, OURS, REFUND

SOON = datetime(2026, 12, 4, 18, 41, tzinfo=UTC)
NOT_REFUNDABLE = {"charge_already_refunded", "charge_disputed", "refund_disputed_payment", "charge_not_refundable"}

kinds = st.sampled_from(["api_error", "card_error", "idempotency_error", "invalid_request_error"])
params = st.sampled_from(["amount", "payment_intent", "charge", "metadata", None])
errors = st.builds(
    lambda right, kind, code, param: {"error": {**right, "type": kind, "code": code, "param": param}},
    nearly({"message": "no"}),
    kinds | anything,
    st.sampled_from(sorted(CODES)) | st.none() | anything,
    params | anything,
)
made = nearly(REFUND) | nearly(REFUND | {"status": "failed"})
of_intent = st.builds(lambda outer, inner: {**outer, "latest_charge": inner}, nearly(OF_INTENT), nearly(OF_CHARGE))
pages = st.builds(
    lambda right, entries, more: {**right, "data": entries, "has_more": more},
    nearly({"object": "list"}),
    st.lists(made, max_size=3) | anything,
    st.booleans() | anything,
)
bodies = st.one_of(
    as_json(made | errors | of_intent | nearly(OF_INTENT) | pages | anything),
    st.builds(lambda body, cut: body[:-cut], as_json(made | errors | pages), st.integers(1, 9)),
    st.sampled_from([b"", b"<html>", b"[" * 100_000, b"\xff", b'"\\ud800"', b'{"amount": ' + b"1" * 5000 + b"}"]),
    st.binary(max_size=40),
)
statuses = st.integers(100, 599) | st.sampled_from([200, 200, 200, 400, 400, 402, 404, 409, 429, 500])
replies = st.builds(Reply, statuses, st.dictionaries(st.just("retry-after"), st.text(max_size=20)), bodies)
MANY = settings(deadline=None, max_examples=300)


def may_refuse(status: int, body: Any) -> bool:
    """The documented ways to say that nothing was given back."""
    if status == 200:
        return bool(body["status"] in ("failed", "canceled"))
    error = body["error"]
    match status, error["type"]:
        case 402, "card_error":
            return True
        case 400, "invalid_request_error" if error.get("param") == "amount" or error.get("code") in NOT_REFUNDABLE:
            return True
        case ((400 | 404), "invalid_request_error"):
            return bool(error["code"] == "resource_missing")
    return False


@MANY
@given(replies)
def test_a_refund_is_done_or_refused_only_by_what_the_answer_says(reply: Reply) -> None:
    outcome = classify_refund(reply, ASKED, NOW)
    body = parsed(reply)
    match outcome:
        case Done(result):
            assert reply.status == 200
            assert "error" not in body
            assert body["status"] in ("succeeded", "pending")
            assert (body["amount"], body["currency"], body["payment_intent"]) == (1050, "eur", INTENT)
            assert body["metadata"]["reference"] == OURS
            assert result == DONE | {"refund_id": body["id"]}
        case Rejected():
            assert may_refuse(reply.status, body)
            assert tool_error(outcome.row, **outcome.values, **words(Effect.REFUND)).message.isprintable()
        case NotSent():
            assert reply.status == 429
        case Misconfigured():
            assert reply.status in (401, 403, 404, 405)
            assert outcome.certain is (reply.status == 401)
        case _:
            assert isinstance(outcome, Unknown)


@MANY
@given(replies)
def test_a_lookup_gives_a_list_only_by_what_the_answer_says(reply: Reply) -> None:
    listed = classify_refunds(reply, INTENT, OURS, SOON)
    match listed:
        case list():
            body = parsed(reply)
            assert reply.status == 200
            ours = [one["id"] for one in body["data"] if (one["metadata"] or {}).get("reference") == OURS]
            assert [refund.refund_id for refund in listed] == ours
            assert ours or body["has_more"] is False
            assert all(isinstance(refund, Refund) and refund.payment_id == INTENT for refund in listed)
        case NotSent():
            assert reply.status == 429
        case Misconfigured():
            assert reply.status in (401, 403, 404, 405) or 300 <= reply.status < 400
        case _:
            assert isinstance(listed, Unknown)


@MANY
@given(replies)
def test_a_payment_is_shown_only_by_what_the_answer_says(reply: Reply) -> None:
    shown = classify_payment(reply, INTENT, SOON)
    body = parsed(reply)
    match shown:
        case Payment(_, currency, left):
            charge = body["latest_charge"]
            assert (reply.status, body["id"]) == (200, INTENT)
            assert currency == body["currency"].upper()
            assert 0 <= left * 100 == (charge["amount_captured"] - charge["amount_refunded"] if charge else 0)
        case Rejected("denied"):
            assert body["currency"] == "ugx"
        case Rejected():
            assert reply.status in (400, 404)
            assert body["error"]["code"] == "resource_missing"
        case NotSent():
            assert reply.status == 429
        case Misconfigured():
            assert reply.status in (401, 403, 404, 405) or 300 <= reply.status < 400
        case _:
            assert isinstance(shown, Unknown)
