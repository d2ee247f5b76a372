"""Bodies are checked at a cost that grows with their size, and large ones where they delay nobody."""

import json
import threading
import time
from typing import Any

import pytest

from api import body
from api.checking import LARGE
from api.problems import Refused
from tests.api.serving import Api, bearer, request

#: Of a body of about 430 kB.
NAMES = 40_000


def test_a_name_given_twice_among_very_many_is_found_at_once() -> None:
    text = json.dumps({f"name{n}": 0 for n in range(NAMES)})[:-1] + f', "name{NAMES - 1}": 1}}'
    begun = time.monotonic()
    with pytest.raises(Refused) as refused:
        body.parse(text.encode())
    assert time.monotonic() - begun < 2
    assert f'"name{NAMES - 1}" is given twice' in refused.value.problem.detail


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("POST", "/v1/intents", "agent"),
        ("POST", "/v1/reads/search_availability", "agent"),
        ("PUT", "/v1/conversations/c-77", "host"),
        ("POST", "/v1/conversations/c-77/lift", "ops"),
    ],
)
def test_a_large_body_is_checked_in_a_thread_by_every_route(
    shared_api: Api, monkeypatch: pytest.MonkeyPatch, method: str, path: str, scope: str
) -> None:
    seen: list[str] = []
    real = body._object

    def spy(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen.append(threading.current_thread().name)
        return real(pairs)

    monkeypatch.setattr(body, "_object", spy)
    for size in (10, LARGE):
        sent = {**request(), "filler": "x" * size}
        headers = bearer(getattr(shared_api.tenant, scope))
        assert shared_api.http.request(method, path, json=sent, headers=headers).status_code == 422
        in_loop = {name == "api" for name in seen}
        assert in_loop == {size < LARGE}
        seen.clear()
