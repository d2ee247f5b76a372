from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.retry_after import retry_after

NOW = datetime(2026, 12, 4, 18, 40, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("5", 5),
        (" 5 ", 5),
        ("0", 0),
        ("1.5", 1.5),
        ("Fri, 04 Dec 2026 18:40:30 GMT", 30),
        ("Fri, 04 Dec 2026 18:40:30", 30),
        ("Fri, 04 Dec 2026 18:40:30 -0000", 30),
        ("Friday, 04-Dec-26 18:40:30 GMT", 30),
        ("Fri, 04 Dec 2026 19:40:30 +0100", 30),
        ("Fri, 04 Dec 2026 18:00:00 GMT", 0),  # past
        ("Sun, 04 Dec 2050 18:00:00 GMT", 300),  # capped
        ("3600", 300),
        ("100000000000000000000", 300),  # 10^20
        ("9" * 400, 300),
        (None, None),
        ("", None),
        ("30,120", None),
        ("-1", None),
        ("1e20", None),
        ("NaN", None),
        ("inf", None),
        ("1_0", None),
        ("\u0665", None),
        ("5s", None),
        ("soon", None),
        ("Fri, 99 Dec 2026 18:40:30 GMT", None),
        ("Fri, 04 Dec 99999 18:40:30 GMT", None),
    ],
)
def test_case_54_retry_after_is_the_right_wait_or_none(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


def test_case_54_the_cap_can_be_chosen() -> None:
    assert retry_after("90", NOW, cap=60) == 60


@given(st.text(max_size=80) | st.from_regex(r"\A\w{3}, \d+ \w{3} \d+ \d+:\d+:\d+ .{0,6}\Z"))
def test_case_54_no_text_crashes_or_waits_outside_the_bounds(value: str) -> None:
    wait = retry_after(value, NOW)
    assert wait is None or 0 <= wait <= 300


@given(st.integers(min_value=0, max_value=299))
def test_case_54_a_date_is_the_same_wait_as_its_seconds(seconds: int) -> None:
    at = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    assert retry_after(at, NOW) == retry_after(str(seconds), NOW) == seconds


@given(st.datetimes())
def test_case_54_any_date_is_a_wait_within_the_bounds(at: datetime) -> None:
    wait = retry_after(format_datetime(at), NOW)
    assert wait is None or 0 <= wait <= 300
