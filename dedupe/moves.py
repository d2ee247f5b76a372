"""The bookings of a reservation whose dates are changed: they live on under other dates, and so under another base."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, text

# By the provider's number of the reservation. What retention has blanked tells no guest any more, and stays as it is.
_BOOKINGS = text("""
SELECT i.id, i.conversation_id, i.request, t.secret
FROM items i JOIN tenants t ON t.id = i.tenant_id
WHERE i.provider_id = :reservation AND i.tenant_id = :tenant_id AND i.provider = :provider
  AND i.effect = 'booking' AND i.state = 'succeeded' AND i.blanked_at IS NULL
""")


@dataclass(frozen=True)
class Booked:
    """A booking as it was asked for, with its tenant's secret."""

    id: int
    conversation_id: str
    request: dict[str, Any]
    secret: bytes


@dataclass(frozen=True)
class Moved:
    """A booking under its new `dates`: what it is asked for by from now on."""

    id: int
    base: str
    fingerprint: str
    stay: str
    dates: dict[str, str]


def bookings_of(engine: Engine, tenant_id: str, provider: str, reservation: str) -> list[Booked]:
    """The items that booked a reservation; mostly one, none if it was booked elsewhere."""
    values = {"tenant_id": tenant_id, "provider": provider, "reservation": reservation}
    with engine.connect() as connection:
        rows = connection.execute(_BOOKINGS, values).all()
    return [Booked(row.id, row.conversation_id, row.request, bytes(row.secret)) for row in rows]
