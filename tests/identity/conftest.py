"""The chat of the guards, whose agent may ask as often as it likes; and a worker whose hotel system takes no keys."""

import pytest

from booking.settings import Guards, TenantSettings
from tests.dedupe.rows import run
from tests.guards.chat import Chat
from tests.guards.conftest import chat as chat
from tests.pms import Pms
from tests.tasks.desk import SHORT, Desk

__all__ = ["chat"]

#: Higher than any test here gets.
UNGUARDED = Guards(same_call_failures=100, unavailable=100)


@pytest.fixture
def patient(chat: Chat) -> Chat:
    """The chat without guards: it is the asking again that is looked at."""
    return with_settings(chat, TenantSettings(guards=UNGUARDED))


@pytest.fixture
def strict(chat: Chat) -> Chat:
    """The chat of a tenant that wants no second stay out of another conversation."""
    return with_settings(chat, TenantSettings(guards=UNGUARDED, refuse_duplicates=True))


def with_settings(chat: Chat, settings: TenantSettings) -> Chat:
    run(chat.api.engine, "UPDATE tenants SET settings = CAST(:to AS jsonb)", to=settings.model_dump_json())
    return chat


@pytest.fixture
def keyless(chat: Chat, pms: Pms) -> Desk:
    """The chat's worker at a hotel system without keys: what is in doubt there stays so until a look-up tells."""
    pms.set_mode("lookup-only")
    return Desk.at(chat.api.engine, pms, chat.desk.redis, "lookup-only", write_deadline=SHORT)
