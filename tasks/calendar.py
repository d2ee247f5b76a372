"""When a hotel's daily run is due: once each local date, at an hour of the hotel's own clock."""

import datetime as dt
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from booking.settings import Property

#: After a long stop no more days than these are looked at, today among them: older arrivals are nobody's to remind.
DAYS_BACK = 31
_DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class Due:
    """The run of one local date, the arrivals it is about, and whether it still helps anybody."""

    date: dt.date
    arrival: dt.date
    useful: bool


def due_dates(hotel: Property, last: dt.date | None, now: dt.datetime) -> list[Due]:
    """The runs whose hour has come at `now` (aware) and that come after `last`, oldest first.

    `last` is the latest date that is dealt with. None: there was none, and today's is the first.
    """
    if hotel.reminders is None:
        return []
    today = now.astimezone(hotel.zone).date()
    first = today if last is None else max(last + _DAY, today - (DAYS_BACK - 1) * _DAY)
    dates = [first + days * _DAY for days in range((today - first).days + 1)]
    ahead = hotel.reminders.days_ahead * _DAY
    return [
        Due(date, arrival=date + ahead, useful=date + ahead >= today)
        for date in dates
        if _has_come(date, hotel.reminders.hour, hotel.zone, now)
    ]


def _has_come(date: dt.date, hour: int, zone: ZoneInfo, now: dt.datetime) -> bool:
    """Whether the hotel's clock has shown this hour of this date.

    Two questions, for each alone errs where the clock is changed: what it shows is past an hour that it skipped, and
    the instant tells an hour that it shows twice from the time before (fold 0: the first of the two).
    """
    at = dt.datetime.combine(date, dt.time(hour))
    shown = now.astimezone(zone).replace(tzinfo=None)
    return shown >= at or now.astimezone(dt.UTC) >= at.replace(tzinfo=zone).astimezone(dt.UTC)
