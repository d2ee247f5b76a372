"""What the log says of each attempt."""

from collections.abc import Callable

import pytest

from booking.states import State
from tests.pms import Pms
from tests.tasks.desk import SHORT, Desk

Desks = Callable[..., Desk]


def test_one_search_for_the_key_tells_the_story_of_a_write(
    desk: Desks, pms: Pms, caplog: pytest.LogCaptureFixture
) -> None:
    at = desk(write_deadline=SHORT)
    pms.fault("commit_then_timeout", match={"operation": "create_booking"}, times=1, hold_ms=None)
    item = at.ask()
    with caplog.at_level("INFO", logger="roomkey.attempt"):
        assert at.run(item).state is State.SUCCEEDED
    key, found = at.item(item).key, at.row(item).provider_id
    write, check = [line for line in caplog.text.splitlines() if key in line]
    assert "tool=booking" in write
    assert "attempt=1 what=write outcome=Unknown" in write
    assert "cause='deadline passed'" in write
    assert f"attempt=2 what=check outcome=Found elapsed={check.partition('elapsed=')[2]}" in check
    assert check.endswith(f" id={found}")
    assert "Müller" not in caplog.text
