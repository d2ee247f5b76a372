"""What can't be looked at: it is tried again, never written blindly; and what a worker left behind when it died."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from booking.capabilities import Capabilities
from booking.errors import ToolError
from booking.outcomes import Finding, Misconfigured, NotSent, Unknown
from booking.states import Kind, State
from dedupe.pauses import list_pauses, resume
from tasks.decide import decide
from tasks.decisions import Call, Later
from tasks.write import run_item
from tests.changes.house import CANCEL, CHANGE, B, House, Wish, dies
from tests.tasks.build import BLIND, KEYED, LOOKUP_ONLY, NOW, an_item
from tests.tasks.desk import Desk

Houses = Callable[..., House]

TOOLS = {CHANGE: "change", CANCEL: "cancel"}
NOWHERE = "http://127.0.0.1:9"

both = pytest.mark.parametrize("tool", TOOLS)


def wished(house: House, tool: str, number: str, **how: Any) -> Wish:
    return house.ask(tool, number, B if tool == CHANGE else None, **how)


def error(house: House, wish: Wish) -> ToolError:
    found = house.answer(wish).error
    assert found is not None
    return found


UNSEEN: list[tuple[str, dict[str, Any]]] = [
    ("status", {"status": 503}),
    ("reset_before_commit", {}),
    ("html", {"status": 200}),
    ("rate_limited", {}),
]


@both
def test_what_can_not_be_looked_at_is_not_written_but_looked_at_again(house: Houses, tool: str) -> None:
    at = house()
    for kind, how in UNSEEN:
        number = at.seed()
        at.desk.pms.clear_ledger()
        at.desk.redis.flushdb()
        at.desk.pms.fault(kind, match={"operation": "get"}, times=2, **how)
        wish = wished(at, tool, number)
        for _ in range(2):
            assert (at.run(wish) if not at.attempts(wish) else at.later(wish, 10)).state is State.QUEUED
            assert set(at.operations()) == {"get"}
        assert at.later(wish, 10).state is State.SUCCEEDED
        assert at.operations() == ["get", "get", "get", TOOLS[tool]]


@pytest.mark.parametrize("outcome", [NotSent("refused"), Unknown("HTTP 503"), Misconfigured("HTTP 401")])
@pytest.mark.parametrize("caps", [KEYED, LOOKUP_ONLY, BLIND])
def test_a_look_before_the_first_write_that_told_nothing_leads_to_no_write(
    caps: Capabilities, outcome: Finding
) -> None:
    before = replace(caps, looks_first=True, reads_back=True)
    item = an_item(effect="change", request={"reservation_id": "B-1"})
    decision = decide(Kind.CHECK, outcome, item, before, NOW)
    assert isinstance(decision, Later)
    assert (decision.state, decide(None, None, item, before, NOW)) == (State.QUEUED, Call(Kind.CHECK))


@both
def test_a_hotel_system_that_can_not_be_reached_is_tried_until_the_time_is_over(house: Houses, tool: str) -> None:
    at = house()
    number = at.seed()
    away = House(Desk.at(at.desk.engine, at.desk.pms, at.desk.redis, "keyed", url=NOWHERE))
    wish = wished(at, tool, number)
    assert away.run(wish).state is State.QUEUED
    assert away.later(wish, 10).state is State.QUEUED
    assert away.later(wish, 3600, expire=True).state is State.FAILED
    done = "changed" if tool == CHANGE else "cancelled"
    assert error(at, wish).message == f"The hotel system could not be reached in time; this was not {done}."
    assert at.letters(wish) == ["exhausted"]
    assert at.calls() == []
    assert wished(at, tool, number) == wish, "asked again"
    assert at.run(wish).state is State.SUCCEEDED


@both
@pytest.mark.parametrize("operation", ["get", "write"])
def test_our_own_credentials_refused_pause_the_hotel_system_and_are_never_told_as_not_allowed(
    house: Houses, tool: str, operation: str
) -> None:
    at = house()
    number = at.seed()
    refused = {"error": {"code": "unauthorized", "message": "who are you?"}}
    match = {"operation": TOOLS[tool] if operation == "write" else "get"}
    at.desk.pms.fault("status", status=401, body=refused, match=match, times=1)
    wish = wished(at, tool, number)
    assert at.run(wish).state is State.QUEUED
    assert [pause.provider for pause in list_pauses(at.desk.engine)] == ["pms"]
    assert at.letters(wish) == ["misconfigured"]
    assert at.told(wish).error is None
    calls = len(at.calls())
    assert at.later(wish, 40).state is State.QUEUED
    assert len(at.calls()) == calls
    assert resume(at.desk.engine, "pms") == 1
    assert at.later(wish, 5).state is State.SUCCEEDED
    assert len([call for call in at.calls(TOOLS[tool]) if call["effect"]]) == 1


# A worker dies


@both
@pytest.mark.parametrize("mode", ["keyed", "lookup-only"])
@pytest.mark.parametrize("sent", [True, False])
def test_case_39_after_a_workers_death_the_reservation_is_read_before_anybody_writes(
    house: Houses, tool: str, mode: str, sent: bool
) -> None:
    at = house(mode)
    number = at.seed()
    wish = wished(at, tool, number)
    dies(at.desk, wish.item, "answered" if sent else "begun", 2)
    assert at.attempts(wish) == [("check", "absent"), ("write", None)]
    assert not run_item(at.desk.runtime, wish.item), "its lease still runs"
    at.desk.pms.clear_ledger()
    recovered = at.later(wish, 20)
    assert at.operations()[0] == "get"
    if sent:
        assert recovered.state is State.SUCCEEDED
        assert at.operations() == ["get"]
    elif mode == "keyed":
        assert recovered.state is State.SUCCEEDED
        assert at.operations() == ["get", TOOLS[tool]]
    else:
        assert recovered.state is State.QUEUED
        assert at.later(wish).state is State.SUCCEEDED
        assert at.operations() == ["get", "get", TOOLS[tool]]


@both
def test_a_worker_that_dies_while_it_looks_leaves_no_doubt(house: Houses, tool: str) -> None:
    at = house("lookup-only")
    number = at.seed()
    wish = wished(at, tool, number)
    dies(at.desk, wish.item, "answered", 1)
    assert at.desk.item(wish.item).doubts == ()
    assert at.later(wish, 20).state is State.SUCCEEDED
    assert at.operations() == ["get", "get", TOOLS[tool]]
