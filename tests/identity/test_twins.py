"""The same stay for the same guest out of two conversations, one soon after the other: told, or refused if wished."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx
import pytest
from sqlalchemy import text

from dedupe.engine import Engine
from tests.api.serving import stay
from tests.conftest import make_tenant
from tests.dedupe.rows import count, row, rows, run
from tests.guards.chat import Chat
from tests.identity.asking import Answer, blocked, booking_ids, cancelled, item_ids, made, more, states, stay_on, submit
from tests.identity.asking import rooms as book_rooms
from tests.pms import Pms
from tests.waiting import eventually

_WAITING = """SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'"""


def grow_older(engine: Engine, minutes: float) -> None:
    run(engine, "UPDATE items SET created_at = created_at - :by * interval '1 min'", by=minutes)
    run(engine, "UPDATE intents SET created_at = created_at - :by * interval '1 min'", by=minutes)


def twin_of(chat: Chat, answer: Answer) -> str | None:
    """What the polls say; the notice goes with it."""
    told = chat.look(answer["id"])
    twin: str | None = told["possible_duplicate_of"]
    notice = told["notice"] or ""
    assert (twin is not None) == ("asked for in another conversation" in notice)
    assert (twin or "") in notice
    return twin


def test_case_45_the_second_of_two_conversations_is_told_of_the_first(chat: Chat, pms: Pms) -> None:
    first = chat.call("double", key="a-1").json()
    second = chat.call("double", conversation="c-78", key="b-1").json()
    assert second["possible_duplicate_of"] == first["id"]
    assert "Ask the guest whether both are meant." in second["notice"]
    assert first["id"] in second["notice"]
    for over in (False, True):
        assert (twin_of(chat, second), twin_of(chat, first)) == (first["id"], None)
        assert chat.call("double", conversation="c-78", key="b-1").json()["possible_duplicate_of"] == first["id"]
        assert chat.call("double", key="a-1").json()["possible_duplicate_of"] is None
        if not over:
            assert {chat.work(answer)["outcome"] for answer in (first, second)} == {"succeeded"}
    assert made(pms) == 2


def test_case_45_in_a_batch_too_and_in_other_words(chat: Chat) -> None:
    first = chat.call("double", "suite").json()
    spelled = {"name": "ANNA  moser", "email": "Anna.Moser@Example.com"}
    second = chat.call("double", conversation="c-78", guest=spelled, notes="late").json()
    assert second["possible_duplicate_of"] == twin_of(chat, second) == first["id"]
    third = chat.call("single", "suite", conversation="c-79", guest=spelled).json()
    assert third["possible_duplicate_of"] == twin_of(chat, third) == first["id"]


BEN = {"name": "Ben Moser", "email": "anna.moser@example.com"}
NAMESAKE = {"name": "Anna Moser", "email": "another@example.com"}


def test_another_stay_guest_or_tenant_is_no_twin(chat: Chat) -> None:
    chat.call("double")
    guests: list[Answer] = [{"guest": BEN}, {"guest": NAMESAKE}]
    for other in ({"room_type": "suite"}, {"property": "AKL"}, stay_on(0, 3), stay_on(-1, 2), *guests):
        answer = submit(chat, "create_booking", stay(**other), conversation="c-78").json()
        assert (answer["possible_duplicate_of"], answer["notice"]) == (None, None), other
    stranger = make_tenant(chat.api.engine, "other").agent
    run(chat.api.engine, "UPDATE tenants SET secret = (SELECT secret FROM tenants WHERE id = 'demo')")
    answer = submit(chat, "create_booking", stay(), conversation="c-78", by=stranger).json()
    assert (answer["possible_duplicate_of"], answer["notice"]) == (None, None)


def test_in_the_same_conversation_there_is_none(chat: Chat) -> None:
    for key in (None, "a", "b"):
        assert chat.call("double", key=key).json()["possible_duplicate_of"] is None
    chat.work(chat.call("double").json())
    assert more(chat).json()["possible_duplicate_of"] is None


def test_it_is_told_for_ten_minutes_and_what_was_told_stays(chat: Chat, engine: Engine) -> None:
    first = chat.call("double").json()
    grow_older(engine, 9.9)
    second = chat.call("double", conversation="c-78").json()
    assert second["possible_duplicate_of"] == first["id"]
    grow_older(engine, 0.2)
    third = chat.call("double", conversation="c-79").json()
    assert third["possible_duplicate_of"] == second["id"]
    grow_older(engine, 60)
    assert [twin_of(chat, answer) for answer in (first, second, third)] == [None, first["id"], second["id"]]
    assert chat.call("double", conversation="c-80").json()["possible_duplicate_of"] is None


def sold_out(chat: Chat, pms: Pms) -> None:
    pms.set_rooms("BER", "double", 0)
    assert chat.ask("double")["outcome"] == "failed"
    pms.set_rooms("BER", "double", 5)


def given_up(chat: Chat, _: Pms) -> None:
    answer = chat.call("double").json()
    assert states(chat.cancel(answer["id"]).json()) == ["cancelled"]


def undone(chat: Chat, _: Pms) -> None:
    cancelled(chat, str(booking_ids(chat.ask("double"))[0]))


@pytest.mark.parametrize("end", [sold_out, given_up, undone])
def test_what_does_not_exist_is_no_twin(chat: Chat, pms: Pms, end: Callable[[Chat, Pms], None]) -> None:
    end(chat, pms)
    for ask in (partial(chat.call, "double"), partial(book_rooms, chat, {}, {})):
        second = ask(conversation="c-78").json()
        assert (second["possible_duplicate_of"], twin_of(chat, second)) == (None, None)


def test_one_that_fails_later_is_no_twin_any_more(chat: Chat, pms: Pms) -> None:
    first = chat.call("double").json()
    second = chat.call("double", conversation="c-78").json()
    assert twin_of(chat, second) == first["id"]
    pms.set_rooms("BER", "double", 0)
    chat.work(first)
    assert twin_of(chat, second) is None


def at_one_instant(chat: Chat, calls: list[Callable[[], httpx.Response]], names: list[str]) -> list[httpx.Response]:
    """All are under way when the first is admitted: their conversations are held until each of them waits."""
    engine = chat.api.engine
    for name in names:
        chat.call("family", conversation=name, guest={"name": f"Guest of {name}", "email": "g@example.com"})
    with ThreadPoolExecutor(len(calls)) as pool:
        with engine.connect().execution_options(isolation_level="READ COMMITTED") as gate, gate.begin():
            gate.execute(text("SELECT 1 FROM conversations FOR UPDATE"))
            asked = [pool.submit(call) for call in calls]
            eventually(lambda: rows(engine, _WAITING)[0][0] == len(calls))
        return [one.result(timeout=20) for one in asked]


def doubles(chat: Chat, names: list[str]) -> list[Callable[[], httpx.Response]]:
    return [partial(chat.call, "double", conversation=name) for name in names]


def test_case_45_of_two_at_the_same_instant_the_polls_of_one_name_the_other(chat: Chat) -> None:
    names = ["c-77", "c-78"]
    answers = [response.json() for response in at_one_instant(chat, doubles(chat, names), names)]
    assert [states(answer) for answer in answers] == [["queued"], ["queued"]]
    earlier, later = sorted(answers, key=lambda answer: item_ids(answer)[0])
    assert (twin_of(chat, earlier), twin_of(chat, later)) == (None, earlier["id"])


def test_a_tenant_may_refuse_it(strict: Chat, pms: Pms) -> None:
    chat = strict
    first = chat.call("double").json()
    for number, asked in enumerate((["double"], ["suite", "double"])):
        problem = blocked(chat.call(*asked, conversation=f"d-{number}"), "CONFLICT")
        assert "asked for in another conversation" in problem.tool_error.message
        assert first["id"] not in problem.model_dump_json(), "whose that is, is not told"
        assert not problem.tool_error.retryable
    assert count(chat.api.engine, "items") == 1
    chat.work(first)
    blocked(chat.call("double", conversation="c-80"), "CONFLICT")
    assert chat.call("double").status_code == 202, "the same conversation asks again"
    assert chat.ask("double", "double")["outcome"] == "succeeded", "or for more"
    assert chat.call("suite", conversation="c-78").status_code == 202
    grow_older(chat.api.engine, 10.1)
    assert chat.ask("double", conversation="c-81")["outcome"] == "succeeded"
    assert chat.call("double").status_code == 202, "what exists is told, whoever has asked for it since"
    assert made(pms) == 3


def test_refused_it_may_be_asked_for_once_the_other_has_failed(strict: Chat, pms: Pms) -> None:
    pms.set_rooms("BER", "double", 0)
    first = strict.call("double").json()
    blocked(strict.call("double", conversation="c-78"), "CONFLICT")
    strict.work(first)
    pms.set_rooms("BER", "double", 5)
    assert strict.ask("double", conversation="c-78")["outcome"] == "succeeded"
    blocked(strict.call("double"), "CONFLICT")
    assert row(strict.api.engine, item_ids(first)[0]).state == "failed"
    assert made(pms) == 1


def test_case_45_of_many_at_the_same_instant_exactly_one_is_taken(strict: Chat) -> None:
    chat, names = strict, [f"c-{number}" for number in range(8)]
    responses = at_one_instant(chat, doubles(chat, names), names)
    taken = [response for response in responses if response.status_code == 202]
    assert len(taken) == 1
    for response in responses:
        if response.status_code != 202:
            blocked(response, "CONFLICT")
