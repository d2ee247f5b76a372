"""Hand in and poll: what an agent sees of one intent."""

from tests.api.serving import Api


def test_a_submit_is_accepted_and_can_be_polled(api: Api) -> None:
    response = api.submit()
    assert response.status_code == 202, response.text
    accepted = response.json()
    assert response.headers["location"] == f"/v1/intents/{accepted['id']}"
    assert "idempotent-replayed" not in response.headers
    assert accepted["state"] == "pending"
    assert accepted["key"].startswith("c-77:create_booking:")
    assert [item["state"] for item in accepted["items"]] == ["queued"]
    assert api.poll(accepted["id"]).json() == accepted
