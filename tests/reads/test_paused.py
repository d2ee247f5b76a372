"""A paused provider is not called by reads either, and a read whose credentials are refused pauses it."""

from collections.abc import Iterator

import psycopg
import pytest

from booking.guests import VerifiedGuest
from dedupe.conversations import before_read, name
from dedupe.pauses import list_pauses, pause, resume
from tests.api.checks import refused
from tests.conftest import Servers
from tests.dedupe.rows import count, rows, url_of
from tests.pms import Pms
from tests.reads.conftest import Desk, desk_at, within
from tests.waiting import eventually


@pytest.fixture
def own_desk(servers: Servers, pms: Pms, redis_url: str) -> Iterator[Desk]:
    """With a database of its own, in which pauses and failures can be counted."""
    assert redis_url
    with desk_at(servers, pms) as desk:
        yield desk


def test_a_paused_provider_is_told_at_once_without_a_call(own_desk: Desk) -> None:
    pause(own_desk.api.engine, "elsewhere", "a test")
    assert own_desk.search().status_code == 200
    pause(own_desk.api.engine, "pms", "a test")
    calls = len(own_desk.calls())
    with within(2):
        answers = [own_desk.search(), own_desk.read("get_reservation", reservation_id="B-1", guest_name="Anna Moser")]
    for response in answers:
        problem = refused(response, 503, "UNAVAILABLE")
        assert problem.notice is None
        assert response.headers["retry-after"] == "30"
    assert len(own_desk.calls()) == calls
    assert own_desk.calls("get_booking") == []
    assert count(own_desk.api.engine, "failures") == 2
    resume(own_desk.api.engine, "pms")
    assert own_desk.search().status_code == 200


def test_refused_credentials_pause_the_provider(own_desk: Desk) -> None:
    own_desk.pms.fault("status", status=401)
    refused(own_desk.search(), 503, "UNAVAILABLE")
    [paused] = list_pauses(own_desk.api.engine)
    assert (paused.provider, "401" in paused.cause) == ("pms", True)
    own_desk.pms.clear_faults()
    refused(own_desk.search(), 503, "UNAVAILABLE")
    assert len(own_desk.calls()) == 1


def test_what_may_be_a_firewalls_page_pauses_nothing(own_desk: Desk) -> None:
    own_desk.pms.fault("html", status=403, times=1)
    refused(own_desk.search(), 503, "UNAVAILABLE")
    assert list_pauses(own_desk.api.engine) == []
    assert own_desk.search().status_code == 200


def test_all_that_a_read_must_know_is_one_statement(own_desk: Desk) -> None:
    engine, tenant = own_desk.api.engine, own_desk.api.tenant.id
    name(engine, tenant, "c-1", VerifiedGuest(name="Anna Moser", email="anna.moser@example.com"))
    pause(engine, "pms", "a test")
    known = before_read(engine, tenant, "c-1", "pms")
    assert (known.guest and known.guest.name, known.paused) == ("Anna Moser", True)
    other = before_read(engine, tenant, "c-none", "elsewhere")
    assert (other.guest, other.paused) == (None, False)


def test_a_postgres_that_hangs_over_the_counting_does_not_delay_the_answer(own_desk: Desk) -> None:
    """The hotel system takes the whole time, and then the conversation is locked by somebody else."""
    engine = own_desk.api.engine
    name(engine, own_desk.api.tenant.id, "c-77", turn=1)
    own_desk.pms.fault("latency", ms=60_000)
    with psycopg.connect(url_of(engine)) as other:
        other.execute("SELECT FROM conversations FOR UPDATE")
        with within(8):
            response = own_desk.search()
    problem = refused(response, 503, "UNAVAILABLE")
    assert problem.type.endswith("read_unavailable")
    eventually(lambda: rows(engine, "SELECT count(*) FROM failures")[0][0] == 1, within=6)
