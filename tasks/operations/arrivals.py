"""Whom a batch of reminders is for: an item of its own, so that the batch is never done before it. No write."""

import datetime as dt
from collections.abc import Sequence

from booking import keys
from booking.arguments import SendCheckinReminders
from booking.effects import Effect
from booking.outcomes import Reservation
from booking.settings import Property
from booking.states import Queue
from dedupe.items import Item
from dedupe.submission import Wanted
from tasks.operations import reminder
from tasks.operations.letters import TEMPLATE
from tasks.operations.port import Asking, Tool

#: A mail server that asks to come back later means minutes; what is asked for on the day itself has this at least.
LEAST_SECONDS = 3600.0


def _wanted(asking: Asking, arguments: SendCheckinReminders) -> list[Wanted]:
    secret, conversation = asking.caller.secret, asking.conversation_id
    hotel = asking.properties[arguments.property]
    identity = {"property": arguments.property, "date": arguments.date.isoformat(), "template": TEMPLATE}
    return [
        Wanted(
            base=keys.base_key(secret, conversation, Effect.ARRIVALS, identity),
            fingerprint=keys.fingerprint(secret, identity),
            request={**identity, "hotel": hotel.model_dump(mode="json")},
            scope=conversation,
            effect=Effect.ARRIVALS,
            queue=Queue.BATCH.of(hotel.provider),
            provider=hotel.provider,
            repeats=True,
        )
    ]


def _lifetime(asking: Asking, arguments: SendCheckinReminders) -> float:
    """A reminder is of use until the day of arrival ends at the hotel."""
    zone = asking.properties[arguments.property].zone
    end = dt.datetime.combine(arguments.date + dt.timedelta(days=1), dt.time(), zone)
    return max((end - asking.now).total_seconds(), LEAST_SECONDS)


def mails(secret: bytes, item: Item, arrivals: Sequence[Reservation]) -> list[Wanted]:
    """One mail for each of the arrivals that an expansion has found; none once the day is over."""
    if reminder.over(item):
        return []
    hotel = Property.model_validate(item.request["hotel"])
    return [reminder.wanted(secret, item.tenant_id, hotel, arrival) for arrival in arrivals if arrival.is_live()]


TOOLS = (Tool("send_checkin_reminders", SendCheckinReminders, _wanted, lifetime=_lifetime),)
