"""Start the API in a thread, and call it as an agent would."""

import datetime as dt
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import httpx

from api.server import ApiServer, build_server
from booking.settings import Property, Settings
from dedupe.engine import Engine
from tests.conftest import Tenant

PROPERTIES = {
    "BER": Property(name="Berlin", time_zone="Europe/Berlin", currency="EUR"),
    "AKL": Property(name="Auckland", time_zone="Pacific/Auckland", currency="NZD"),
    "HNL": Property(name="Honolulu", time_zone="Pacific/Honolulu", currency="USD"),
}


def settings_for(database_url: str, broker_url: str, **more: Any) -> Settings:
    return Settings.model_validate(
        {"database_url": database_url, "broker_url": broker_url, "api_port": 0, "properties": PROPERTIES, **more}
    )


def stay(**changes: Any) -> dict[str, Any]:
    """Valid arguments of create_booking; a change to None leaves the field out."""
    arrival = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=60)
    given = {
        "property": "BER",
        "room_type": "double",
        "check_in": arrival.isoformat(),
        "check_out": (arrival + dt.timedelta(days=2)).isoformat(),
        "guest": {"name": "Anna Moser", "email": "anna.moser@example.com"},
        **changes,
    }
    return {name: value for name, value in given.items() if value is not None}


def request(**changes: Any) -> dict[str, Any]:
    """The body of a submit; `changes` go to the arguments."""
    return {"tool": "create_booking", "conversation_id": "c-77", "arguments": stay(**changes)}


class Api:
    """A running API, called with the agent's key unless another is given."""

    def __init__(self, port: int, tenant: Tenant, engine: Engine, server: ApiServer) -> None:
        self.port = port
        self.tenant = tenant
        self.engine = engine
        self.server = server
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=40, headers=bearer(tenant.agent))

    @classmethod
    @contextmanager
    def started(cls, settings: Settings, tenant: Tenant, engine: Engine) -> Iterator[Self]:
        ports: list[int] = []
        up = threading.Event()

        def ready(port: int) -> None:
            ports.append(port)
            up.set()

        server = build_server(settings, ready)
        thread = threading.Thread(target=server.run, name="api")
        thread.start()
        try:
            assert up.wait(10), "the API did not start"
            api = cls(ports[0], tenant, engine, server)
            with api.http:
                yield api
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive(), "the API did not stop"

    def submit(self, body: Any = None, key: str | None = None) -> httpx.Response:
        headers = {"Idempotency-Key": key} if key else {}
        return self.http.post("/v1/intents", json=request() if body is None else body, headers=headers)

    def poll(self, intent_id: str, wait: float = 0) -> httpx.Response:
        return self.http.get(f"/v1/intents/{intent_id}", params={"wait": wait})


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}
