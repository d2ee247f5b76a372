from collections.abc import Iterator

import pytest

from providers.smtp_line import SmtpLine
from tests.mail.catching import Caught, start_catcher


@pytest.fixture(scope="session")
def catcher_process() -> Iterator[Caught]:
    """The session's mail catcher."""
    with start_catcher() as caught:
        yield caught


@pytest.fixture
def catcher(catcher_process: Caught) -> Caught:
    """The mail catcher as it is at its start."""
    catcher_process.clear()
    return catcher_process


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server of these tests counts as another machine: a real one can't be had here."""
    monkeypatch.setattr(SmtpLine, "stays_here", False)
