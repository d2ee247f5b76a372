"""Bearer keys: who may do what."""

import json
import time

import httpx
import pytest
from pydantic import ValidationError

from booking.settings import Guards, TenantSettings
from dedupe.tenants import Scope, find_caller, revoke_key
from tests.api.checks import refused
from tests.api.serving import Api, bearer, request
from tests.api.work import rows
from tests.dedupe.rows import run
from tests.waiting import eventually


def calls(api: Api, headers: dict[str, str]) -> dict[str, httpx.Response]:
    bare = httpx.Client(base_url=api.http.base_url)
    with bare:
        return {
            "submit": bare.post("/v1/intents", json=request(), headers=headers),
            "poll": bare.get("/v1/intents/int_00", headers=headers),
            "conversation": bare.get("/v1/conversations/c-77", headers=headers),
        }


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer rk_" + "x" * 43},
        {"Authorization": "Basic YTpi"},
        {"Authorization": "Bearer rk_\u00ff".encode("latin-1").decode("latin-1")},
        {"Authorization": "Bearer " + "rk_" * 5000},
    ],
    ids=["none", "empty", "no key", "unknown", "basic", "latin-1", "long"],
)
def test_without_a_known_key_nothing_goes(shared_api: Api, sent: dict[str, str]) -> None:
    encoded = {name: value.encode("latin-1") for name, value in sent.items()}
    for response in calls(shared_api, encoded).values():  # type: ignore[arg-type]
        refused(response, 401, "PERMISSION_DENIED")
        assert response.headers["www-authenticate"].startswith('Bearer realm="roomkey"')
    assert rows(shared_api.engine)["intents"] == 0


def test_ops_may_read_but_not_submit(api: Api) -> None:
    intent = api.submit().json()
    ops = bearer(api.tenant.ops)
    response = api.http.post("/v1/intents", json=request(notes="ops"), headers=ops)
    assert "the scope ops; the call needs agent or host" in refused(response, 403, "PERMISSION_DENIED").detail
    assert api.http.get(f"/v1/intents/{intent['id']}", headers=ops).status_code == 200
    assert api.http.get("/v1/conversations/c-77", headers=ops).status_code == 200


def test_the_host_may_do_what_the_agent_may(api: Api) -> None:
    answered = calls(api, bearer(api.tenant.host))
    assert [response.status_code for response in answered.values()] == [202, 404, 200]


def test_a_revoked_key_stops_within_five_seconds(api: Api) -> None:
    agent = bearer(api.tenant.agent)
    assert api.http.get("/v1/conversations/none", headers=agent).status_code == 404
    assert revoke_key(api.engine, api.tenant.key_ids[Scope.AGENT])
    begun = time.monotonic()
    eventually(lambda: api.http.get("/v1/conversations/none", headers=agent).status_code == 401, within=5)
    assert time.monotonic() - begun < 5
    refused(api.submit(), 401, "PERMISSION_DENIED")


def test_settings_that_a_newer_release_wrote_are_read_without_what_is_new(api: Api) -> None:
    newer = {"guards": {"same_call_failures": 7, "new": 1}, "max_rooms": 9}
    run(api.engine, "UPDATE tenants SET settings = CAST(:to AS jsonb)", to=json.dumps(newer))
    assert api.submit().status_code == 202
    caller = find_caller(api.engine, api.tenant.agent)
    assert caller is not None
    assert caller.settings == TenantSettings(guards=Guards(same_call_failures=7))
    with pytest.raises(ValidationError):  # what is put in is checked as ever
        TenantSettings.model_validate(newer)


def test_the_key_is_asked_for_before_the_body_is_read(shared_api: Api) -> None:
    response = httpx.post(f"{shared_api.http.base_url}/v1/intents", content=b"not json")
    refused(response, 401, "PERMISSION_DENIED")
