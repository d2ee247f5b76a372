"""One call to the Stripe-shaped server on its way: secret, fault, key, effect, and its line in the ledger."""

import hmac
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from tests.stripe.books import Books, Refusal, check
from tests.stripe.faults import EARLY, Fault, Faults
from tests.stripe.keys import Answer, Keys

PAGE = b"<!doctype html><title>Bad gateway</title><h1>We'll be back</h1>"


@dataclass
class Entry:
    """One call received. `status` is None while it is running, and for a call that got no answer."""

    n: int
    operation: str
    method: str
    path: str
    query: dict[str, str]
    form: dict[str, str]
    headers: dict[str, str]
    key: str | None
    status: int | None = None
    replayed: bool = False
    effect: bool = False
    fault: str | None = None


class Reset(Exception):
    """The connection is to be reset instead of an answer."""


@dataclass
class Desk:
    """The running server's state. Each step that reads or changes it takes the lock; waiting is done without."""

    secret: str
    key_life: float
    books: Books = field(default_factory=Books)
    faults: Faults = field(default_factory=Faults)
    ledger: list[Entry] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    #: Seconds that the clock is ahead.
    ahead: float = 0.0

    def __post_init__(self) -> None:
        self.keys = Keys(self.key_life)

    def reset(self) -> None:
        """Everything as at the start; waiting calls go on."""
        with self.lock:
            self.faults.release()
            self.books, self.faults, self.keys = Books(), Faults(), Keys(self.key_life)
            self.ledger, self.ahead = [], 0.0

    def serve(
        self, method: str, path: str, query: str, body: bytes, headers: dict[str, str]
    ) -> tuple[Answer, Fault | None]:
        """The answer to one API call, and the fault that it was hit by. Raises Reset."""
        asked = dict(parse_qsl(query, keep_blank_values=True))
        form = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        operation = _operation(method, path)
        with self.lock:
            key = headers.get("idempotency-key")
            entry = Entry(len(self.ledger), operation, method, path, asked, form, headers, key)
            self.ledger.append(entry)
            fault = self.faults.strike(operation)
            entry.fault = fault.kind if fault else None
        try:
            answer = self._answer(entry, fault)
        except Refusal as refusal:
            answer = Answer(refusal.status, refusal.body)
        answer.headers.setdefault("Request-Id", f"req_{entry.n}")
        entry.status, entry.replayed = answer.status, "Idempotent-Replayed" in answer.headers
        return answer, fault

    def _answer(self, entry: Entry, fault: Fault | None) -> Answer:
        shown = entry.headers.get("authorization", "")
        if not hmac.compare_digest(shown.encode(), f"Bearer {self.secret}".encode()):
            raise Refusal(401, message="Invalid API Key provided: sk_****")
        if fault and fault.kind in EARLY:
            if fault.commit:
                self._through(entry, None)
            return _early(fault)
        if fault and fault.kind == "slow":
            self._wait(fault)
        return self._through(entry, fault)

    def _through(self, entry: Entry, fault: Fault | None) -> Answer:
        if entry.operation == "refund":
            return self._refund(entry, fault)
        with self.lock:
            return Answer(200, self._read(entry))

    def _read(self, entry: Entry) -> dict[str, Any]:
        id = entry.path.rpartition("/")[2]
        match entry.operation:
            case "intent":
                return self.books.intent(id, expand="latest_charge" in entry.query.values())
            case "charge":
                return self.books.charge(id)
            case "find":
                return self.books.listed(entry.query)
            case _:
                message = f"Unrecognized request URL ({entry.method}: {entry.path})."
                raise Refusal(404, message=message)

    def _refund(self, entry: Entry, fault: Fault | None) -> Answer:
        key = entry.key or f"none-{entry.n}"
        with self.lock:
            parameters = (entry.path, tuple(sorted(entry.form.items())))
            if known := self.keys.meet(key, parameters, time.monotonic() + self.ahead):
                return known
        with self._unlocked_if_refused(key):
            check(entry.form)
        if fault and fault.kind == "commit_late":
            self._wait(fault)
        with self.lock:
            answer = self._execute(entry, fault)
            self.keys.keep(key, answer)
        if fault and fault.kind == "reset_after_commit":
            raise Reset
        if fault and fault.kind == "commit_then_timeout":
            self._wait(fault)
        return answer

    @contextmanager
    def _unlocked_if_refused(self, key: str) -> Iterator[None]:
        try:
            yield
        except Refusal:
            with self.lock:
                self.keys.forget(key)
            raise

    def _execute(self, entry: Entry, fault: Fault | None) -> Answer:
        broken = Answer(500, {"error": {"type": "api_error", "message": "An unknown error occurred"}})
        if fault and fault.kind == "500_before":
            return broken
        try:
            refund = self.books.refund(entry.form)
        except Refusal as refusal:
            return Answer(refusal.status, refusal.body)
        entry.effect = True
        return broken if fault and fault.kind == "500_after_commit" else Answer(200, refund)

    def _wait(self, fault: Fault) -> None:
        with self.lock:
            event = self.faults.hold()
        event.wait(fault.seconds)
        with self.lock:
            if event in self.faults.held:
                self.faults.held.remove(event)

    def calls(self) -> list[dict[str, Any]]:
        """The ledger, for control calls."""
        with self.lock:
            return [asdict(entry) for entry in self.ledger]


def _early(fault: Fault) -> Answer:
    headers = dict(fault.headers)
    if fault.retry_after is not None:
        headers["Retry-After"] = fault.retry_after
    match fault.kind:
        case "429":
            error = {"type": "invalid_request_error", "code": "rate_limit", "message": "Too many requests"}
            return Answer(429, {"error": error}, headers)
        case "lock_timeout":
            error = {"type": "invalid_request_error", "code": "lock_timeout", "message": "This object is locked"}
            return Answer(429, {"error": error}, headers)
        case "html":
            return Answer(fault.status, None, {**headers, "Content-Type": "text/html"}, PAGE)
        case _:
            return Answer(fault.status, fault.body, headers)


def _operation(method: str, path: str) -> str:
    match method, path.strip("/").split("/"):
        case "POST", ["v1", "refunds"]:
            return "refund"
        case "GET", ["v1", "refunds"]:
            return "find"
        case "GET", ["v1", "payment_intents", _]:
            return "intent"
        case "GET", ["v1", "charges", _]:
            return "charge"
        case _:
            return "unknown"
