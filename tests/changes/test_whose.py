"""Whose reservation it is, before anything of it is shown or changed; and nothing of anybody else in any answer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dedupe.engine import Engine
from tests.api.checks import refused
from tests.api.serving import Api, settings_for
from tests.changes.house import ANNA, BEN, CANCEL, CHANGE, A, B, Dates
from tests.changes.talk import Talk, told
from tests.conftest import Tenant
from tests.dedupe.rows import run

NAMED: dict[str, Any] = {"guest_name": "Anna Moser"}
BY_MAIL: dict[str, Any] = {"email": "anna.moser@example.com"}
WRONG: list[dict[str, Any]] = [
    {"guest_name": "Ben Kern"},
    {"email": "ben@example.com"},
    {"guest_name": "Anna", "email": "anna@example.com"},
]


def both(test: Callable[[Talk, str], None]) -> Callable[[Talk], None]:
    """For either tool, in conversations of its own: to start an API takes longer than a test."""

    def in_turn(talk: Talk) -> None:
        for tool in (CHANGE, CANCEL):
            test(replace(talk, apart=f"{tool}-"), tool)
            talk.desk.pms.clear_ledger()

    in_turn.__name__ = test.__name__
    return in_turn


def asked(tool: str, number: str, dates: Dates = B, **claims: Any) -> dict[str, Any]:
    """The arguments."""
    target = {"check_in": dates[0], "check_out": dates[1]} if tool == CHANGE else {}
    return {"reservation_id": number, **target, **claims}


def untouched(talk: Talk, number: str) -> bool:
    [booking] = talk.desk.pms.bookings(booking_id=number)
    return (booking["status"], booking["check_in"], booking["check_out"]) == ("confirmed", *A)


@both
def test_whoever_knows_the_number_and_the_name_or_the_mail_address_is_let_in(talk: Talk, tool: str) -> None:
    for claims in (NAMED, BY_MAIL, {"guest_name": "  anna MOSER "}):
        number = talk.seed()
        assert talk.done(tool, **asked(tool, number, **claims))["outcome"] == "succeeded"
        assert not untouched(talk, number)


@both
def test_a_number_alone_opens_nothing_but_to_a_verified_guest(talk: Talk, tool: str) -> None:
    number = talk.seed()
    problem = refused(talk.tool(tool, **asked(tool, number)), 422)
    assert problem.tool_error.message.startswith("guest_name: is required, or email: a number alone opens no")
    assert talk.desk.pms.ledger() == []
    talk.verify(ANNA)
    assert talk.done(tool, **asked(tool, number))["outcome"] == "succeeded"
    refused(talk.tool(tool, "c-2", **asked(tool, number)), 422)


@both
def test_a_wrong_claim_is_told_exactly_like_a_number_that_does_not_exist(talk: Talk, tool: str) -> None:
    theirs, none = talk.seed(), "B-7777"
    for place, claims in enumerate(WRONG):
        seen = {_seen(talk, tool, f"c-{place}", number, claims) for number in (theirs, none)}
        assert len(seen) == 1
    assert untouched(talk, theirs)
    assert {call["operation"] for call in talk.desk.pms.ledger()} == {"get"}


def _seen(talk: Talk, tool: str, conversation: str, number: str, claims: dict[str, Any]) -> str:
    """All that is told, but for ids, times and the number."""
    intent = talk.done(tool, conversation, **asked(tool, number, **claims))
    assert told(intent)["message"] == f"Reservation {number} was not found."
    whole = {name: intent[name] for name in ("outcome", "error", "fix", "notice", "succeeded", "failed", "stop")}
    items = [{name: item[name] for name in ("state", "error", "result", "attempts")} for item in intent["items"]]
    return f"{whole} {items}".replace(number, "N")


@both
def test_another_guest_who_is_verified_is_denied_whatever_the_model_claims(talk: Talk, tool: str) -> None:
    number = talk.seed()
    talk.verify(BEN)
    for claims in (NAMED, BY_MAIL):
        intent = talk.done(tool, **asked(tool, number, **claims))
        error = told(intent)
        assert (error["code"], error["retryable"]) == ("PERMISSION_DENIED", False)
        assert error["message"] == "This is not allowed. Do not try again."
        assert error["fix"] == "Offer the guest a person."
        talk.put({"turn": len(talk.desk.pms.ledger())})  # for the guards
    assert untouched(talk, number)


@both
def test_whose_it_is_comes_before_what_is_so_already(talk: Talk, tool: str) -> None:
    """Or a stranger would learn the dates by asking for them, and that it is cancelled."""
    number = talk.seed()
    if tool == CANCEL:
        talk.desk.pms.desk(number, status="cancelled")
    arguments = asked(tool, number, A)
    assert told(talk.done(tool, **arguments, guest_name="Ben Kern"))["code"] == "NOT_FOUND"
    talk.verify(BEN, "c-2")
    assert told(talk.done(tool, "c-2", **arguments))["code"] == "PERMISSION_DENIED"


def test_that_it_is_cancelled_is_told_to_its_guest_alone(talk: Talk) -> None:
    number = talk.seed()
    talk.desk.pms.desk(number, status="cancelled")
    assert told(talk.change(number, B, **NAMED))["code"] == "CONFLICT"
    assert told(talk.change(number, B, guest_name="Ben Kern", conversation="c-2"))["code"] == "NOT_FOUND"


@both
def test_a_wrong_name_first_and_the_right_one_then_works(talk: Talk, tool: str) -> None:
    number = talk.seed()
    assert told(talk.done(tool, **asked(tool, number, guest_name="Anna Mosel")))["code"] == "NOT_FOUND"
    assert talk.done(tool, **asked(tool, number, **NAMED))["outcome"] == "succeeded"


@both
def test_who_was_not_let_in_is_once_the_host_has_verified_them(talk: Talk, tool: str) -> None:
    number = talk.seed()
    arguments = asked(tool, number, guest_name="A. Moser")
    assert told(talk.done(tool, **arguments))["code"] == "NOT_FOUND"
    talk.verify(BEN, "c-2")
    assert told(talk.done(tool, "c-2", **arguments))["code"] == "PERMISSION_DENIED"
    talk.verify(ANNA)
    talk.verify(ANNA, "c-2")
    assert talk.done(tool, "c-2", **arguments)["outcome"] == "succeeded"
    assert talk.done(tool, **arguments)["outcome"] == "succeeded"
    assert not untouched(talk, number)


@both
def test_no_other_proof_gets_the_answer_to_an_earlier_one(talk: Talk, tool: str) -> None:
    number = talk.seed()
    assert talk.done(tool, **asked(tool, number, **NAMED))["outcome"] == "succeeded"
    talk.verify(BEN, "c-ben")
    for conversation, claims in (
        ("c-77", {"guest_name": "Ben Kern"}),
        ("c-2", {"guest_name": "Ben Kern"}),
        ("c-ben", NAMED),
    ):
        intent = talk.done(tool, conversation, **asked(tool, number, **claims))
        assert intent["outcome"] == "failed"
        assert "Anna" not in str(intent["items"])
    talk.verify(BEN)
    assert told(talk.done(tool, **asked(tool, number, **NAMED)))["code"] == "PERMISSION_DENIED"


def test_an_address_that_only_folds_to_the_same_is_another_guests(talk: Talk) -> None:
    """strasse.example and straße.example are two domains, of two people."""
    number = talk.seed(guest={"name": "Anna Moser", "email": "anna@straße.example"})
    talk.verify({"name": "Anna Moser", "email": "anna@strasse.example"})
    assert told(talk.change(number, B))["code"] == "PERMISSION_DENIED"
    talk.verify({"name": "Anna Moser", "email": "ANNA@straße.example"})
    assert talk.change(number, B)["outcome"] == "succeeded"


# Hotels


@both
def test_another_hotels_reservation_is_not_found_until_the_right_hotel_is_said(talk: Talk, tool: str) -> None:
    number = talk.seed()
    wrong = talk.done(tool, **asked(tool, number, **NAMED, property="AKL"))
    assert told(wrong)["message"] == f"Reservation {number} was not found."
    assert untouched(talk, number)
    assert talk.done(tool, **asked(tool, number, **NAMED, property="BER"))["outcome"] == "succeeded"
    talk.put({"turn": 1})
    assert told(talk.done(tool, **asked(tool, number, **NAMED, property="AKL")))["code"] == "NOT_FOUND", "still"


@both
def test_a_verified_guest_does_not_learn_at_which_hotel_another_guest_stays(talk: Talk, tool: str) -> None:
    number = talk.seed()
    talk.verify(BEN)
    for hotel in ("AKL", "BER"):
        error = told(talk.done(tool, **asked(tool, number, property=hotel)))
        assert error["code"] == "PERMISSION_DENIED"


def test_with_several_hotel_systems_the_hotel_must_be_said(
    database_url: str, redis_url: str, tenant: Tenant, engine: Engine
) -> None:
    hotels = {
        "BER": {"name": "Berlin", "time_zone": "Europe/Berlin", "currency": "EUR"},
        "AKL": {"name": "Auckland", "time_zone": "Pacific/Auckland", "currency": "NZD", "provider": "other"},
    }
    settings = settings_for(database_url, redis_url, providers={"pms": {}, "other": {}}, properties=hotels)
    with Api.started(settings, tenant, engine) as api:
        for number, tool in (("B-1", CHANGE), ("B-2", CANCEL)):
            body = {"tool": tool, "arguments": asked(tool, number, **NAMED), "conversation_id": "c-1"}
            problem = refused(api.submit(body), 422)
            assert problem.tool_error.message.startswith("property: is required here; must be one of AKL, BER")
            body["arguments"] = asked(tool, number, **NAMED, property="AKL")
            assert api.submit(body).status_code == 202


# Nothing of anybody else


def test_nothing_of_another_guest_is_in_any_answer_conversation_handoff_or_event(talk: Talk) -> None:
    guards = '{"guards": {"same_call_failures": 3, "unavailable": 100}}'
    run(talk.api.engine, "UPDATE tenants SET settings = CAST(:guards AS jsonb)", guards=guards)
    number = talk.seed(guest=ANNA | {"phone": "+49 30 1234"})
    talk.verify(BEN, "c-ben")
    seen = []
    whose: list[tuple[str, dict[str, Any]]] = [("c-77", {"guest_name": "Ben Kern"}), ("c-ben", {})]
    for conversation, claims in whose:
        for _ in range(3):
            for tool in (CHANGE, CANCEL):
                response = talk.tool(tool, conversation, **asked(tool, number, **claims))
                seen += [response.text]
                if response.status_code == 202:
                    seen += [str(talk.work(response.json()))]
        answer = talk.conversation(conversation)
        assert answer["stop"]["reason"] == "same_call"
        seen += [str(answer)]
    seen += [str(talk.events())]
    for text in seen:
        for word in ("Anna", "Moser", "anna.moser", "1234", *A, "BER", "double", "confirmed"):
            assert word not in text
    assert f"The change of {number} and the cancellation of {number} were not possible" in seen[-2]
    assert untouched(talk, number)


def test_what_the_host_has_verified_is_in_no_answer_to_the_agent(talk: Talk) -> None:
    number = talk.seed()
    talk.verify(BEN)
    for tool in (CHANGE, CANCEL):
        intent = talk.done(tool, **asked(tool, number))
        for text in (str(intent), str(talk.conversation())):
            assert "ben@example.com" not in text
