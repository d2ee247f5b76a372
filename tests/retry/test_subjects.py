"""A retry keeps the order of wishes: one open item for what is changed, and nothing old after something newer."""

from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from booking.arguments import CancelReservation, ChangeReservationDates, RefundPayment
from booking.handoff import StopReason
from dedupe.admit import admit
from dedupe.engine import Engine
from dedupe.items import Item
from dedupe.retry import retry
from dedupe.submission import Admitted, Blocked, Stopped, Submission
from tasks.intake import submission_of
from tasks.operations import TOOLS
from tasks.operations.port import Asking
from tests.dedupe.calls import booked, doubted, end, failed, written
from tests.dedupe.rows import CALLER, HOTELS, ask, asking, at_once, count, linked, room, rows, seen, wide
from tests.retry.again import unguarded

USUAL = 600.0


def changing(arrival: str = "2027-03-10", conversation: str = "c-1", number: str = "B-1") -> Submission:
    body = {"reservation_id": number, "guest_name": "Ana", "check_in": arrival, "check_out": "2027-03-20"}
    arguments = ChangeReservationDates.model_validate(body)
    return submission_of(Asking(CALLER, conversation, HOTELS), TOOLS["change_reservation_dates"], arguments, None, 600)


def cancelling(conversation: str = "c-1") -> Submission:
    arguments = CancelReservation.model_validate({"reservation_id": "B-1", "guest_name": "Ana"})
    return submission_of(Asking(CALLER, conversation, HOTELS), TOOLS["cancel_reservation"], arguments, None, 600)


def refunding(amount: str, conversation: str = "c-1") -> Submission:
    arguments = RefundPayment.model_validate({"payment_id": "P-1", "amount": {"amount": amount, "currency": "EUR"}})
    return submission_of(Asking(CALLER, conversation, HOTELS), TOOLS["refund_payment"], arguments, None, 600)


def again(engine: Engine, asked: Admitted) -> Any:
    return retry(engine, CALLER.tenant_id, asked.intent_id, lambda _: USUAL)


def item_of(engine: Engine, asked: Admitted) -> Item:
    [item_id] = linked(engine, asked.intent_id)
    return seen(engine, item_id)


def fail(engine: Engine, asked: Admitted) -> Item:
    item = item_of(engine, asked)
    end(engine, item, written(engine, item), "rejected", failed())
    return item


@pytest.fixture
def first(engine: Engine) -> Admitted:
    """A change that has failed and may pass."""
    ask(engine)
    asked = admit(engine, changing())
    fail(engine, asked)
    return asked


@pytest.mark.parametrize("later", [changing("2027-03-11"), changing("2027-03-11", "c-2"), cancelling("c-2")])
@pytest.mark.parametrize("doubtful", [False, True])
def test_while_another_item_of_the_reservation_is_open_it_is_refused(
    engine: Engine, first: Admitted, later: Submission, doubtful: bool
) -> None:
    other, mine = admit(engine, later), later.conversation_id == "c-1"
    if doubtful:
        item = item_of(engine, other)
        end(engine, item, written(engine, item), "unknown", doubted())
    with pytest.raises(Blocked) as blocked:
        again(engine, first)
    assert (blocked.value.row, blocked.value.values) == (
        "subject_in_doubt",
        {"subject": "B-1", "intent": f" (intent {other.intent_id}: poll it)" if mine else ""},
    )
    assert item_of(engine, first).state == "failed"
    assert count(engine, "failures") == 2, "the failure of the change, and the call that was refused"


@pytest.mark.parametrize("later", [changing("2027-03-11", "c-2"), cancelling()])
def test_what_a_later_one_has_changed_is_not_changed_back(engine: Engine, first: Admitted, later: Submission) -> None:
    item = item_of(engine, admit(engine, later))
    end(engine, item, written(engine, item), "done", booked())
    with pytest.raises(Blocked) as blocked:
        again(engine, first)
    assert (blocked.value.row, blocked.value.values) == ("changed_since", {"subject": "B-1"})
    with pytest.raises(Stopped) as stopped:
        again(engine, first)
    assert stopped.value.stop.reason is StopReason.SAME_CALL
    assert item_of(engine, first).state == "failed"


def test_a_later_one_that_failed_too_stands_against_nothing(engine: Engine, first: Admitted) -> None:
    fail(engine, admit(engine, changing("2027-03-11", "c-2")))
    assert again(engine, first) == [(item_of(engine, first).id, "bookings.pms")]


def test_another_reservation_or_provider_stands_against_nothing(engine: Engine, first: Admitted) -> None:
    admit(engine, changing("2027-03-11", "c-2", "B-2"))
    assert again(engine, first)


def test_two_refunds_of_one_payment_come_one_after_the_other(engine: Engine) -> None:
    ask(engine)
    asked = admit(engine, refunding("10.00"))
    fail(engine, asked)
    admit(engine, refunding("20.00", "c-2"))
    with pytest.raises(Blocked, match="subject_in_doubt"):
        again(engine, asked)


def test_retries_and_other_wishes_at_once_leave_one_open_item(engine: Engine) -> None:
    ask(engine)
    unguarded(engine)
    with wide(engine, 8) as many:
        for number in range(15):
            asked = admit(engine, changing(conversation=f"c-{number}", number=f"B-{number}"))
            fail(engine, asked)
            others = [changing(f"2027-03-1{n}", f"d-{number}-{n}", f"B-{number}") for n in range(3)]
            deeds = [partial(again, many, asked)] * 2 + [partial(admit, many, other) for other in others]
            at_once(len(deeds), partial(_settled_or_blocked, deeds))
            statement = "SELECT 1 FROM items WHERE subject = :subject AND state = 'queued'"
            assert len(rows(engine, statement, subject=f"B-{number}")) == 1


def _settled_or_blocked(deeds: list[partial[Any]], index: int) -> None:
    try:
        deeds[index]()
    except Blocked as blocked:
        assert blocked.row == "subject_in_doubt"  # noqa: PT017 - anything else fails the test by itself


def test_a_conversation_is_locked_before_its_items(engine: Engine) -> None:
    """Asking and retrying the same, by many at once: nobody waits for somebody who waits for them."""
    submission = asking(room(), room("suite"), room("single"), conversation="c-9")
    ask(engine)
    asked = admit(engine, submission)
    with wide(engine, 10) as many:
        for _ in range(10):
            for item_id in linked(engine, asked.intent_id):
                item = seen(engine, item_id)
                if item.state == "queued":
                    end(engine, item, written(engine, item), "rejected", failed())
            deeds = [partial(again, many, asked), partial(admit, many, submission)] * 5
            at_once(10, partial(_stopped_or_not, deeds))


def _stopped_or_not(deeds: list[partial[Any]], index: int) -> None:
    with suppress(Stopped):
        deeds[index]()
