"""Rules that make trouble for mails, by recipient. Pure.

Kinds: `refuse` answers `code` at RCPT; `refuse_data` answers it after the message; `lost_after_dot` takes the message
and drops the connection without an answer; `accept` does nothing but wait. `delay_ms` is waited before the answer, or
before the drop. 421 also ends the connection, as it does at real servers.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from providers.catcher.addresses import folded

#: More rules than these are a mistake of whoever adds them.
MOST_RULES = 1000

Kind = Literal["refuse", "refuse_data", "lost_after_dot", "accept"]
#: kind -> the step that it is about.
STEPS: dict[str, str] = {"refuse": "RCPT", "refuse_data": "DATA", "lost_after_dot": "DATA", "accept": "DATA"}


class Terms(BaseModel):
    """`POST /faults`. Without a recipient it is about every one; without `times`, for ever.

    Without a kind it is `refuse` if there is a code, else `accept`. `text` is what the answer says after its code.
    """

    model_config = ConfigDict(extra="forbid")

    recipient: Annotated[str, Field(min_length=1, max_length=320)] | None = None
    kind: Kind = "accept"
    code: Annotated[int, Field(ge=400, le=599)] | None = None
    times: Annotated[int, Field(ge=1)] | None = None
    delay_ms: Annotated[float, Field(ge=0, le=3_600_000)] = 0
    text: Annotated[str, Field(max_length=400, pattern=r"^[^\x00-\x1f\x7f]*$")] = "as asked for by a fault"

    @model_validator(mode="before")
    @classmethod
    def _kind(cls, asked: Any) -> Any:
        if isinstance(asked, dict) and asked.get("kind") is None:
            return {**asked, "kind": "accept" if asked.get("code") is None else "refuse"}
        return asked

    @model_validator(mode="after")
    def _code(self) -> Self:
        if (self.code is not None) is not self.kind.startswith("refuse"):
            raise ValueError("code belongs to the kinds refuse and refuse_data, and they need one")
        return self


class Rule:
    """Terms in force, with their count."""

    def __init__(self, id: str, terms: Terms) -> None:
        self.id, self.terms, self.hits = id, terms, 0
        self._recipient = None if terms.recipient is None else folded(terms.recipient)

    def strikes(self, step: str, recipient: str) -> bool:
        """Whether it hits; counts it."""
        spent = self.terms.times is not None and self.hits >= self.terms.times
        if spent or STEPS[self.terms.kind] != step or self._recipient not in (None, folded(recipient)):
            return False
        self.hits += 1
        return True

    def shown(self) -> dict[str, Any]:
        """As listed by `GET /faults`."""
        return {"id": self.id, **self.terms.model_dump(), "hits": self.hits}


class Faults:
    """The rules in force, oldest first."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self._count = 0

    def add(self, terms: Terms) -> Rule:
        """Put a rule in force. Raises ValueError where there are too many."""
        if len(self.rules) >= MOST_RULES:
            raise ValueError(f"there are {MOST_RULES} rules already")
        self._count += 1
        rule = Rule(f"F-{self._count}", terms)
        self.rules.append(rule)
        return rule

    def strike(self, step: str, recipients: list[str]) -> Rule | None:
        """The first rule that hits one of the recipients at this step."""
        return next((rule for rule in self.rules for one in recipients if rule.strikes(step, one)), None)
