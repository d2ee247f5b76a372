"""Whatever the bytes are: a submission or a refusal, never a bug."""

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from api.checking import request_from, submission_from
from api.deps import Deps
from api.problems import Refused, answer
from booking.settings import TenantSettings
from dedupe.submission import Submission
from dedupe.tenants import Caller, Scope
from tests.api.serving import PROPERTIES, request

CALLER = Caller("demo", Scope.AGENT, b"s" * 32, TenantSettings())
DEPS = Deps(engine=None, publisher=None, redis_url=None, properties=PROPERTIES)  # type: ignore[arg-type]  # not used

texts = st.text(st.characters(codec=None), max_size=20) | st.sampled_from(["\0", "\ud800", "BER", "2030-01-01", "NaN"])
leaves = st.none() | st.booleans() | st.integers() | st.floats() | texts
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
places = st.sampled_from(
    [
        ("tool",),
        ("conversation_id",),
        ("arguments",),
        *[("arguments", name) for name in [*request()["arguments"], "max_price", "adults", "notes", "phone", "rooms"]],
        ("arguments", "guest", "name"),
        ("arguments", "guest", "email"),
        ("arguments", "guest", "phone"),
    ]
)


def outcome(body: bytes) -> Submission | None:
    """The submission, or None for a refusal, which must be fit to send."""
    try:
        return submission_from(request_from(body, DEPS), None, CALLER, None, DEPS)
    except Refused as refused:
        sent = answer(refused.problem, refused.headers)
    assert 400 <= sent.status_code < 500
    assert len(sent.body) < 20_000
    return None


@given(st.binary(max_size=200))
def test_any_bytes(body: bytes) -> None:
    assert outcome(body) is None


@settings(max_examples=400)
@given(places, values, st.sampled_from(["create_booking", "book_rooms"]))
@example(("arguments", "max_price"), {"amount": "1e999999", "currency": "EUR"}, "create_booking")
@example(("arguments", "max_price"), {"amount": 10**400, "currency": "EUR"}, "create_booking")
@example(("arguments", "check_in"), "0001-01-01", "create_booking")
@example(("arguments", "check_out"), "9999-12-31", "create_booking")
@example(("arguments", "rooms"), [{}, None, {"guest": 1}], "book_rooms")
def test_any_value_at_any_place(place: tuple[str, ...], value: Any, tool: str) -> None:
    body = {**request(), "tool": tool}
    if tool == "book_rooms":
        body["arguments"]["rooms"] = [{}]
    target = body
    for name in place[:-1]:
        target = target[name]
    target[place[-1]] = value
    outcome(json.dumps(body).encode())
