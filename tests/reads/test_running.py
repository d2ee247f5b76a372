"""How reads share the process and the hotel system: threads of their own, limits, a line in the log for each call."""

import asyncio
import datetime as dt
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from api.deps import CONNECTIONS
from api.reading import Reading
from booking.arguments import Hotels
from booking.reads import NOTICE, ListArrivals
from booking.settings import Provider
from providers.reference import reference_pms
from tasks.decisions import Give
from tasks.read import Asked, Ran, Reads
from tests.api.serving import PROPERTIES, request
from tests.conftest import Servers
from tests.pms import Pms
from tests.providers.servers import serving
from tests.reads.conftest import Desk, desk_at, within
from tests.waiting import eventually

ARRIVALS = Asked("list_arrivals", "c-77", "pms", ListArrivals(property="BER", date=dt.date(2027, 5, 14)))


def test_reads_that_hang_keep_nobody_from_the_database(servers: Servers, pms: Pms) -> None:
    pms.fault("latency", ms=60_000)
    more = CONNECTIONS + 4
    with desk_at(servers, pms, read_deadline=1.5) as desk, ThreadPoolExecutor(more) as pool:
        hanging = [pool.submit(desk.search) for _ in range(more)]
        eventually(lambda: len(desk.calls()) >= more)
        with within(2.5):
            assert desk.api.submit(request()).status_code == 202
        assert not any(one.done() for one in hanging)
        assert {one.result().status_code for one in hanging} == {503}


def test_the_wait_for_a_free_thread_counts_as_time_of_the_read() -> None:
    """With one thread, the second read is told in time that it can't be asked."""

    async def both() -> tuple[Ran, Ran]:
        reading, until = Reading(reads, threads=1), time.monotonic() + 1.5
        return await asyncio.gather(reading.run(ARRIVALS, until), reading.run(ARRIVALS, until))

    def silent(_connection: socket.socket, stop: threading.Event) -> None:
        stop.wait(5)

    with serving(silent) as server:
        reads = Reads({"pms": reference_pms(Provider(), server.url)})
        with within(3):
            first, second = asyncio.run(both())
        server.stop.set()
    assert isinstance(first.answer, Give)
    assert (first.answer.row, first.tries) == ("read_unavailable", 1)
    assert second == Ran(Give("read_unavailable"), 0)


def test_the_limit_of_calls_at_once_holds_for_reads_and_costs_no_try(
    servers: Servers, pms: Pms, redis_url: str
) -> None:
    assert redis_url
    pms.fault("latency", ms=500)
    with desk_at(servers, pms, max_concurrent=1) as desk, ThreadPoolExecutor(3) as pool:
        answers = [one.result() for one in [pool.submit(desk.search) for _ in range(3)]]
        assert {answer.status_code for answer in answers} == {200}
        times = [dt.datetime.fromisoformat(call["at"]) for call in desk.calls()]
    assert len(times) == 3
    assert all((later - earlier).total_seconds() >= 0.5 for earlier, later in pairwise(times))


def test_an_open_breaker_is_waited_for_within_the_budget(desk: Desk) -> None:
    """After many failures nobody is let through for a moment; a read that comes then still gets its answer."""
    desk.pms.fault("status", status=503, times=9)
    for _ in range(3):
        desk.search()
    with within(8):
        assert desk.search().status_code == 200
    assert len(desk.calls()) == 10


def test_each_call_leaves_a_line_without_a_guests_name(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "roomkey.read")
    desk.pms.fault("status", status=503, times=1)
    response = desk.read("get_reservation", reservation_id="B-4711", guest_name="Anna Moser")
    assert (response.status_code, response.json()["notice"]) == (404, NOTICE)
    lines = [record.getMessage() for record in caplog.records if record.name == "roomkey.read"]
    assert [line.split(" elapsed=")[0] for line in lines] == [
        "read tool=get_reservation conversation=c-77 provider=pms attempt=1 outcome=Unknown",
        "read tool=get_reservation conversation=c-77 provider=pms attempt=2 outcome=Rejected",
    ]
    assert lines[0].endswith("cause='HTTP 503 unavailable'")
    assert "Moser" not in "".join(lines)


@pytest.mark.parametrize(
    ("now", "auckland", "honolulu"),
    [
        ("2026-12-31T10:30:00+00:00", "2026-12-31", "2026-12-31"),
        ("2026-12-31T11:30:00+00:00", "2027-01-01", "2026-12-31"),
        ("2027-01-01T09:30:00+00:00", "2027-01-01", "2026-12-31"),
        ("2027-01-01T10:00:00+00:00", "2027-01-01", "2027-01-01"),
        ("2026-04-04T12:30:00+00:00", "2026-04-05", "2026-04-04"),  # the night in which Auckland's summer time ends
    ],
)
def test_case_52_today_is_each_hotels_own(now: str, auckland: str, honolulu: str) -> None:
    hotels = Hotels(PROPERTIES, dt.datetime.fromisoformat(now))
    assert (str(hotels.today("AKL")), str(hotels.today("HNL"))) == (auckland, honolulu)
