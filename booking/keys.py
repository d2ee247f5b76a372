"""Keys: what makes two requests the same effect. Golden vectors: tests/booking/test_keys.py.

Everything is an HMAC-SHA256 with the tenant's secret over canonical JSON (RFC 8785), so that a key tells nothing of the
guest and can't be guessed or forged. A release that changes a key changes a test.
"""

import base64
import hashlib
import hmac
import secrets
import time
from decimal import Decimal
from typing import Any

import rfc8785
from pydantic import BaseModel

from booking.arguments import Stay
from booking.text import folded

#: Hex digits kept of a digest: 128 bits, no collision to fear, keys still readable.
_DIGEST = 32


def canonical(value: Any) -> bytes:
    """`value` as RFC 8785 JSON: key order, blanks, 1 or 1.0 make no difference. Decimals become plain strings."""
    return rfc8785.dumps(_plain(value))


def _plain(value: Any) -> Any:
    match value:
        case BaseModel():
            return _plain(value.model_dump(exclude_defaults=True))
        case dict():
            return {str(name): _plain(part) for name, part in value.items() if part is not None}
        case list() | tuple():
            return [_plain(part) for part in value]
        case Decimal():
            return f"{value.normalize() + 0:f}"  # + 0: no minus before a zero
        case bool() | int() | float() | str():
            return value
        case _:
            return str(value)  # dates: ISO format


def digest(secret: bytes, purpose: str, value: Any) -> str:
    """A short keyed hash of `value`; `purpose` keeps hashes of different uses apart."""
    message = purpose.encode() + b"\0" + canonical(value)
    return hmac.new(secret, message, hashlib.sha256).hexdigest()[:_DIGEST]


def booking_identity(stay: Stay) -> dict[str, str]:
    """The arguments that make it the same room for the same guest; price, notes and rate don't."""
    return {
        "guest": folded(stay.guest.name),
        "property": stay.property,
        "room_type": stay.room_type,
        "check_in": stay.check_in.isoformat(),
        "check_out": stay.check_out.isoformat(),
    }


def booking_values(stay: Stay) -> dict[str, Any]:
    """All the arguments of a room, as they count for the fingerprint: the spelling of the guest's name doesn't."""
    given = stay.model_dump(exclude_defaults=True, exclude={"additional"})
    guest = {**given["guest"], "name": folded(stay.guest.name), "email": stay.guest.email.casefold()}
    return {**given, "guest": guest}


def guest_mark(secret: bytes, stay: Stay) -> str:
    """The same for all bookings of one guest, whatever the hotel or the conversation."""
    return digest(secret, "guest", folded(stay.guest.name))


def stay_mark(secret: bytes, stay: Stay) -> str:
    """The same for all bookings of one stay of one person, whatever the conversation; a namesake's address differs."""
    return digest(secret, "stay", [booking_identity(stay), stay.guest.email.casefold()])


def base_key(secret: bytes, scope: str, effect: str, identity: Any) -> str:
    """What identical effects share before they are told apart by k and epoch."""
    return digest(secret, "base", [scope, effect, identity])


def item_key(secret: bytes, scope: str, effect: str, base: str, k: int, epoch: int) -> str:
    """The key of one effect: `{scope}:{effect}:{digest}:{epoch}`. `k` counts identical rooms from 0."""
    return f"{scope}:{effect}:{digest(secret, 'item', [base, k])}:{epoch}"


def reference_of(secret: bytes, key: str) -> str:
    """The token an item carries at the provider: 20 characters of a-z2-7, so that none is another's prefix."""
    raw = hmac.new(secret, b"reference\0" + key.encode(), hashlib.sha256).digest()
    return "rk" + base64.b32encode(raw).decode().lower()[:18]


def intent_key(secret: bytes, conversation_id: str, tool: str, identities: list[Any]) -> str:
    """The derived key of an intent: `{conversation}:{tool}:{digest}`."""
    return f"{conversation_id}:{tool}:{digest(secret, 'intent', [conversation_id, tool, identities])}"


def fingerprint(secret: bytes, value: Any) -> str:
    """Hash of all arguments: same key with another fingerprint is a mistake and is told."""
    return digest(secret, "fingerprint", value)


def new_id(prefix: str) -> str:
    """A fresh id, unguessable, ordered by creation time so that its index stays dense."""
    return f"{prefix}_{time.time_ns() // 1_000_000:012x}{secrets.token_hex(8)}"


def new_bearer() -> str:
    """A fresh bearer key. Shown once; only `bearer_hash` of it is stored."""
    return "rk_" + secrets.token_urlsafe(32)


def bearer_hash(bearer: str) -> bytes:
    """What is stored of a bearer key. A fast hash is enough: the key has 256 random bits."""
    return hashlib.sha256(bearer.encode()).digest()
