"""Hotels with a daily run, the moments of their clocks, and what is asked for there."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from celery import Celery
from sqlalchemy import Row

from booking.settings import Property, Reminders
from dedupe.engine import Engine
from dedupe.submission import Submission
from tasks.intake import submission_of
from tasks.operations import TOOLS
from tasks.operations.port import Asking
from tasks.publish import Publisher
from tasks.schedule import schedule_once
from tests.dedupe.rows import rows


def hotel(zone: str = "Europe/Berlin", hour: int = 10, days_ahead: int = 1, tenant: str = "demo") -> Property:
    reminders = Reminders(tenant=tenant, hour=hour, days_ahead=days_ahead)
    return Property(name="A hotel", time_zone=zone, currency="EUR", reminders=reminders)


def at(there: Property, shown: str, fold: int = 0) -> dt.datetime:
    """The instant at which the hotel's clock shows this, in UTC. `fold` 1: the second time it does."""
    local = dt.datetime.fromisoformat(shown).replace(tzinfo=there.zone, fold=fold)
    return local.astimezone(dt.UTC)


def every(step: dt.timedelta, begin: dt.datetime, end: dt.datetime) -> Iterator[dt.datetime]:
    while begin <= end:
        yield begin
        begin += step


def a_room(asking: Asking, property_id: str, arrival: dt.date, key: str) -> Submission:
    """One booking stands for what a day asks for: how often it is asked is all that counts here."""
    guest = {"name": "Ana Müller", "email": "ana@guests.example"}
    stay = {"property": property_id, "room_type": "double", "check_in": arrival, "guest": guest}
    tool = TOOLS["create_booking"]
    arguments = tool.arguments.model_validate({**stay, "check_out": arrival + dt.timedelta(days=1)})
    return submission_of(asking, tool, arguments, ("schedule", key), 600)


@dataclass
class Caretaker:
    """A caretaker's schedule on real parts. `asked` are the (hotel, arrival) that it asked for, in order."""

    engine: Engine
    app: Celery
    properties: Mapping[str, Property]
    asked: list[tuple[str, dt.date]] = field(default_factory=list)

    def look(self, now: dt.datetime) -> int:
        return schedule_once(self.engine, Publisher(self.app, budget=5.0), self.properties, now, self._ask_for)

    def _ask_for(self, asking: Asking, property_id: str, arrival: dt.date, key: str) -> Submission:
        self.asked.append((property_id, arrival))
        return a_room(asking, property_id, arrival, key)


def intents(engine: Engine) -> list[str]:
    """The keys of all intents of the calendar."""
    return [one.key for one in rows(engine, "SELECT key FROM intents WHERE key_kind = 'schedule' ORDER BY key")]


def recorded(engine: Engine, property_id: str) -> list[tuple[str, bool]]:
    """The dates of a hotel that are dealt with, and whether an intent was made for each."""
    found: Sequence[Row[Any]] = rows(
        engine, "SELECT date::text AS date, intent_id FROM scheduled WHERE property = :id ORDER BY 1", id=property_id
    )
    return [(one.date, one.intent_id is not None) for one in found]
