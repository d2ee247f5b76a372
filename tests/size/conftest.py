"""The same chat as for the guards."""

from tests.guards.conftest import chat

__all__ = ["chat"]
