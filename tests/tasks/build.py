"""Items and capabilities for tests of decisions: plain functions with defaults, on one fixed clock."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from booking.capabilities import Capabilities, ReferenceMatch
from booking.errors import ToolError
from booking.states import State
from dedupe.items import Item
from tests.booking.build import error_of

NOW = datetime(2026, 12, 4, 18, 40, tzinfo=UTC)

#: How long after `may_send_until` a look-up must begin to prove absence, at the providers below.
QUIET = timedelta(seconds=40)

BLIND = Capabilities(idle_timeout=timedelta(seconds=10), settle_time=timedelta(seconds=30))
UNPROVEN = replace(BLIND, reference_match=ReferenceMatch.EXACT)
LOOKUP_ONLY = replace(UNPROVEN, absence_provable=True)
KEYED = replace(
    LOOKUP_ONLY,
    keyed=frozenset({"booking"}),
    key_life=timedelta(hours=24),
    key_locks=True,
    key_survives_errors=True,
)
KEYED_UNPROVEN = replace(KEYED, absence_provable=False)
#: A key, but no look-up at all.
KEYED_BLIND = replace(KEYED, reference_match=ReferenceMatch.NONE, absence_provable=False)

ALL = {
    "keyed": KEYED,
    "keyed-unproven": KEYED_UNPROVEN,
    "keyed-blind": KEYED_BLIND,
    "lookup-only": LOOKUP_ONLY,
    "unproven": UNPROVEN,
    "blind": BLIND,
}
UNKEYED = [LOOKUP_ONLY, UNPROVEN, BLIND]


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def an_item(**changes: Any) -> Item:
    """A new booking, due now, never tried."""
    fresh = Item(
        id=7,
        tenant_id="demo",
        conversation_id="c-77",
        key="c-77:booking:9f3a:0",
        reference="rkaaaaaaaaaaaaaaaaaa",
        key_generation=0,
        effect="booking",
        provider="pms",
        request={"property": "BER", "room_type": "double", "check_in": "2026-12-24", "check_out": "2026-12-26"},
        request_bytes=None,
        state=State.QUEUED,
        refusal=None,
        error=None,
        rev=3,
        token=None,
        lease_until=None,
        due_at=NOW,
        provider_id=None,
        writes=0,
        failures=0,
        doubted_at=None,
        first_sent_at=None,
        expires_at=NOW + timedelta(minutes=10),
        stop_writes=False,
        doubts=(),
        last_send=None,
        sends=0,
        paused=frozenset(),
        now=NOW,
    )
    return replace(fresh, **changes)


def doubtful(sent_ago: float = 0.0, **changes: Any) -> Item:
    """An item whose one write, `may_send_until` = NOW - `sent_ago` seconds, may have happened."""
    sent = NOW - seconds(sent_ago)
    defaults: dict[str, Any] = {
        "state": State.RUNNING,
        "writes": 1,
        "doubts": (sent,),
        "last_send": sent,
        "doubted_at": sent - seconds(3),
        "first_sent_at": sent - seconds(3),
        "request_bytes": b"{}",
        "sends": changes.get("writes", 1),
    }
    return an_item(**(defaults | changes))


def settled(state: State, **changes: Any) -> Item:
    """An item that has been settled and is looked at once more."""
    error = error_of("unavailable") if state is State.FAILED else None
    return an_item(**({"state": state, "writes": 1, "sends": 1, "error": error} | changes))


def sold_out() -> ToolError:
    """A refusal as `decide` makes it."""
    return error_of("sold_out", room_type="double", property="BER", check_in="2026-12-24", check_out="2026-12-26")


SOLD_OUT_VALUES = {"room_type": "double", "property": "BER", "check_in": "2026-12-24", "check_out": "2026-12-26"}
