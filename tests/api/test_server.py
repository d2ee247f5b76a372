"""The API as a process: SIGTERM is orderly, secrets stay out of the log, bugs are told as problems."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from api.server import build_server
from booking.settings import Settings
from dedupe.engine import Engine
from tests.api.checks import refused
from tests.api.serving import PROPERTIES, Api, bearer, request, settings_for
from tests.conftest import Tenant
from tests.waiting import eventually

ROOT = Path(__file__).resolve().parent.parent.parent
SERVE = """
import json, sys, threading
from api.server import build_server
from booking.settings import Settings
settings = Settings.model_validate(json.loads(sys.stdin.readline()))
server = build_server(settings, lambda port: print(port, flush=True))
tell = lambda: [print(server.parts.waiting.count, flush=True) for _ in sys.stdin]
threading.Thread(target=tell, daemon=True).start()
server.run()
"""


def waiting(child: subprocess.Popen[str]) -> int:
    """How many wait in the process."""
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("\n")
    child.stdin.flush()
    return int(child.stdout.readline())


@contextmanager
def process(database_url: str, redis_url: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    properties = {name: hotel.model_dump() for name, hotel in PROPERTIES.items()}
    given = {"database_url": database_url, "broker_url": redis_url, "api_port": 0, "properties": properties}
    pipe = subprocess.PIPE
    child = subprocess.Popen(
        [sys.executable, "-c", SERVE], cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env={**os.environ}
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write(json.dumps(given) + "\n")
        child.stdin.flush()
        yield child, f"http://127.0.0.1:{child.stdout.readline().strip()}"
    finally:
        child.kill()
        child.communicate()


def test_sigterm_answers_long_polls_at_once_and_ends_in_order(
    database_url: str, redis_url: str, tenant: Tenant
) -> None:
    with process(database_url, redis_url) as (child, url), httpx.Client(base_url=url, timeout=40) as client:
        client.headers.update(bearer(tenant.agent))
        intent = client.post("/v1/intents", json=request()).json()
        answers: list[httpx.Response] = []
        poll = threading.Thread(target=lambda: answers.append(client.get(f"/v1/intents/{intent['id']}?wait=30")))
        poll.start()
        eventually(lambda: waiting(child) == 1)
        begun = time.monotonic()
        child.send_signal(signal.SIGTERM)
        poll.join(10)
        assert answers[0].json()["state"] == "pending"
        assert child.wait(10) == 0
        assert time.monotonic() - begun < 5
        said = (child.stderr.read() if child.stderr else "") + (child.stdout.read() if child.stdout else "")
        assert "Traceback" not in said
        for secret in (tenant.agent, database_url, redis_url):
            assert secret not in said


def test_a_missing_setting_is_named() -> None:
    with pytest.raises(ValueError, match="database_url and broker_url"):
        build_server(Settings())


@pytest.mark.own_database
def test_a_bug_is_told_as_a_problem_and_logged_without_the_guest(
    database_url: str, redis_url: str, tenant: Tenant, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    with Api.started(settings_for(database_url, redis_url), tenant, engine) as api:
        with engine.connect() as connection:
            connection.exec_driver_sql("ALTER TABLE items DROP COLUMN published")  # as after a wrong migration
        with caplog.at_level(logging.ERROR):
            problem = refused(api.submit(), 500, "UNAVAILABLE")
        assert "published" not in problem.model_dump_json()
        eventually(lambda: "UndefinedColumn" in caplog.text)
        assert "Moser" not in caplog.text
        assert tenant.agent not in caplog.text
        assert api.http.get("/healthz").status_code == 200
