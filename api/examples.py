"""Examples for the OpenAPI document, made by the code that makes the real answers."""

import datetime as dt
from typing import Any

from api.problems import WrongFields, problem
from api.snapshots import WHOLE, Part
from api.stops import refusal
from booking.answers import intent_answer
from booking.conversation import conversation_answer
from booking.effects import Effect
from booking.errors import tool_error
from booking.handoff import Stop, StopReason
from booking.happenings import Event, EventKind, EventsAnswer
from booking.reads import Arrivals, Offer, Offers, OneReservation, Price, ReadAnswer, ReadResult, ReservationAnswer
from booking.results import FieldProblem, IntentRow, ItemRow, Readiness
from booking.states import State

STAY = {
    "property": "BER",
    "room_type": "double",
    "check_in": "2027-05-14",
    "check_out": "2027-05-16",
    "guest": {"name": "Anna Moser", "email": "anna.moser@example.com"},
    "adults": 2,
    "max_price": {"amount": "400.00", "currency": "EUR"},
}
SUITE = {**STAY, "room_type": "suite"}
_OF_ANNA = {"reservation_id": "B-9921", "guest_name": "Anna Moser"}
#: name -> the body of a submit.
SUBMITS = {
    name: {"tool": tool, "conversation_id": "c-77", "arguments": arguments}
    for name, tool, arguments in (
        ("one_room", "create_booking", STAY),
        ("several_rooms", "book_rooms", {"rooms": [STAY, SUITE]}),
        (
            "other_dates",
            "change_reservation_dates",
            {**_OF_ANNA, "check_in": "2027-05-15", "check_out": "2027-05-17"},
        ),
        ("cancellation", "cancel_reservation", _OF_ANNA),
        (
            "refund",
            "refund_payment",
            {"payment_id": "P-9921", "amount": {"amount": "40.00", "currency": "EUR"}, "property": "BER"},
        ),
        ("reminders", "send_checkin_reminders", {"property": "BER", "date": "2027-05-14"}),
    )
}
READS = {
    "search_availability": {
        "conversation_id": "c-77",
        "arguments": {"property": "BER", "check_in": "2027-05-14", "check_out": "2027-05-16", "adults": 2},
    },
    "get_reservation": {
        "conversation_id": "c-77",
        "arguments": {"reservation_id": "B-9921", "guest_name": "Anna Moser"},
    },
    "list_arrivals": {"conversation_id": "c-77", "arguments": {"property": "BER", "date": "2027-05-14"}},
}

STEER = {"guest": {"name": "Anna Moser", "email": "anna.moser@example.com"}, "turn": 4}
LIFT = {"reason": "The hotel has repaired its system; the guest is on the line."}

_ID = "int_0197c2a4b3d05f0e1d2c3b4a5968"
_AT = dt.datetime(2027, 4, 2, 18, 40, tzinfo=dt.UTC)
_BOOKED = {"booking_id": "B-9921", "status": "confirmed", "property": "BER", "room_type": "double"}


def _item(position: int, state: State, request: dict[str, Any], attempts: int | None = None) -> ItemRow:
    sold_out = tool_error("sold_out", **{name: request[name] for name in ("room_type", "property")}, **_dates(request))
    return ItemRow(
        position=position,
        id=4711 + position,
        key=f"c-77:booking:9f3a51c07d{position}e:0",
        effect=Effect.BOOKING,
        state=state,
        result=_BOOKED if state is State.SUCCEEDED else None,
        error={State.FAILED: sold_out, State.CANCELLED: tool_error("cancelled")}.get(state),
        attempts=int(state is not State.QUEUED) if attempts is None else attempts,
        slow=False,
        request=request,
    )


def _dates(request: dict[str, Any]) -> dict[str, Any]:
    return {"check_in": request["check_in"], "check_out": request["check_out"]}


def _intent(tool: str, *items: ItemRow, part: Part = WHOLE) -> dict[str, Any]:
    row = IntentRow(
        id=_ID,
        tenant_id="demo",
        key=f"c-77:{tool}:9f3a51c07d2e",
        tool=tool,
        conversation_id="c-77",
        created_at=_AT,
        expires_at=_AT + dt.timedelta(minutes=10),
        items=list(items),
    )
    return part.of(intent_answer(row)).model_dump(mode="json")


def intents() -> dict[str, dict[str, Any]]:
    """Answers to a submit, a poll, a retry or a cancel."""
    booked = _item(0, State.SUCCEEDED, STAY)
    lost = [_item(position, State.FAILED, SUITE) for position in (1, 2)]
    return {
        "accepted": _intent("create_booking", _item(0, State.QUEUED, STAY)),
        "booked": _intent("create_booking", booked),
        "partial": _intent("book_rooms", booked, lost[0]),
        "unknown": _intent("create_booking", _item(0, State.UNKNOWN, STAY)),
        "cancelled": _intent("create_booking", _item(0, State.CANCELLED, STAY)),
        "retried": _intent("book_rooms", booked, _item(1, State.QUEUED, SUITE, attempts=1)),
        "first_failed": _intent("book_rooms", booked, *lost, part=Part("failed", limit=1)),
    }


def reads() -> dict[str, dict[str, Any]]:
    """Answers to reads."""
    offer = Offer(
        quote_id="Q-BER.double.flexible.20270514.20270516",
        property="BER",
        room_type="double",
        rate_plan="flexible",
        price=Price(amount="280.00", currency="EUR"),
        cancellation_terms="free until 18:00 the day before arrival, local time",
        valid_until=_AT + dt.timedelta(minutes=15),
    )
    held = ReservationAnswer(
        booking_id="B-9921",
        status="confirmed",
        property="BER",
        room_type="double",
        check_in="2027-05-14",
        check_out="2027-05-16",
        guest_name="Anna Moser",
    )
    made: dict[str, ReadResult] = {
        "search_availability": Offers(offers=[offer]),
        "get_reservation": OneReservation(reservation=held),
        "list_arrivals": Arrivals(arrivals=[held]),
    }
    return {
        tool: ReadAnswer(tool=tool, conversation_id="c-77", result=result).model_dump(mode="json")
        for tool, result in made.items()
    }


def conversation() -> dict[str, Any]:
    """What a guest owns."""
    rows = [_item(0, State.SUCCEEDED, STAY), _item(1, State.FAILED, SUITE)]
    return conversation_answer("c-77", rows, "Anna Moser", turn=4).model_dump(mode="json")


def events() -> dict[str, Any]:
    """A page of events."""
    verdict = Event(
        id=17,
        kind=EventKind.VERDICT,
        conversation_id="c-77",
        intent_ids=[_ID],
        item_id=4711,
        from_state=State.UNKNOWN,
        to_state=State.SUCCEEDED,
        booking_id="B-9921",
        at=_AT,
    )
    return EventsAnswer(events=[verdict], after=17).model_dump(mode="json")


def readiness(ready: bool) -> dict[str, Any]:
    """A health answer."""
    database = "ok" if ready else "away"
    return Readiness(ready=ready, database=database, broker="ok", wake_ups="ok").model_dump(mode="json")


def problems() -> dict[int, dict[str, dict[str, Any]]]:
    """Status -> name -> example, for every refusal."""
    wrong_date = FieldProblem(field="check_out", problem="must be after check_in", sent='"2027-05-14"')
    existing = f"create_booking in conversation c-77, intent {_ID}"
    made = [
        problem(400, "malformed", problem="it is not a JSON object"),
        problem(401, "wrong_bearer"),
        problem(403, "wrong_scope", scope="ops", allowed="agent or host"),
        problem(403, "denied"),
        problem(404, "no_such_intent", what="intent"),
        problem(404, "not_found", what="The reservation"),
        problem(405, "wrong_method", sent='"PUT"', allowed="POST"),
        problem(408, "too_slow", allowed="10 s"),
        refusal(Stop(reason=StopReason.SAME_CALL, at=_AT), conversation()["handoff"]),
        problem(409, "guest_in_doubt", intent=_ID),
        problem(409, "subject_in_doubt", subject="B-9921", intent=_ID),
        problem(409, "changed_since", subject="B-9921"),
        problem(410, "gone", what="intent"),
        problem(413, "too_large", allowed="1 MiB"),
        WrongFields([wrong_date]).problem,
        problem(422, "unknown_tool", sent='"book_room"', allowed="create_booking, book_rooms"),
        problem(422, "key_reused", sent='"order-17"', existing=existing),
        problem(422, "other_values", differs="notes", state="succeeded", existing=" as B-9921"),
        problem(500, "internal"),
        problem(503, "no_database"),
        problem(503, "read_unavailable"),
        problem(503, "read_rate_limited"),
    ]
    found: dict[int, dict[str, dict[str, Any]]] = {}
    for one in made:
        name = one.type.rpartition(":")[2]
        found.setdefault(one.status, {})[name] = one.model_dump(mode="json", exclude_none=True)
    return found
