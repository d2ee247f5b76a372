"""The agent's side: hands in intents over HTTP and polls. A distribution of its own, on httpx and pydantic alone."""

from roomkey_client.client import Client, RoomkeyError

__all__ = ["Client", "RoomkeyError"]
