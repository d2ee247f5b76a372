"""Idempotency keys as Stripe documents them: locked at arrival, kept with any answer, forgotten after a day."""

from dataclasses import dataclass, field
from typing import Any

from tests.stripe.books import Refusal

LIFE = 24 * 3600.0

Parameters = tuple[str, tuple[tuple[str, str], ...]]


@dataclass
class Answer:
    """An answer as it goes out. Without a body in JSON it is `raw`."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None


@dataclass
class Key:
    """One key in use; without an `answer` its first call is still running."""

    parameters: Parameters
    born: float
    answer: Answer | None = None


class Keys:
    """All keys that are remembered."""

    def __init__(self, life: float = LIFE) -> None:
        self._life = life
        self._keys: dict[str, Key] = {}

    def meet(self, name: str, parameters: Parameters, now: float) -> Answer | None:
        """The answer to a key that has been here before; None for a new one, which is locked. Raises Refusal."""
        known = self._keys.get(name)
        if known is None or now - known.born >= self._life:
            self._keys[name] = Key(parameters, now)
            return None
        if known.parameters != parameters:
            message = "Keys can only be used with the parameters they were first used with."
            raise Refusal(400, executed=False, type="idempotency_error", message=message)
        if known.answer is None:
            message = "Another request with this key is still running."
            raise Refusal(409, executed=False, code="idempotency_key_in_use", message=message)
        replayed = {**known.answer.headers, "Idempotent-Replayed": "true"}
        return Answer(known.answer.status, known.answer.body, replayed, known.answer.raw)

    def keep(self, name: str, answer: Answer) -> None:
        """The answer that the key stands for from now on."""
        self._keys[name].answer = answer

    def forget(self, name: str) -> None:
        """Unlock: the endpoint never began."""
        self._keys.pop(name, None)
