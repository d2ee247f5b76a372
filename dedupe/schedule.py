"""What the calendar has asked for: one row a hotel, job and local date."""

import datetime as dt
from dataclasses import dataclass

from sqlalchemy import Engine, text


@dataclass(frozen=True)
class Job:
    """What runs daily at a hotel, and on whose behalf."""

    tenant_id: str
    property: str
    job: str


# The one clock of all caretakers. One that runs ahead would record days that have not come, and these would never run.
_NOW = text("SELECT now()")

# Days are dealt with in order, so that the latest one tells all.
_LAST = text("SELECT max(date) FROM scheduled WHERE property = :property AND job = :job AND tenant_id = :tenant_id")

# An intent that was admitted by a caretaker that died before it could record it.
_ASKED = text("SELECT id FROM intents WHERE tenant_id = :tenant_id AND key_kind = 'schedule' AND key = :key")

# Caretakers meet here: the first records the date, and nobody changes it.
_RECORD = text("""
INSERT INTO scheduled (tenant_id, property, job, date, intent_id)
VALUES (:tenant_id, :property, :job, :date, :intent_id)
ON CONFLICT (property, job, date, tenant_id) DO NOTHING
RETURNING date
""")


def database_now(engine: Engine) -> dt.datetime:
    """The database's time, in UTC whatever zone the session has."""
    with engine.connect() as connection:
        now: dt.datetime = connection.execute(_NOW).scalar_one()
    return now.astimezone(dt.UTC)


def last_date(engine: Engine, job: Job) -> dt.date | None:
    """The latest recorded date, skipped ones too; None where there is none."""
    with engine.connect() as connection:
        last: dt.date | None = connection.execute(_LAST, vars(job)).scalar_one()
    return last


def asked_before(engine: Engine, tenant_id: str, key: str) -> str | None:
    """The id of the intent that stands under a schedule's key; None where there is none."""
    with engine.connect() as connection:
        intent_id: str | None = connection.execute(_ASKED, {"tenant_id": tenant_id, "key": key}).scalar()
    return intent_id


def record(engine: Engine, job: Job, date: dt.date, intent_id: str | None) -> bool:
    """Record that a date was asked for, by this intent, or skipped (None). False where it was recorded before."""
    with engine.connect() as connection:
        values = {**vars(job), "date": date, "intent_id": intent_id}
        return connection.execute(_RECORD, values).first() is not None
