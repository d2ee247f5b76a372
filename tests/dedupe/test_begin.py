"""Begin: the mark before the call, and all for which it is refused."""

import pytest

from booking.states import State
from dedupe.engine import Engine
from tests.dedupe.calls import BODY, booked, end, end_unknown, later, start_check, start_write, written
from tests.dedupe.rows import at_once, attempts, change, count, one_item, pass_time, row, seen, wide


def test_the_mark_claims_counts_and_opens_an_attempt(engine: Engine) -> None:
    item = one_item(engine)
    begun = written(engine, item)
    after = seen(engine, item.id)
    assert (after.state, after.token, after.rev, after.writes) == (State.RUNNING, begun.token, item.rev + 1, 1)
    assert after.request_bytes == BODY
    assert attempts(engine, item.id) == [("write", None)]
    assert after.doubts == (begun.may_send_until,)
    assert after.leased(after.now)
    assert 2.5 < (begun.may_send_until - begun.started_at).total_seconds() <= 3
    assert after.doubted_at is not None
    assert after.first_sent_at is not None
    stored = row(engine, item.id)
    assert (stored.published, stored.attempts) == (0, 1)
    assert abs((stored.publish_at - stored.lease_until).total_seconds()) < 0.1


def test_only_one_of_many_first_writes_passes(engine: Engine) -> None:
    item = one_item(engine)
    with wide(engine, 20) as many:
        marks = at_once(20, lambda _: start_write(many, item))
    assert sum(mark is not None for mark in marks) == 1
    assert attempts(engine, item.id) == [("write", None)]
    assert seen(engine, item.id).writes == 1


def test_a_look_up_and_a_write_begun_at_once_exclude_each_other(engine: Engine) -> None:
    item = one_item(engine)
    with wide(engine, 10) as many:
        marks = at_once(10, lambda index: (start_write if index % 2 else start_check)(many, item))
    assert sum(mark is not None for mark in marks) == 1


@pytest.mark.parametrize(
    "moved",
    [
        "rev = rev + 1",
        "expires_at = now()",
        "stop_writes = true",
        "token = gen_random_uuid(), lease_until = now() + interval '1 min'",
        """state = 'failed', error = '{}'""",
        """state = 'cancelled', error = '{}'""",
        """state = 'succeeded', result = '{}'""",
        "state = 'superseded'",
    ],
)
def test_a_first_write_is_refused_if_the_item_moved_since_it_was_peeked(engine: Engine, moved: str) -> None:
    item = one_item(engine)
    change(engine, item.id, moved)
    before = row(engine, item.id)
    assert start_write(engine, item) is None
    assert row(engine, item.id) == before
    assert count(engine, "attempts") == 0


def test_a_first_write_is_refused_while_an_earlier_one_is_open(engine: Engine) -> None:
    """The worker died: its lease is over, its mark is not."""
    item = one_item(engine)
    written(engine, item)
    pass_time(engine, item.id, 3600)
    assert start_write(engine, seen(engine, item.id)) is None
    assert attempts(engine, item.id) == [("write", None)]


def test_a_first_write_is_refused_while_an_earlier_one_is_unknown(engine: Engine) -> None:
    item = end_unknown(engine, one_item(engine))
    assert not item.leased(item.now)
    assert start_write(engine, item) is None
    assert attempts(engine, item.id) == [("write", "unknown")]


def test_a_write_passes_after_those_before_it_were_closed_as_not_sent(engine: Engine) -> None:
    item = one_item(engine)
    end(engine, item, written(engine, item), "not_sent", later(0, uncount=True))
    again = seen(engine, item.id)
    assert again.writes == 0
    assert start_write(engine, again) is not None


def test_a_second_write_in_the_run_needs_the_token_still_held(engine: Engine) -> None:
    item = one_item(engine)
    begun = written(engine, item)
    again = start_write(engine, item, begun)
    assert again.token == begun.token
    assert seen(engine, item.id).writes == 2
    pass_time(engine, item.id, 3600)
    assert start_write(engine, item, again) is None


def test_a_second_write_is_refused_after_another_worker_took_over(engine: Engine) -> None:
    item = one_item(engine)
    begun = written(engine, item)
    pass_time(engine, item.id, 3600)
    assert start_check(engine, seen(engine, item.id)) is not None
    assert start_write(engine, item, begun) is None


@pytest.mark.parametrize("moved", ["expires_at = now()", "stop_writes = true"])
def test_a_second_write_is_refused_once_nobody_wants_it(engine: Engine, moved: str) -> None:
    item = one_item(engine)
    begun = written(engine, item)
    change(engine, item.id, moved)
    assert start_write(engine, item, begun) is None
    assert start_check(engine, item, begun) is not None


def test_the_bytes_of_the_first_mark_stay(engine: Engine) -> None:
    item = one_item(engine)
    begun = written(engine, item)
    assert start_write(engine, item, begun, body=b"other") is not None
    assert seen(engine, item.id).request_bytes == BODY


@pytest.mark.parametrize("state", ["unknown", "succeeded", "failed", "cancelled"])
def test_a_look_up_takes_the_lease_and_changes_no_state(engine: Engine, state: str) -> None:
    item = one_item(engine)
    told = '{"code": "CONFLICT", "message": "m", "retryable": true}'
    change(engine, item.id, "state = :state, result = '{}', error = CAST(:told AS jsonb)", state=state, told=told)
    begun = start_check(engine, seen(engine, item.id))
    after = seen(engine, item.id)
    assert (after.state, after.token, after.writes) == (state, begun.token, 0)
    assert after.doubts == ()
    assert attempts(engine, item.id) == [("check", None)]


def test_a_look_up_is_refused_while_somebody_else_holds_the_item(engine: Engine) -> None:
    item = one_item(engine)
    written(engine, item)
    assert start_check(engine, seen(engine, item.id)) is None
    assert start_check(engine, item) is None


def test_nothing_begins_for_an_item_that_is_settled_and_was_peeked_before(engine: Engine) -> None:
    item = one_item(engine)
    end(engine, item, written(engine, item), "done", booked())
    assert start_write(engine, item) is None
    assert start_check(engine, item) is None
