"""The schedule: one intent a hotel and date, whoever asks, dies or comes late."""

import datetime as dt
import logging
from collections.abc import Callable

import pytest

from dedupe.engine import Engine
from dedupe.schedule import database_now
from dedupe.tenants import Scope, find_caller, find_tenant
from tests.conftest import Tenant, make_tenant
from tests.dedupe.rows import at_once, count, rows, run, wide
from tests.schedule.hotels import Caretaker, at, every, hotel, intents, recorded

Make = Callable[..., Caretaker]

BERLIN = hotel()
FIVE_MINUTES = dt.timedelta(minutes=5)

# Fails for one hotel, as a full disk or a lost connection would; at the very step that records a date.
_BREAK = """
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN RAISE EXCEPTION 'broken' USING ERRCODE = '{code}'; END $$;
CREATE TRIGGER fail BEFORE INSERT ON scheduled FOR EACH ROW
WHEN (NEW.property = 'BER' AND NEW.date >= '{since}') EXECUTE FUNCTION fail()
"""
_MEND = "DROP TRIGGER fail ON scheduled; DROP FUNCTION fail"


def break_records(engine: Engine, code: str = "58030", since: str = "2026-01-01") -> None:
    run(engine, _BREAK.format(code=code, since=since))


def mend_records(engine: Engine) -> None:
    run(engine, _MEND)


def lines(caplog: pytest.LogCaptureFixture, level: int = logging.WARNING) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno >= level and one.name.startswith("roomkey")]


@pytest.mark.parametrize(
    ("begin", "end", "berlin", "new_york"),
    [
        # Berlin leaves out 2:00 to 3:00 on the 29th.
        (
            "2026-03-27T12:00",
            "2026-03-30T12:00",
            ["2026-03-28T01:00", "2026-03-29T01:00", "2026-03-30T00:00"],
            ["2026-03-28T05:00", "2026-03-29T05:00", "2026-03-30T05:00"],
        ),
        # It has them twice on the 25th.
        (
            "2026-10-23T12:00",
            "2026-10-26T12:00",
            ["2026-10-24T00:00", "2026-10-25T00:00", "2026-10-26T01:00"],
            ["2026-10-24T05:00", "2026-10-25T05:00", "2026-10-26T05:00"],
        ),
        # New York has 1:00 to 2:00 twice on the 1st.
        (
            "2026-10-30T12:00",
            "2026-11-02T12:00",
            ["2026-10-31T01:00", "2026-11-01T01:00", "2026-11-02T01:00"],
            ["2026-10-31T05:00", "2026-11-01T05:00", "2026-11-02T06:00"],
        ),
    ],
)
def test_case_32_each_date_is_asked_for_once_at_the_hotel_s_own_hour(
    caretaker: Make, engine: Engine, begin: str, end: str, berlin: list[str], new_york: list[str]
) -> None:
    hotels = caretaker(BER=hotel(hour=2), NYC=hotel("America/New_York", hour=1))
    asked_at: dict[str, list[str]] = {"BER": [], "NYC": []}
    start = dt.datetime.fromisoformat(begin).replace(tzinfo=dt.UTC)
    hotels.look(start)  # the day of the start: its hour is over
    for now in every(FIVE_MINUTES, start, dt.datetime.fromisoformat(end).replace(tzinfo=dt.UTC)):
        before = len(hotels.asked)
        hotels.look(now)
        for property_id, arrival in hotels.asked[max(before, 2) :]:
            asked_at[property_id].append(f"{now:%Y-%m-%dT%H:%M}")
            assert arrival == now.astimezone(hotels.properties[property_id].zone).date() + dt.timedelta(days=1)
    assert asked_at == {"BER": berlin, "NYC": new_york}
    assert len(intents(engine)) == 2 + len(berlin) + len(new_york)
    assert [made for _, made in recorded(engine, "BER")] == [True] * 4


def test_what_a_date_asks_for(caretaker: Make, engine: Engine, messages: Callable[[], int]) -> None:
    assert caretaker(BER=BERLIN).look(at(BERLIN, "2026-06-08T10:00")) == 1
    [intent] = rows(engine, "SELECT * FROM intents")
    assert (intent.tenant_id, intent.key_kind) == ("demo", "schedule")
    assert intent.key == "BER:send_checkin_reminders:2026-06-08"
    assert intent.conversation_id == "schedule:BER:2026-06-08"
    [date] = rows(engine, "SELECT * FROM scheduled")
    assert (date.tenant_id, date.property, date.job, f"{date.date}", date.intent_id) == (
        *("demo", "BER", "send_checkin_reminders", "2026-06-08"),
        intent.id,
    )
    [item] = rows(engine, "SELECT request FROM items")
    assert item.request["check_in"] == "2026-06-09"
    assert messages() == 1


def test_nothing_before_the_hour_and_nothing_twice(caretaker: Make, engine: Engine) -> None:
    hotels = caretaker(BER=BERLIN, MUC=BERLIN.model_copy(update={"reminders": None}))
    assert hotels.look(at(BERLIN, "2026-06-08T09:59:59")) == 0
    assert hotels.look(at(BERLIN, "2026-06-08T10:00")) == 1
    assert hotels.look(at(BERLIN, "2026-06-08T10:00:30")) == 0
    assert count(engine, "intents") == len(hotels.asked) == 1


def test_case_34_a_changed_hour_asks_for_no_date_again(caretaker: Make, engine: Engine) -> None:
    assert caretaker(BER=hotel(hour=10)).look(at(BERLIN, "2026-06-08T10:00")) == 1
    for hour in (11, 9, 10):
        assert caretaker(BER=hotel(hour=hour)).look(at(BERLIN, "2026-06-08T11:00:05")) == 0
    assert intents(engine) == ["BER:send_checkin_reminders:2026-06-08"]


def test_case_36_caretakers_at_once_make_one_intent(
    caretaker: Make, engine: Engine, messages: Callable[[], int]
) -> None:
    hotels = caretaker(BER=hotel(days_ahead=2), NYC=hotel("America/New_York", days_ahead=2))
    hotels.look(at(BERLIN, "2026-06-05T18:00"))
    assert sum(at_once(8, lambda _: hotels.look(at(BERLIN, "2026-06-08T18:00")))) == 3 + 3
    assert len(recorded(engine, "BER")) == len(recorded(engine, "NYC")) == 4
    assert len(intents(engine)) == count(engine, "items") == messages() == 8


def test_caretakers_at_once_tell_each_skipped_date_once(
    caretaker: Make, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    hotels = caretaker(BER=hotel(days_ahead=0))
    hotels.look(at(BERLIN, "2026-06-01T10:00"))
    assert sum(at_once(8, lambda _: hotels.look(at(BERLIN, "2026-06-22T09:00")))) == 20
    assert len(lines(caplog)) == 20
    assert len(intents(engine)) == 1


@pytest.mark.own_database
def test_who_dies_between_asking_and_recording_has_done_no_harm(caretaker: Make, engine: Engine) -> None:
    now = at(BERLIN, "2026-06-08T10:00")
    break_records(engine)
    assert caretaker(BER=BERLIN).look(now) == 0
    assert (len(intents(engine)), count(engine, "scheduled")) == (1, 0)
    mend_records(engine)
    assert caretaker(BER=BERLIN).look(now) == 1
    assert (len(intents(engine)), recorded(engine, "BER")) == (1, [("2026-06-08", True)])
    assert [one.asked for one in rows(engine, "SELECT asked FROM intents")] == [1]  # found again, not asked again


@pytest.mark.own_database
def test_what_was_asked_for_under_other_settings_stands(caretaker: Make, engine: Engine) -> None:
    break_records(engine)
    caretaker(BER=hotel(days_ahead=1)).look(at(BERLIN, "2026-06-08T10:00"))
    mend_records(engine)
    assert caretaker(BER=hotel(days_ahead=2)).look(at(BERLIN, "2026-06-08T10:01")) == 1
    assert (len(intents(engine)), recorded(engine, "BER")) == (1, [("2026-06-08", True)])
    assert count(engine, "items") == 1


@pytest.mark.own_database
def test_what_was_asked_for_is_never_told_as_skipped(
    caretaker: Make, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    """The caretaker died right after asking, and the next one came when the day of arrival was over."""
    hotels = caretaker(BER=BERLIN)
    hotels.look(at(BERLIN, "2026-06-07T10:00"))
    break_records(engine)
    hotels.look(at(BERLIN, "2026-06-08T10:00"))
    mend_records(engine)
    caplog.clear()
    hotels.look(at(BERLIN, "2026-06-10T10:00"))
    assert recorded(engine, "BER") == [(f"2026-06-{day:02}", True) for day in (7, 8, 9, 10)]
    assert lines(caplog) == []


def test_missed_days_are_asked_for_once_or_told(
    caretaker: Make, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    hotels = caretaker(BER=BERLIN)
    hotels.look(at(BERLIN, "2026-06-05T10:00"))
    assert hotels.look(at(BERLIN, "2026-06-08T10:00")) == 3
    assert hotels.look(at(BERLIN, "2026-06-08T10:01")) == 0
    assert recorded(engine, "BER") == [
        *(("2026-06-05", True), ("2026-06-06", False), ("2026-06-07", True), ("2026-06-08", True))
    ]
    [line] = lines(caplog)
    assert "BER, 2026-06-06: skipped" in line
    assert "2026-06-07, is over" in line


def test_days_before_the_first_start_are_nobody_s(
    caretaker: Make, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    hotels = caretaker(BER=hotel(days_ahead=5))
    assert hotels.look(at(BERLIN, "2026-06-08T09:00")) == 0
    assert hotels.look(at(BERLIN, "2026-06-08T12:00")) == 1
    assert (recorded(engine, "BER"), lines(caplog)) == ([("2026-06-08", True)], [])


def test_days_too_long_ago_are_told_together(caretaker: Make, caplog: pytest.LogCaptureFixture) -> None:
    hotels = caretaker(BER=hotel(days_ahead=60))
    hotels.look(at(BERLIN, "2026-04-01T10:00"))
    assert hotels.look(at(BERLIN, "2026-06-08T10:00")) == 31
    [line] = lines(caplog)
    assert "BER: skipped all after 2026-04-01 and before 2026-05-09" in line


def test_an_unknown_tenant_is_told_and_the_other_hotels_go_on(
    caretaker: Make, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    hotels = caretaker(BER=hotel(tenant="nobody"), MUC=BERLIN)
    assert hotels.look(at(BERLIN, "2026-06-08T10:00")) == 1
    assert (recorded(engine, "BER"), recorded(engine, "MUC")) == ([], [("2026-06-08", True)])
    assert lines(caplog) == ["properties.BER.reminders.tenant: there is no tenant nobody, so nobody is reminded"]


@pytest.mark.own_database
@pytest.mark.parametrize(
    ("code", "told"),
    [("58030", "wait"), ("P0001", "failed; it is tried again")],  # the first is the database's own trouble
)
def test_a_hotel_that_fails_stops_no_other(
    caretaker: Make, engine: Engine, caplog: pytest.LogCaptureFixture, code: str, told: str
) -> None:
    hotels = caretaker(BER=hotel(days_ahead=3), MUC=BERLIN)
    hotels.look(at(BERLIN, "2026-06-06T10:00"))
    break_records(engine, code, since="2026-06-07")
    caplog.clear()
    assert hotels.look(at(BERLIN, "2026-06-08T10:00")) == 2
    assert hotels.look(at(BERLIN, "2026-06-08T10:00")) == 0
    assert recorded(engine, "BER") == [("2026-06-06", True)]
    assert [line.split(":")[0] for line in lines(caplog)] == [f"send_checkin_reminders of BER {told}"] * 2
    mend_records(engine)
    assert hotels.look(at(BERLIN, "2026-06-08T10:00")) == 2  # no date was passed over
    assert recorded(engine, "BER") == [(f"2026-06-{day:02}", True) for day in (6, 7, 8)]


@pytest.mark.own_database
def test_what_was_done_before_a_failure_counts(caretaker: Make, engine: Engine) -> None:
    hotels = caretaker(BER=hotel(days_ahead=3))
    hotels.look(at(BERLIN, "2026-06-06T10:00"))
    break_records(engine, since="2026-06-08")
    assert hotels.look(at(BERLIN, "2026-06-09T10:00")) == 1
    assert recorded(engine, "BER") == [("2026-06-06", True), ("2026-06-07", True)]


def test_a_date_of_one_tenant_is_not_another_s(caretaker: Make, engine: Engine) -> None:
    make_tenant(engine, "other")
    for tenant in ("demo", "other"):
        assert caretaker(BER=hotel(tenant=tenant)).look(at(BERLIN, "2026-06-08T10:00")) == 1
    assert count(engine, "intents") == 2


def test_a_tenant_is_found_as_its_agent(engine: Engine, tenant: Tenant) -> None:
    found = find_tenant(engine, tenant.id)
    assert found == find_caller(engine, tenant.agent)
    assert found is not None
    assert found.scope is Scope.AGENT
    assert find_tenant(engine, "nobody") is None


def test_the_database_s_clock_is_told_in_utc(engine: Engine) -> None:
    [row] = rows(engine, "SELECT now() AS begun")
    with wide(engine, 1) as one:
        with one.connect() as connection:  # the one connection of this pool
            connection.exec_driver_sql("SET TIME ZONE 'Europe/Berlin'")
        now = database_now(one)
    assert now.tzinfo is dt.UTC
    assert dt.timedelta() <= now - row.begun < dt.timedelta(minutes=1)
