"""Broker, Redis or Postgres away: what still works, and what is told."""

import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest
import redis

from booking.settings import Settings
from cli.embedded.postgres import start_postgres
from cli.embedded.server import Server
from dedupe.engine import Engine, make_engine
from dedupe.migrate import migrate
from tests.api.checks import refused
from tests.api.serving import Api, request, settings_for
from tests.api.work import book, rows
from tests.conftest import Tenant, make_tenant
from tests.waiting import eventually


@pytest.fixture
def silent() -> Iterator[str]:
    """A broker that accepts connections and never says a word, as a paused one does."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


@pytest.mark.parametrize("broker", ["refuses", "hangs"])
def test_case_12_a_submit_is_accepted_within_a_second_without_a_broker(
    database_url: str, silent: str, tenant: Tenant, engine: Engine, broker: str
) -> None:
    url = silent if broker == "hangs" else "redis://127.0.0.1:1/0"
    with Api.started(settings_for(database_url, url), tenant, engine) as api:
        assert api.poll("int_00").status_code == 404  # everything is warm
        for number in range(3):
            begun = time.monotonic()
            response = api.submit({**request(), "conversation_id": f"c-{number}"})
            assert time.monotonic() - begun < 1
            assert response.status_code == 202, response.text
        ready = api.http.get("/readyz")
        assert ready.status_code == 200
        assert ready.json() == {"ready": True, "database": "ok", "broker": "away", "wake_ups": "away"}
        assert rows(engine)["items"] == 3


def test_case_67_unknown_id_is_404_and_results_survive_a_flushed_broker(api: Api, redis_url: str) -> None:
    refused(api.poll("int_0123456789abcdef"), 404, "NOT_FOUND")
    intent = api.submit().json()
    book(api.engine, intent["items"][0]["id"], "B-67")
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    answer = api.poll(intent["id"], wait=5).json()
    assert answer["items"][0]["result"]["booking_id"] == "B-67"
    assert api.http.get("/v1/conversations/c-77").json()["owned"][0]["booking_id"] == "B-67"


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[Server]:
    """A Postgres that only this file breaks."""
    place = Path(tempfile.mkdtemp(prefix="roomkey-outage-"))
    place.chmod(0o755)
    with start_postgres(place / "postgres") as server:
        engine = make_engine(server.url, 2)
        migrate(engine)
        engine.dispose()
        yield server
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def own_api(own_postgres: Server, redis_url: str) -> Iterator[Api]:
    engine = make_engine(own_postgres.url, 2)
    tenant = make_tenant(engine, f"t{time.time_ns()}")
    with Api.started(settings_for(own_postgres.url, redis_url), tenant, engine) as api:
        assert api.submit().status_code == 202
        yield api
    engine.dispose()


def away(api: Api) -> None:
    """Every call that needs Postgres is answered with 503 within 3 s, the others as ever."""
    calls: list[Callable[[], httpx.Response]] = [
        api.submit,
        lambda: api.poll("int_00"),
        lambda: api.http.get("/v1/conversations/c-77"),
    ]
    for call in calls:
        begun = time.monotonic()
        response = call()
        took = time.monotonic() - begun
        problem = refused(response, 503, "UNAVAILABLE")
        assert response.headers["retry-after"] == "2"
        assert "nothing was accepted" not in problem.tool_error.message
        assert took < 3, took
    assert api.http.get("/healthz").status_code == 200
    ready = api.http.get("/readyz")
    assert (ready.status_code, ready.json()["database"]) == (503, "away")


@pytest.fixture
def hung(own_postgres: Server, own_api: Api) -> Iterator[Api]:
    """The API while every process of its Postgres is stopped."""
    master = psutil.Process(own_postgres.pid)
    processes = [*master.children(recursive=True), master]
    for process in processes:
        process.send_signal(signal.SIGSTOP)
    try:
        yield own_api
    finally:
        for process in processes:
            process.send_signal(signal.SIGCONT)
        eventually(lambda: own_api.http.get("/readyz").status_code == 200, within=20)


def test_a_hanging_postgres_is_503_within_three_seconds(hung: Api) -> None:
    away(hung)


def test_with_all_threads_stuck_the_others_are_answered_too(hung: Api) -> None:
    def timed(number: int) -> tuple[int, float]:
        begun = time.monotonic()
        response = hung.submit({**request(), "conversation_id": f"c-{number}"})
        return response.status_code, time.monotonic() - begun

    with ThreadPoolExecutor(64) as pool:
        answers = list(pool.map(timed, range(64)))
    assert {status for status, _ in answers} == {503}
    assert max(took for _, took in answers) < 4  # 64 threads of this test share the processor with the API


def test_a_stopped_postgres_is_503_and_its_return_needs_no_restart(own_postgres: Server, own_api: Api) -> None:
    elsewhere = own_postgres.url.removesuffix("roomkey") + "postgres"
    with psycopg.connect(elsewhere, autocommit=True) as admin:
        admin.execute("ALTER DATABASE roomkey ALLOW_CONNECTIONS false")
        try:
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'roomkey'")
            away(own_api)
        finally:
            admin.execute("ALTER DATABASE roomkey ALLOW_CONNECTIONS true")
    eventually(lambda: own_api.http.get("/readyz").status_code == 200, within=10)
    assert own_api.submit().status_code == 202


def test_a_database_that_is_not_migrated_is_not_ready(own_postgres: Server, redis_url: str, own_api: Api) -> None:
    url = own_postgres.url.removesuffix("roomkey") + "postgres"
    settings: Settings = settings_for(url, redis_url)
    with Api.started(settings, own_api.tenant, own_api.engine) as api:
        ready = api.http.get("/readyz")
        assert (ready.status_code, ready.json()["database"]) == (503, "not migrated")
