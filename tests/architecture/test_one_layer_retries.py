"""The effective settings of each client that we construct: none repeats anything by itself."""

import socket
from collections.abc import Iterator
from dataclasses import fields
from importlib.metadata import version
from types import ModuleType
from typing import Any

import httpx
import pytest
import stripe
from celery import Celery
from celery.backends.base import DisabledBackend
from pydantic import SecretStr
from redis import Redis
from sqlalchemy import event
from sqlalchemy.pool import QueuePool
from stripe._request_options import merge_options

from booking.settings import Provider, ProviderKind, Settings
from booking.states import Queue
from dedupe.engine import Engine, make_engine
from providers.line import Broken, open_line
from providers.stripe_payments import stripe_payments
from tasks.message import PUBLISH_SECONDS, RUN_ITEM, WORKER_SECONDS, make_app, queue_names
from tasks.runtime import Runtime
from tasks.wake import Waker
from tests.providers.servers import serving
from workers import assemble
from workers.worker import worker_app

NOWHERE = "redis://127.0.0.1:1/0"


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    """A worker process's parts, put together as the command does it; nothing is connected."""
    made = assemble.runtime(
        Settings(
            database_url=SecretStr("postgresql://nobody@127.0.0.1:1/none"),
            broker_url=SecretStr(NOWHERE),
            pms_url="http://127.0.0.1:1",
        )
    )
    yield made
    made.engine.dispose()


@pytest.fixture(scope="module")
def app(runtime: Runtime) -> Celery:
    """The worker's app with its task."""
    return worker_app(NOWHERE, runtime, queue_names(["pms"]))


def test_celery_publishes_once(app: Celery) -> None:
    assert app.conf.task_publish_retry is False


def test_the_one_task_is_never_retried_by_celery(app: Celery) -> None:
    ours = {name: task for name, task in app.tasks.items() if not name.startswith("celery.")}
    assert list(ours) == [RUN_ITEM]
    task = ours[RUN_ITEM]
    assert task.max_retries == 0
    assert not getattr(task, "autoretry_for", ())
    assert not task.reject_on_worker_lost


def test_a_message_is_a_late_acknowledged_hint_without_a_result(app: Celery) -> None:
    assert app.tasks[RUN_ITEM].acks_late is True
    assert app.tasks[RUN_ITEM].ignore_result is True
    assert app.conf.task_acks_late is True
    assert app.conf.worker_prefetch_multiplier == 1
    assert app.conf.result_backend is None
    assert isinstance(app.backend, DisabledBackend)


def test_messages_are_json_alone(app: Celery) -> None:
    assert (app.conf.task_serializer, app.conf.accept_content) == ("json", ["json"])


def test_nothing_is_scheduled_in_the_broker(app: Celery) -> None:
    assert not app.conf.beat_schedule
    assert not app.conf.task_annotations
    assert app.conf.broker_transport_options["ack_emulation"] is False
    assert {queue.name for queue in app.conf.task_queues} == {f"{kind.value}.pms" for kind in Queue}


def test_a_lost_broker_connection_cancels_and_repeats_no_running_item(app: Celery) -> None:
    assert app.conf.worker_cancel_long_running_tasks_on_connection_loss is False


def repeats(client: Any) -> int:
    """How often a connection of the client repeats a command, as redis-py will really do it."""
    made: Any = client.connection_pool.make_connection()  # its declared type knows no retry
    return int(made.retry.get_retries())


def redis_clients(part: object, seen: dict[int, object] | None = None) -> list[Any]:
    """Every Redis client that hangs anywhere on `part`."""
    seen = {} if seen is None else seen
    if id(part) in seen:
        return []
    seen[id(part)] = part
    if isinstance(part, Redis):
        return [part]
    held = [*(part.values() if isinstance(part, dict) else ()), *(part if isinstance(part, list | tuple) else ())]
    held += vars(part).values() if hasattr(part, "__dict__") and not isinstance(part, type | ModuleType) else ()
    return [client for value in held for client in redis_clients(value, seen)]


def test_the_measure_finds_the_default_of_redis() -> None:
    """A bare client repeats ten times: had this reader gone blind with a new version, it would show here."""
    assert repeats(Redis()) > 0, version("redis")
    assert len(redis_clients([Waker(Redis())])) == 1


def test_no_redis_client_of_a_worker_repeats_anything(runtime: Runtime) -> None:
    clients = redis_clients([getattr(runtime, part.name) for part in fields(runtime) if part.name != "engine"])
    assert clients
    assert [repeats(client) for client in clients] == [0] * len(clients)


@pytest.mark.parametrize("seconds", [PUBLISH_SECONDS, WORKER_SECONDS])
def test_the_brokers_own_redis_connections_repeat_nothing_and_never_hang(redis_url: str, seconds: float) -> None:
    with make_app(redis_url, seconds, []).connection_for_write() as connection:
        channel = connection.channel()
        assert repeats(channel.client) == 0
        made = channel.client.connection_pool.make_connection()
        assert not made.retry_on_timeout
        assert (made.socket_timeout, made.socket_connect_timeout) == (seconds, seconds)
        assert made.health_check_interval


def test_httpx_repeats_no_connection_and_follows_no_redirect() -> None:
    """Private, but the one place where the effective number is."""
    with httpx.Client() as client:
        assert client._transport._pool._retries == 0  # type: ignore[attr-defined]
        assert client.follow_redirects is False


def stripe_repeats(client: stripe.StripeClient) -> object:
    """How often the client would send a request again, its own setting and a call's options put together."""
    return merge_options(client._requestor._options, {"idempotency_key": "k"}).get("max_network_retries")


def test_stripes_client_repeats_nothing() -> None:
    """What really leaves is counted in tests/stripe/test_our_line.py."""
    assert stripe_repeats(stripe.StripeClient("sk", http_client=stripe.HTTPClient(), max_network_retries=2)) == 2, (
        version("stripe")
    )
    ours = stripe_payments(Provider(kind=ProviderKind.STRIPE, token=SecretStr("sk_test")))
    assert stripe_repeats(ours.client(stripe.HTTPClient())) == 0


def test_a_request_to_a_provider_leaves_once_on_one_connection() -> None:
    """A server that takes the request and hangs up is where HTTP libraries like to send again."""
    received: list[bytes] = []

    def swallow(connection: socket.socket, _stop: object) -> None:
        received.append(connection.recv(65_536))

    with serving(swallow) as server:
        line = open_line(server.url, 2.0)
        with pytest.raises(Broken):
            line.request("POST", "/v1/bookings", b"{}", {}, 2.0)
        assert server.connections == 1
    assert len(received) == 1
    assert received[0].startswith(b"POST /v1/bookings HTTP/1.1\r\n")


@pytest.fixture
def unconnected() -> Iterator[Engine]:
    engine = make_engine("postgresql://nobody@127.0.0.1:1/none", 1)
    yield engine
    engine.dispose()


def test_the_database_engine_pings_nothing_and_grows_no_further(unconnected: Engine) -> None:
    pool = unconnected.pool
    assert isinstance(pool, QueuePool)
    assert pool._pre_ping is False
    assert (pool.size(), pool._max_overflow) == (1, 0)


def test_a_statement_on_a_connection_that_died_fails_and_is_not_repeated(engine: Engine) -> None:
    sent: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *args: sent.append(args[2]))
    with engine.connect() as connection:
        pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        with engine.connect() as other:
            other.exec_driver_sql(f"SELECT pg_terminate_backend({pid})")
        sent.clear()
        with pytest.raises(Exception, match=r"terminat|closed|lost"):
            connection.exec_driver_sql("SELECT 1")
    assert sent == ["SELECT 1"]
