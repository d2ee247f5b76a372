"""Which answers say that our credentials or our address are wrong, and which of them for certain."""

from collections.abc import Callable
from typing import Any

import pytest

from booking.outcomes import Misconfigured, Unknown
from tests.providers.answers import BOOKING, error, lookup, write


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, error("unauthorized")),
        (401, b""),
        (403, b""),
        (403, error("unauthorized")),
        (404, b"<h1>Not found</h1>"),
        (404, {"detail": "Not Found"}),
        (404, error("a_code_of_another_contract")),
        (405, {"detail": "Method Not Allowed"}),
    ],
)
def test_our_own_credentials_or_address_are_never_the_guests_mistake(status: int, body: Any) -> None:
    assert isinstance(write(status, body), Misconfigured)
    assert isinstance(lookup(status, body), Misconfigured)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("body", [b"", BOOKING, error("unauthorized")])
def test_a_redirected_write_may_have_been_executed(status: int, body: Any) -> None:
    assert isinstance(write(status, body), Unknown)
    assert isinstance(lookup(status, body), Misconfigured)


@pytest.mark.parametrize("ask", [write, lookup])
def test_only_refused_credentials_are_certainly_our_mistake(ask: Callable[[int, Any], Any]) -> None:
    for status, body in ((401, b""), (401, {"detail": "no"}), (403, error("unauthorized"))):
        assert ask(status, body).certain
    for status, body in ((403, b""), (403, b"<h1>Blocked</h1>"), (404, b"<h1>Not found</h1>"), (405, b"")):
        assert not ask(status, body).certain


def test_on_a_lookup_a_403_is_about_us() -> None:
    assert isinstance(lookup(403, error("forbidden")), Misconfigured)
