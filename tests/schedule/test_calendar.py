"""The calendar: each local date once, at the hotel's own hour, whatever its clock does and whoever looks when."""

import datetime as dt
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking.settings import Property
from tasks.calendar import Due, due_dates
from tests.schedule.hotels import at, every, hotel

ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]
#: When clocks are changed: Berlin, New York, Lord Howe (by half an hour); and the Friday that Apia left out.
DAYS = [
    *("2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01", "2026-04-05", "2026-10-04"),
    *("2011-12-30", "2026-06-15"),
]
DAY = dt.timedelta(days=1)
#: No clock is changed between two quarters of an hour.
QUARTER = dt.timedelta(minutes=15)
NOON = dt.time(12)


@cache
def first_shown(zone: str, date: dt.date, hour: int) -> dt.datetime:
    """The first instant whose local time has reached this hour of this date, found by looking at all."""
    wanted = dt.datetime.combine(date, dt.time(hour))
    noon = dt.datetime.combine(date, NOON, dt.UTC)
    for instant in every(QUARTER, noon - 2 * DAY, noon + 3 * DAY):
        if instant.astimezone(ZoneInfo(zone)).replace(tzinfo=None) >= wanted:
            return instant
    raise AssertionError(f"{zone} never reaches {wanted}")


@st.composite
def looks(draw: st.DrawFn) -> list[dt.datetime]:
    """When a caretaker looks, around a day: any instants, in order, some of them right at a quarter."""
    day = dt.datetime.combine(dt.date.fromisoformat(draw(st.sampled_from(DAYS))), NOON, dt.UTC)
    span = st.integers(-3 * 24 * 3600, 3 * 24 * 3600)
    seconds = draw(st.lists(st.one_of(span, span.map(lambda value: value // 900 * 900)), min_size=1, max_size=40))
    return [day + dt.timedelta(seconds=value) for value in sorted(seconds)]


def runs(there: Property, instants: list[dt.datetime], last: dt.date | None = None) -> list[tuple[dt.datetime, Due]]:
    """What a caretaker finds due, and when, if it records all that it finds."""
    found: list[tuple[dt.datetime, Due]] = []
    for now in instants:
        due = due_dates(there, last, now)
        found += [(now, one) for one in due]
        last = due[-1].date if due else last
    return found


anywhere = st.builds(hotel, st.sampled_from(ZONES), st.integers(0, 23), st.integers(0, 3))


@settings(deadline=None)
@given(anywhere, looks())
def test_each_date_runs_once_in_order_and_never_before_its_hour(there: Property, instants: list[dt.datetime]) -> None:
    assert there.reminders is not None
    found = runs(there, instants)
    dates = [one.date for _, one in found]
    assert dates == [dates[0] + n * DAY for n in range(len(dates))]
    for now, one in found:
        assert now >= first_shown(there.time_zone, one.date, there.reminders.hour)


@settings(deadline=None)
@given(anywhere, looks())
def test_a_date_runs_at_the_first_look_after_its_hour(there: Property, instants: list[dt.datetime]) -> None:
    """With a start on record, so that all the dates of these days are wanted."""
    assert there.reminders is not None
    start = (instants[0] - 2 * DAY).date()
    found = {one.date: now for now, one in runs(there, instants, last=start)}
    for date in (start + n * DAY for n in range(1, 12)):
        hour = first_shown(there.time_zone, date, there.reminders.hour)
        assert found.get(date) == next((now for now in instants if now >= hour), None)


@settings(deadline=None)
@given(anywhere, looks())
def test_a_run_helps_until_the_day_of_arrival_is_over_there(there: Property, instants: list[dt.datetime]) -> None:
    assert there.reminders is not None
    for now, one in runs(there, instants, last=(instants[0] - 5 * DAY).date()):
        assert one.arrival == one.date + there.reminders.days_ahead * DAY
        assert one.useful == (one.arrival >= now.astimezone(there.zone).date())


@settings(deadline=None)
@given(anywhere, looks())
def test_the_first_run_of_all_is_today_s(there: Property, instants: list[dt.datetime]) -> None:
    for now in instants:
        due = due_dates(there, None, now)
        assert [one.date for one in due] in ([], [now.astimezone(there.zone).date()])
        assert all(one.useful for one in due)


@pytest.mark.parametrize(
    ("zone", "hour", "date", "first"),
    [
        ("Europe/Berlin", 2, "2026-03-29", "2026-03-29T01:00:00Z"),  # 2:00 doesn't exist: 3:00 then
        ("Europe/Berlin", 2, "2026-10-25", "2026-10-25T00:00:00Z"),  # 2:00 comes twice
        ("Europe/Berlin", 3, "2026-10-25", "2026-10-25T02:00:00Z"),
        ("America/New_York", 2, "2026-03-08", "2026-03-08T07:00:00Z"),
        ("America/New_York", 1, "2026-11-01", "2026-11-01T05:00:00Z"),
        ("Australia/Lord_Howe", 2, "2026-10-04", "2026-10-03T15:30:00Z"),  # half an hour is left out
        ("Antarctica/Troll", 2, "2026-03-29", "2026-03-29T01:00:00Z"),  # 1:00 to 3:00 is left out
        ("Antarctica/Troll", 2, "2026-10-25", "2026-10-25T00:00:00Z"),  # 1:00 to 3:00 comes twice
        ("Pacific/Apia", 10, "2011-12-30", "2011-12-30T10:00:00Z"),  # the whole day is left out
        ("Asia/Kathmandu", 10, "2026-06-15", "2026-06-15T04:15:00Z"),
    ],
)
def test_the_hour_when_clocks_are_changed(zone: str, hour: int, date: str, first: str) -> None:
    there, day, instant = hotel(zone, hour), dt.date.fromisoformat(date), dt.datetime.fromisoformat(first)
    before = due_dates(there, day - DAY, instant - dt.timedelta(microseconds=1))
    assert day not in [one.date for one in before]
    for later in (dt.timedelta(), dt.timedelta(minutes=59), dt.timedelta(minutes=61), dt.timedelta(minutes=125)):
        assert due_dates(there, day - DAY, instant + later)[0].date == day


def test_the_same_instant_is_the_same_whatever_zone_it_is_told_in() -> None:
    there = hotel("Antarctica/Troll", 2)
    for now in every(QUARTER, at(there, "2026-10-24T22:00"), at(there, "2026-10-25T05:00")):
        asked = [due_dates(there, dt.date(2026, 10, 24), now.astimezone(zone)) for zone in (dt.UTC, there.zone)]
        assert asked[0] == asked[1]


def test_missed_days_that_still_help_run_once_each_and_others_are_told() -> None:
    there = hotel(days_ahead=3)
    due = due_dates(there, dt.date(2026, 6, 1), at(there, "2026-06-08T11:00"))
    assert [(one.date.day, one.arrival.day, one.useful) for one in due] == [
        *((2, 5, False), (3, 6, False), (4, 7, False)),
        *((5, 8, True), (6, 9, True), (7, 10, True), (8, 11, True)),
    ]
    assert due_dates(there, due[-1].date, at(there, "2026-06-08T12:00")) == []


def test_after_a_long_stop_the_last_31_days_are_listed() -> None:
    there = hotel()
    due = due_dates(there, dt.date(2025, 1, 1), at(there, "2026-06-15T10:00"))
    assert [one.date for one in due] == [dt.date(2026, 5, 16) + n * DAY for n in range(31)]


def test_a_hotel_without_reminders_runs_nothing() -> None:
    there = hotel().model_copy(update={"reminders": None})
    assert due_dates(there, dt.date(2026, 6, 1), at(there, "2026-06-08T11:00")) == []
