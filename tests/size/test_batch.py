"""A batch of a thousand rooms: taken in at once, in as many statements as ten; and polled without anybody waiting."""

from functools import partial
from typing import Any

import pytest

from api.snapshots import snapshots
from booking.arguments import Stay
from dedupe.admit import admit
from dedupe.engine import Engine
from dedupe.retry import retry
from dedupe.submission import Submission
from tests.api.checks import refused
from tests.api.serving import stay
from tests.booking.build import error_of
from tests.dedupe.rows import CALLER, ask, asking, room, rows, run
from tests.guards.chat import Chat
from tests.size.measure import log, seconds, statements, times

#: What a status of a thousand rooms may take, seconds: the fastest of fifty, and the median where other processes have
#: taken most of the machine.
BEST, MEDIAN = 0.05, 0.25

SUCCEED = """
UPDATE items SET state = 'succeeded', attempts = 1, due_at = NULL, publish_at = NULL, provider_id = 'B-' || id,
    result = jsonb_build_object('booking_id', 'B-' || id, 'status', 'confirmed', 'property', 'BER',
        'room_type', 'double', 'check_in', '2027-03-05', 'check_out', '2027-03-07')
"""
FAIL = """
UPDATE items SET state = 'failed', attempts = 1, due_at = NULL, publish_at = NULL, result = NULL,
    error = CAST(:error AS jsonb)
WHERE id % :every = 0
"""


def alike(number: int) -> list[Stay]:
    return [room()] * number


def unlike(number: int) -> list[Stay]:
    return [room(guest=f"Ana Müller {n}", notes=f"room {n}") for n in range(number)]


ROOMS = {"alike": alike, "unlike": unlike}


def fail(engine: Engine, every: int = 1) -> None:
    run(engine, FAIL, every=every, error=error_of("unavailable").model_dump_json())


def batch(number: int, kind: str, turn: int = 0) -> Submission:
    return asking(*ROOMS[kind](number), tool="book_rooms", conversation=f"c-{kind}-{number}-{turn}")


@pytest.mark.parametrize("kind", ROOMS)
def test_a_thousand_rooms_are_admitted_within_a_second(engine: Engine, kind: str) -> None:
    ask(engine, room("suite"))
    # The best of some: other processes may have most of the machine just now.
    assert min(seconds(partial(admit, engine, batch(1000, kind, turn))) for turn in range(6)) < 1


@pytest.mark.parametrize("kind", ROOMS)
def test_a_thousand_rooms_are_admitted_in_as_many_statements_as_ten(engine: Engine, kind: str) -> None:
    ask(engine, room("suite"))
    sent: dict[str, dict[int, list[str]]] = {"admit": {}, "asked again": {}, "run again": {}}
    for number in (10, 100, 1000):
        submission = batch(number, kind)
        for what, by_number in sent.items():
            if what == "run again":
                fail(engine)
                run(engine, "UPDATE intents SET noted = asked")
            with statements(engine) as by_number[number]:
                taken = seconds(partial(admit, engine, submission))
            log.info("%s, %d rooms, %s: %d ms", what, number, kind, taken * 1e3)
        found = rows(engine, "SELECT state FROM items WHERE conversation_id = :c", c=submission.conversation_id)
        assert [one.state for one in found] == ["queued"] * number
    for by_number in sent.values():
        assert by_number[10] == by_number[100] == by_number[1000]
        assert by_number[10].count("COMMIT") == 1


def test_a_thousand_failed_ones_are_retried_in_as_many_statements_as_ten(engine: Engine) -> None:
    ask(engine, room("suite"))
    by_number = {}
    for number in (10, 100, 1000):
        intent = admit(engine, batch(number, "unlike")).intent_id
        fail(engine)
        begun: list[Any] = []
        with statements(engine) as by_number[number]:
            taken = seconds(partial(_retry, engine, intent, begun))
        log.info("retry, %d rooms: %d ms", number, taken * 1e3)
        assert len(begun) == number
    assert by_number[10] == by_number[100] == by_number[1000]
    assert by_number[10].count("COMMIT") == 1
    assert taken < 1


def _retry(engine: Engine, intent: str, begun: list[Any]) -> None:
    begun += retry(engine, CALLER.tenant_id, intent, lambda _: 600.0) or []


@pytest.mark.parametrize("kind", ROOMS)
@pytest.mark.parametrize("ended", [False, True])
def test_the_status_of_a_thousand_rooms_is_told_in_milliseconds(engine: Engine, kind: str, ended: bool) -> None:
    ask(engine, room("suite"))
    intent = admit(engine, batch(1000, kind)).intent_id
    if ended:
        run(engine, SUCCEED)
        fail(engine, every=10)
        run(engine, "UPDATE intents SET noted = asked")
    with statements(engine) as sent:
        [snapshot] = snapshots(engine, [intent]).values()
    assert len(sent) == 1, "one statement, whatever the size"
    assert (snapshot.done, snapshot.body.count(b'"position"')) == (ended, 1000)
    state = "ended" if ended else "pending"
    taken = times(f"status of 1,000 rooms, {kind}, {state}", 50, lambda: snapshots(engine, [intent]))
    assert taken[0] < BEST
    assert taken[25] < MEDIAN


def test_over_http_a_thousand_rooms_are_taken_in_and_polled_and_one_more_is_refused(chat: Chat) -> None:
    named = [
        {"guest": {"name": f"Ana {n}", "email": f"ana{n}@guests.example"}, "room_type": "double"} for n in range(1001)
    ]
    body = {"tool": "book_rooms", "conversation_id": "c-77", "arguments": {**stay(), "rooms": named[:1000]}}
    answers: list[Any] = []
    taken = seconds(lambda: answers.append(chat.api.submit(body)))
    log.info("POST of 1,000 rooms: %d ms, of which up to 250 for the broker", taken * 1e3)
    [answer] = answers
    assert answer.status_code == 202
    intent = answer.json()
    assert (len(intent["items"]), intent["pending"], intent["next_items"]) == (1000, list(range(1000)), None)
    polled = times("GET of 1,000 rooms", 50, lambda: chat.api.poll(intent["id"]))
    assert polled[25] < MEDIAN
    over = {**body, "arguments": {**stay(), "rooms": named}}
    assert "at most 1000" in refused(chat.api.submit(over), 422).tool_error.message
