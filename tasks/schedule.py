"""The schedule: what the hotels' calendars ask for each day without anybody asking. Today: check-in reminders.

A date is asked for first and recorded then. Who dies in between has done no harm: its key finds the same intent again.
"""

import datetime as dt
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from booking.arguments import Hotels
from booking.settings import Property
from dedupe.admit import admit
from dedupe.engine import DatabaseAway, Engine, or_away
from dedupe.schedule import Job, asked_before, last_date, record
from dedupe.submission import Mismatch, Submission
from dedupe.tenants import Caller, find_tenant
from tasks.calendar import Due, due_dates
from tasks.intake import submission_of
from tasks.operations import TOOLS
from tasks.operations.port import Asking
from tasks.publish import Publisher

log = logging.getLogger("roomkey.schedule")

REMINDERS = "send_checkin_reminders"

#: Seconds that it may wait where the tool doesn't say: longer than for somebody in a chat, until the next run at most.
LIFETIME = 86_400.0

#: Who asks, a hotel's id, a date of arrival, the calendar's key -> what is asked for.
AskFor = Callable[[Asking, str, dt.date, str], Submission]


def reminders_of(asking: Asking, property_id: str, arrival: dt.date, key: str) -> Submission:
    """The reminders to all who arrive at a hotel on a date, as if a tenant's agent had asked for them."""
    tool = TOOLS[REMINDERS]
    hotels = Hotels(asking.properties, asking.now)
    arguments = tool.arguments.model_validate({"property": property_id, "date": arrival}, context=hotels)
    return submission_of(asking, tool, arguments, ("schedule", key), LIFETIME)


@dataclass(frozen=True)
class _Round:
    """One look at all hotels."""

    engine: Engine
    publisher: Publisher
    properties: Mapping[str, Property]
    now: dt.datetime
    submission: AskFor


def schedule_once(
    engine: Engine,
    publisher: Publisher,
    properties: Mapping[str, Property],
    now: dt.datetime,
    submission: AskFor = reminders_of,
) -> int:
    """Ask for all that is due at `now` (aware). Returns how many dates were recorded, skipped ones too.

    A hotel that can't be served is logged, and tried again by the next call; the others go on.
    """
    this = _Round(engine, publisher, properties, now, submission)
    return sum(_serve(this, property_id) for property_id, hotel in properties.items() if hotel.reminders)


def _serve(this: _Round, property_id: str) -> int:
    recorded = 0
    try:
        with or_away():
            for made in _runs(this, property_id):  # the first failure ends it: a later date would hide an earlier one
                recorded += made
    except DatabaseAway as failure:
        log.warning("%s of %s wait: %s", REMINDERS, property_id, failure)
    except Exception:
        log.exception("%s of %s failed; it is tried again", REMINDERS, property_id)
    return recorded


def _runs(this: _Round, property_id: str) -> Iterator[bool]:
    hotel = this.properties[property_id]
    assert hotel.reminders is not None
    job = Job(hotel.reminders.tenant, property_id, REMINDERS)
    last = last_date(this.engine, job)
    due = due_dates(hotel, last, this.now)
    caller = find_tenant(this.engine, job.tenant_id) if due else None
    if due and caller is None:
        name = f"properties.{property_id}.reminders.tenant"
        log.error("%s: there is no tenant %s, so nobody is reminded", name, job.tenant_id)
    if caller is None:
        return
    if last is not None and due[0].date > last + dt.timedelta(days=1):
        begun = due[0].date
        log.warning("%s of %s: skipped all after %s and before %s, too long ago", REMINDERS, property_id, last, begun)
    for one in due:
        yield _ask(this, job, caller, one) if one.useful else _skip(this, job, one)


def _ask(this: _Round, job: Job, caller: Caller, due: Due) -> bool:
    asking = Asking(caller, f"schedule:{job.property}:{due.date}", this.properties, now=this.now)
    submission = this.submission(asking, job.property, due.arrival, _key(job, due))
    intent_id, publish = _admitted(this.engine, submission)
    made = record(this.engine, job, due.date, intent_id)
    this.publisher.publish(publish)  # what gets no message is due at the relay
    if made:
        log.info("%s of %s, %s: arrivals of %s, intent %s", job.job, job.property, due.date, due.arrival, intent_id)
    return made


def _admitted(engine: Engine, submission: Submission) -> tuple[str, list[tuple[int, str]]]:
    """The intent of a date and what to publish. One that was made under other settings stands as it is."""
    try:
        admitted = admit(engine, submission)
    except Mismatch as other:
        if other.kind != "intent":
            raise
        return other.existing["id"], []
    return admitted.intent_id, admitted.publish


def _skip(this: _Round, job: Job, due: Due) -> bool:
    intent_id = asked_before(this.engine, job.tenant_id, _key(job, due))
    made = record(this.engine, job, due.date, intent_id)
    if made and intent_id is None:
        reason = f"it was not asked for in time, and the day of arrival, {due.arrival}, is over"
        log.warning("%s of %s, %s: skipped: %s", job.job, job.property, due.date, reason)
    return made


def _key(job: Job, due: Due) -> str:
    return f"{job.property}:{job.job}:{due.date}"
