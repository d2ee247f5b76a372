"""The same chat as for the guards."""

from tests.guards.conftest import chat, hotel, pms

__all__ = ["chat", "hotel", "pms"]
