"""The adapter for Stripe. Its own package makes the requests; they go over our line, and the answers are read here.

The package would open its own connections, send again what failed, and read any 2xx as a refund. So its HTTP client is
replaced by one that sends exactly one request on a line that is open already, and hands the answer to the rules of
`providers.stripe_replies` before the package sees it.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import inf
from typing import TYPE_CHECKING, Any, NoReturn

import stripe

from booking.capabilities import Capabilities, ReferenceMatch
from booking.keys import canonical
from booking.outcomes import NotSent, Outcome, Payment, Rejected, Unknown
from booking.settings import Provider
from providers.line import Broken, HttpLine, NothingSent, Reply, address_of, open_line
from providers.ports import Line, NoAnswer, Refunds
from providers.stripe_amounts import minor_units
from providers.stripe_replies import (
    NOT_FOUND,
    Asked,
    classify_payment,
    classify_refund,
    classify_refunds,
    paid_by,
)

if TYPE_CHECKING:
    from stripe.params import RefundCreateParams, RefundListParams

#: Stripe keeps keys for at least 24 h from its first sight of them; an hour is for clocks and a late first sight.
KEY_LIFE = timedelta(hours=23)
#: As many as a page may hold; a payment with more refunds than that has been given back in hundredths.
_PAGE = 100
#: An intent, or a charge by card (ch) or by another way (py). No other id ever leaves.
_PAYMENT = re.compile(r"(pi|ch|py)_[A-Za-z0-9_]{1,200}")
_SECRET = re.compile(r"[A-Za-z0-9_]{1,255}")
#: What of the package's headers goes out: not the ones that tell of this machine and of earlier calls.
_HEADERS = ("Authorization", "Content-Type", "Idempotency-Key", "Stripe-Version")


def stripe_payments(provider: Provider) -> "StripePayments":
    """The adapter for the account whose secret key is the provider's token; without a url, at Stripe's own address.

    Raises ValueError for a url or token that can't be used.
    """
    url = provider.url or stripe.DEFAULT_API_BASE
    address_of(url)
    secret = provider.token.get_secret_value() if provider.token is not None else ""
    if not _SECRET.fullmatch(secret):
        raise ValueError("Stripe needs a secret key as its token: letters, digits and underscores")
    return StripePayments(url, secret, _capabilities(provider))


def _capabilities(provider: Provider) -> Capabilities:
    return Capabilities(
        keyed=frozenset({"refund"}),
        key_life=min(provider.key_life, KEY_LIFE),
        key_locks=True,
        key_survives_errors=True,
        reference_match=ReferenceMatch.EXACT,
        settle_time=timedelta(seconds=provider.settle_time),
        # Stripe may still finish what it answered with a 500: only who declares it takes absence for proof.
        absence_provable=provider.absence_provable is True,
        write_deadline=provider.write_deadline,
        read_deadline=provider.read_deadline,
        idle_timeout=timedelta(seconds=provider.idle_timeout),
        shows=frozenset({"refund"}),
    )


class StripePayments:
    """A `providers.ports.Payments`. One instance serves all threads: it holds no connection."""

    def __init__(self, url: str, secret: str, capabilities: Capabilities) -> None:
        self._url = url
        self._secret = secret
        self._capabilities = capabilities
        # The package's one switch for it. Left on, it writes an id of this machine into the home folder.
        stripe.enable_telemetry = False

    @property
    def capabilities(self) -> Capabilities:
        """What the provider declares about itself."""
        return self._capabilities

    def connect(self, within: float = inf) -> Line:
        """Open a fresh line within `connect_deadline` and `within` seconds, or raise Unreachable."""
        return open_line(self._url, min(self._capabilities.connect_deadline, within))

    def get_payment(self, line: Line, payment_id: str) -> Payment | NoAnswer:
        """The payment with this id (pi_… or ch_…), and what can still be given back of it."""
        if not _PAYMENT.fullmatch(payment_id):
            return _no_such_payment()

        def call(client: stripe.StripeClient) -> object:
            if paid_by(payment_id) == "charge":
                return client.v1.charges.retrieve(payment_id)
            # The intent itself doesn't tell what was refunded; its charge does.
            return client.v1.payment_intents.retrieve(payment_id, {"expand": ["latest_charge"]})

        reply = self._ask(line, self._capabilities.read_deadline, call)
        return classify_payment(reply, payment_id, datetime.now(UTC)) if isinstance(reply, Reply) else reply

    def refund_body(self, payment_id: str, amount: Decimal, currency: str, reference: str) -> bytes:
        """The bytes that stand for a refund: the amount in minor units, or as text where it has none."""
        try:
            counted: int | str = minor_units(amount, currency)
        except ValueError:
            counted = str(amount)  # `refund` refuses it: this is no place to fail
        return canonical({"payment": payment_id, "amount": counted, "currency": currency, "reference": reference})

    def refund(self, line: Line, body: bytes, key: str) -> Outcome:
        """Give money back once, within `write_deadline`. `body` is from `refund_body`.

        An id that is none of Stripe's, and an amount that the currency doesn't have, are refused without sending.
        """
        values = json.loads(body)
        payment, amount = values["payment"], values["amount"]
        if not _PAYMENT.fullmatch(payment):
            return _no_such_payment()
        if not isinstance(amount, int):
            return _no_such_amount(amount, values["currency"])
        asked = Asked(payment, amount, values["currency"], values["reference"])

        def call(client: stripe.StripeClient) -> object:
            params: RefundCreateParams = {"amount": amount, "metadata": {"reference": asked.reference}}
            if paid_by(payment) == "charge":
                params["charge"] = payment
            else:
                params["payment_intent"] = payment
            return client.v1.refunds.create(params, {"idempotency_key": key})

        reply = self._ask(line, self._capabilities.write_deadline, call)
        return classify_refund(reply, asked, datetime.now(UTC)) if isinstance(reply, Reply) else reply

    def find_refunds(self, line: Line, payment_id: str, reference: str) -> Refunds:
        """All refunds of the payment that carry exactly `reference`, failed ones included, within `read_deadline`."""
        if not _PAYMENT.fullmatch(payment_id):
            return []  # `refund` has never sent one for such an id

        def call(client: stripe.StripeClient) -> object:
            params: RefundListParams = {"limit": _PAGE}
            if paid_by(payment_id) == "charge":
                params["charge"] = payment_id
            else:
                params["payment_intent"] = payment_id
            return client.v1.refunds.list(params)

        reply = self._ask(line, self._capabilities.read_deadline, call)
        return classify_refunds(reply, payment_id, reference, datetime.now(UTC)) if isinstance(reply, Reply) else reply

    def _ask(
        self, line: Line, deadline: float, call: Callable[[stripe.StripeClient], object]
    ) -> Reply | NotSent | Unknown:
        if not isinstance(line, HttpLine):
            raise TypeError("the line must come from connect()")
        try:
            call(self.client(_OneRequest(line, self._url, deadline)))
        except _Answered as answered:
            return answered.reply
        except NothingSent as failure:
            return NotSent(str(failure))
        except Broken as failure:
            return Unknown(str(failure))
        raise AssertionError("Stripe's package made no request")

    def client(self, http: stripe.HTTPClient) -> stripe.StripeClient:
        """Stripe's own client, which repeats nothing."""
        return stripe.StripeClient(
            self._secret, http_client=http, base_addresses={"api": self._url}, max_network_retries=0
        )


class _Answered(Exception):
    """The answer, on its way past the package."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply


class _OneRequest(stripe.HTTPClient):
    """The package's HTTP: one request on an open line. It always raises: _Answered, NothingSent or Broken."""

    name = "roomkey"

    def __init__(self, line: HttpLine, url: str, deadline: float) -> None:
        super().__init__()
        self._line = line
        self._url = url
        self._deadline = deadline

    def request(
        self, method: str, url: str, headers: Mapping[str, str] | None, post_data: Any = None, **_more: Any
    ) -> NoReturn:
        """Send it; none of what these exceptions are is what the package would send again after."""
        kept = {name: value for name, value in (headers or {}).items() if name in _HEADERS}
        common = {"Accept": "application/json", "User-Agent": "roomkey"}
        body = post_data.encode() if isinstance(post_data, str) else None
        path = url.removeprefix(self._url)
        raise _Answered(self._line.request(method.upper(), path, body, common | kept, self._deadline))


def _no_such_payment() -> Rejected:
    return Rejected("not_found", "not an id of Stripe; nothing was sent", NOT_FOUND)


def _no_such_amount(amount: str, currency: str) -> Rejected:
    try:
        minor_units(Decimal(amount), currency)
    except ValueError as error:
        problem = str(error)
    else:
        raise AssertionError("an amount that could be counted was stored as text")
    values = {"field": "amount.amount", "problem": problem}
    return Rejected("refused_argument", "not an amount of the currency; nothing was sent", values)
