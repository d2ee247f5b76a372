"""The scenes of Friday 18:40. Each returns what the agent was told beside what the hotel's ledger says."""

import time
from collections.abc import Callable
from typing import Any

from cli.demo.agent import PATIENCE, stay
from cli.demo.mails import reminders_again, thirty_reminders
from cli.demo.stage import Row, Stage


def one_booking(stage: Stage) -> Row:
    """(a) One booking."""
    guest = "Ada Lovelace"
    intent = stage.agent.wait(stage.agent.ask("c-ada", "create_booking", {**stay(guest), "room_type": "double"}))
    return _row(stage, "one booking", guest, intent, outcome="succeeded", bookings=1, calls=1)


def group_without_suite(stage: Stage) -> Row:
    """(b) Four rooms, the suite is sold out."""
    guest = "Grace Hopper"
    stage.hotel.free_rooms("BER", "suite", 0)
    rooms = [{"room_type": kind} for kind in ("double", "double", "single", "suite")]
    intent = stage.agent.wait(stage.agent.ask("c-grace", "book_rooms", {**stay(guest), "rooms": rooms}))
    stage.say(f"the agent is told: {intent['error']['message']}" if intent["error"] else "")
    row = _row(stage, "4 rooms, suite sold out", guest, intent, outcome="partial", bookings=3, calls=4)
    codes = [item["error"]["code"] for item in intent["items"] if item["error"]]
    told = bool(intent["error"]) and intent["error"]["code"] == "PARTIAL_FAILURE" and "suite" in (intent["fix"] or "")
    return row if told and codes == ["CONFLICT"] else _but(row, f"told {intent['error']}")


def suite_comes_free(stage: Stage) -> Row:
    """(b) A suite comes free; the agent asks for the suite alone, as the fix line says."""
    guest = "Grace Hopper"
    stage.hotel.free_rooms("BER", "suite", 1)
    asked = stage.agent.ask("c-grace", "book_rooms", {**stay(guest), "rooms": [{"room_type": "suite"}]})
    return _row(
        stage, "the suite alone, again", guest, stage.agent.wait(asked), outcome="succeeded", bookings=4, calls=5
    )


def commit_then_timeout(stage: Stage) -> Row:
    """(c) The hotel books the room and never answers."""
    guest = "Alan Turing"
    stage.hotel.commit_then_hang("double", hold_ms=30_000)
    intent = stage.agent.wait(stage.agent.ask("c-alan", "create_booking", {**stay(guest), "room_type": "double"}))
    row = _row(stage, "timeout after the commit", guest, intent, outcome="succeeded", bookings=1, calls=2)
    return _same_id(stage, row, guest, intent)


def fifty_at_once(stage: Stage) -> Row:
    """(d) The same intent fifty times at once."""
    guest = "Edsger Dijkstra"
    answers = stage.agent.ask_at_once(50, "c-edsger", "create_booking", {**stay(guest), "room_type": "single"})
    intents = {answer["id"] for answer in answers}
    intent = stage.agent.wait(answers[0])
    row = _row(stage, "the same intent 50 times", guest, intent, outcome="succeeded", bookings=1, calls=1)
    return row if len(intents) == 1 else _but(row, f"{len(intents)} intents")


def worker_killed(stage: Stage) -> Row:
    """(e) The worker is killed between the hotel's commit and our record of it."""
    guest = "Barbara Liskov"
    stage.hotel.commit_then_hang("family", hold_ms=30_000)
    asked = stage.agent.ask("c-barbara", "create_booking", {**stay(guest), "room_type": "family"})
    _until(lambda: bool(stage.hotel.bookings_of(guest)))
    stage.say("the hotel has committed; kill -9 of the worker")
    stage.stack.workers[0].kill()
    stage.stack.workers[0].restart()
    stage.say("a new worker waits for the lease of the dead one to run out, then looks the booking up")
    intent = stage.agent.wait(asked)
    row = _row(stage, "kill -9 before our record", guest, intent, outcome="succeeded", bookings=1, calls=2)
    return _same_id(stage, row, guest, intent)


SCENES: list[Callable[[Stage], Row]] = [
    one_booking,
    group_without_suite,
    suite_comes_free,
    commit_then_timeout,
    fifty_at_once,
    worker_killed,
    thirty_reminders,
    reminders_again,
]


def _row(
    stage: Stage, scene: str, guest: str, intent: dict[str, Any], *, outcome: str, bookings: int, calls: int
) -> Row:
    """The scene's line, compared with what it must be."""
    made, exist = len(stage.hotel.calls_of(guest)), stage.hotel.bookings_of(guest)
    pairs = [("outcome", intent["outcome"], outcome), ("bookings", len(exist), bookings), ("calls", made, calls)]
    wrong = ", ".join(f"{name} should be {should}" for name, seen, should in pairs if seen != should)
    return Row(scene, str(intent["outcome"] or intent["state"]), made, len(exist), wrong)


def _same_id(stage: Stage, row: Row, guest: str, intent: dict[str, Any]) -> Row:
    told = [item["result"]["booking_id"] for item in intent["items"] if item["result"]]
    return row if told == stage.hotel.bookings_of(guest) else _but(row, f"the agent was told {told}")


def _but(row: Row, wrong: str) -> Row:
    return Row(row.scene, row.outcome, row.calls, row.effects, ", ".join(filter(None, [row.wrong, wrong])))


def _until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done() and time.monotonic() < end:
        time.sleep(0.02)
