"""What isn't there, and what may not be done: always problem+json."""

import pytest

from tests.api.checks import refused
from tests.api.serving import Api, bearer, request
from tests.conftest import make_tenant

IDS = ["int_0123456789abcdef", "nonsense", "a" * 3000, "%00", "%ff", "%F0%9F%8F%A8", "..", "int_1'--"]


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("kind", ["intents", "conversations"])
def test_an_unknown_id_is_404(shared_api: Api, kind: str, id: str) -> None:
    refused(shared_api.http.get(f"/v1/{kind}/{id}"), 404, "NOT_FOUND")


def test_another_tenants_intent_and_conversation_are_404(api: Api) -> None:
    intent = api.submit().json()
    stranger = bearer(make_tenant(api.engine, "other").agent)
    for path in (f"/v1/intents/{intent['id']}", f"/v1/intents/{intent['id']}?wait=30", "/v1/conversations/c-77"):
        problem = refused(api.http.get(path, headers=stranger), 404, "NOT_FOUND")
        assert "Moser" not in problem.model_dump_json()
    assert api.poll(intent["id"]).status_code == 200


def test_tenants_share_no_keys(api: Api) -> None:
    stranger = bearer(make_tenant(api.engine, "other").agent)
    mine = api.submit(key="order-17").json()
    theirs = api.http.post("/v1/intents", json=request(), headers={**stranger, "Idempotency-Key": "order-17"})
    assert theirs.status_code == 202
    assert theirs.json()["id"] != mine["id"]
    assert theirs.json()["items"][0]["id"] != mine["items"][0]["id"]


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/intents/", "/v1/intent", "/docs", "/v1/intents/a/b"])
def test_an_unknown_path_is_404(shared_api: Api, path: str) -> None:
    refused(shared_api.http.get(path), 404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/intents", "POST"),
        ("PUT", "/v1/intents", "POST"),
        ("DELETE", "/v1/intents/int_0", "GET"),
        ("POST", "/v1/conversations/c", "GET"),
        ("PATCH", "/healthz", "GET"),
    ],
)
def test_a_wrong_method_is_405_and_names_the_right_one(shared_api: Api, method: str, path: str, allowed: str) -> None:
    response = shared_api.http.request(method, path)
    assert allowed in refused(response, 405).tool_error.message
    assert response.headers["allow"] == allowed


def test_a_huge_head_is_refused_by_the_protocol(shared_api: Api) -> None:
    for headers in ({"X-Long": "a" * 100_000}, {f"X-{n}": "a" * 100 for n in range(1000)}):
        assert shared_api.http.get("/healthz", headers=headers).status_code == 400
    assert shared_api.http.get("/healthz?" + "a" * 60_000).status_code == 400
    assert shared_api.http.get("/healthz", headers={"X-Long": "a" * 8000}).status_code == 200


def test_health(shared_api: Api) -> None:
    assert shared_api.http.get("/healthz").json() == {"alive": True}
    response = shared_api.http.get("/readyz")
    assert response.status_code == 200
    assert response.json()["ready"] is True
