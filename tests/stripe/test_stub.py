"""The server that stands for Stripe, asked by Stripe's own client: keys, errors and pages are as documented."""

import threading
from typing import Any

import httpx
import pytest
import stripe

from tests.stripe.running import Stripe, start_stripe

PI = "pi_1001"
DAY = 24 * 3600


class Caller(stripe.HTTPClient):
    """Stripe's client over httpx, which repeats nothing."""

    name = "httpx"

    def request(self, method: str, url: str, headers: Any, post_data: Any = None, **_more: Any) -> Any:
        answer = httpx.request(method, url, headers=headers, content=post_data, timeout=10)
        self.seen = answer
        return answer.content, answer.status_code, answer.headers


@pytest.fixture
def caller(monkeypatch: pytest.MonkeyPatch) -> Caller:
    monkeypatch.setattr(stripe, "enable_telemetry", False)  # it would write a file
    return Caller()


@pytest.fixture
def client(server: Stripe, caller: Caller) -> stripe.StripeClient:
    return stripe.StripeClient(
        server.secret, http_client=caller, base_addresses={"api": server.url}, max_network_retries=0
    )


def refund(client: stripe.StripeClient, key: str, amount: int = 500, payment: str = PI) -> stripe.Refund:
    asked: Any = {"payment_intent": payment, "amount": amount, "metadata": {"reference": "rk1"}}
    return client.v1.refunds.create(asked, {"idempotency_key": key})


def test_a_payment_is_shown_with_what_was_refunded_of_it(server: Stripe, client: stripe.StripeClient) -> None:
    server.seed(PI, 10_00)
    made = refund(client, "k-1")
    assert (made.status, made.amount, made.currency) == ("succeeded", 500, "eur")
    shown = client.v1.payment_intents.retrieve(PI, {"expand": ["latest_charge"]})
    assert isinstance(shown.latest_charge, stripe.Charge)
    assert shown.latest_charge.amount_refunded == 500
    assert client.v1.charges.retrieve(shown.latest_charge.id).amount_captured == 10_00


def test_the_same_key_replays_and_refunds_once(server: Stripe, client: stripe.StripeClient, caller: Caller) -> None:
    server.seed(PI, 10_00)
    first = refund(client, "k-1")
    assert "Idempotent-Replayed" not in caller.seen.headers
    assert refund(client, "k-1").id == first.id
    assert caller.seen.headers["Idempotent-Replayed"] == "true"
    assert len(server.refunds()) == len(server.effects()) == 1


def test_the_same_key_with_other_parameters_is_refused(server: Stripe, client: stripe.StripeClient) -> None:
    server.seed(PI, 10_00)
    refund(client, "k-1")
    with pytest.raises(stripe.IdempotencyError) as raised:
        refund(client, "k-1", amount=600)
    assert raised.value.http_status == 400


@pytest.mark.parametrize(("kind", "refunds"), [("500_before", 0), ("500_after_commit", 1)])
def test_a_500_is_kept_under_its_key(server: Stripe, client: stripe.StripeClient, kind: str, refunds: int) -> None:
    server.seed(PI, 10_00)
    server.fault(kind)
    for _ in range(2):
        with pytest.raises(stripe.APIError):
            refund(client, "k-1")
    assert [call["replayed"] for call in server.ledger()] == [False, True]
    assert len(server.refunds()) == refunds


def test_a_refusal_of_the_endpoint_is_kept_and_one_before_it_is_not(
    server: Stripe, client: stripe.StripeClient
) -> None:
    server.seed(PI, 10_00)
    with pytest.raises(stripe.InvalidRequestError):
        refund(client, "k-1", amount=20_00)
    with pytest.raises(stripe.InvalidRequestError):
        refund(client, "k-1", amount=20_00)
    assert server.ledger()[-1]["replayed"]
    wrong: Any = {"payment_intent": PI, "amount": "ten"}
    with pytest.raises(stripe.InvalidRequestError):
        client.v1.refunds.create(wrong, {"idempotency_key": "k-2"})
    assert refund(client, "k-2").status == "succeeded"


@pytest.mark.parametrize("kind", ["429", "lock_timeout"])
def test_a_limit_comes_before_the_key(server: Stripe, client: stripe.StripeClient, kind: str) -> None:
    server.seed(PI, 10_00)
    server.fault(kind)
    with pytest.raises(stripe.RateLimitError):
        refund(client, "k-1")
    assert refund(client, "k-1").status == "succeeded"


def test_a_key_in_use_is_a_conflict(server: Stripe, client: stripe.StripeClient) -> None:
    server.seed(PI, 10_00)
    server.fault("commit_late")
    first = threading.Thread(target=refund, args=(client, "k-1"))
    first.start()
    server.wait_held()
    with pytest.raises(stripe.APIError) as raised:
        refund(client, "k-1")
    assert (raised.value.http_status, server.refunds()) == (409, [])
    assert server.release() == 1
    first.join()
    assert len(server.refunds()) == 1


def test_keys_are_forgotten_after_a_day(server: Stripe, client: stripe.StripeClient) -> None:
    server.seed(PI, 10_00)
    refund(client, "k-1")
    server.advance(DAY - 60)
    refund(client, "k-1")
    assert len(server.refunds()) == 1
    server.advance(120)
    refund(client, "k-1")
    assert len(server.refunds()) == 2


def test_the_life_of_keys_can_be_set(caller: Caller) -> None:
    with start_stripe(key_life=0) as server:
        server.seed(PI, 10_00)
        client = stripe.StripeClient(server.secret, http_client=caller, base_addresses={"api": server.url})
        assert refund(client, "k-1").id != refund(client, "k-1").id


def test_never_more_than_was_taken(server: Stripe, client: stripe.StripeClient) -> None:
    server.seed(PI, 10_00)
    refund(client, "k-1", amount=6_00)
    with pytest.raises(stripe.InvalidRequestError) as raised:
        refund(client, "k-2", amount=6_00)
    assert raised.value.param == "amount"
    refund(client, "k-3", amount=4_00)
    with pytest.raises(stripe.InvalidRequestError) as again:
        refund(client, "k-4", amount=1)
    assert again.value.code == "charge_already_refunded"


def test_refunds_are_listed_in_pages_newest_first(server: Stripe, client: stripe.StripeClient) -> None:
    server.seed(PI, 10_00)
    server.seed("pi_1002", 10_00)
    refund(client, "k-other", payment="pi_1002")
    made = [refund(client, f"k-{n}", amount=1).id for n in range(5)]
    first = client.v1.refunds.list({"payment_intent": PI, "limit": 2})
    assert ([one.id for one in first.data], first.has_more) == ([made[4], made[3]], True)
    rest = client.v1.refunds.list({"payment_intent": PI, "limit": 3, "starting_after": made[3]})
    assert ([one.id for one in rest.data], rest.has_more) == ([made[2], made[1], made[0]], False)


def test_what_is_not_there_and_who_may_not(server: Stripe, client: stripe.StripeClient, caller: Caller) -> None:
    for look in (client.v1.payment_intents.retrieve, client.v1.charges.retrieve):
        with pytest.raises(stripe.InvalidRequestError) as raised:
            look("pi_none")
        assert (raised.value.http_status, raised.value.code) == (404, "resource_missing")
    wrong = stripe.StripeClient("sk_wrong", http_client=caller, base_addresses={"api": server.url})
    with pytest.raises(stripe.AuthenticationError):
        refund(wrong, "k-1")


def test_an_unknown_fault_is_a_mistake(server: Stripe) -> None:
    with pytest.raises(AssertionError, match="no such fault"):
        server.fault("sleepy")
