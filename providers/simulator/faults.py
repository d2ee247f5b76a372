"""Rules that make trouble: which calls they hit, how often, and which one comes first. Pure."""

import math
import random
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from providers.simulator.contract import Strict
from providers.simulator.troubles import Latency, Trouble

Operation = Literal[
    "create_booking",
    "find",
    "get",
    "change",
    "cancel",
    "refund",
    "find_refunds",
    "availability",
    "arrivals",
    "unknown",
]


class Match(Strict):
    """Which calls a rule is about; what is not named matches all."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] | None = None
    path: str | None = None  # a prefix, or a pattern if it holds a *
    operation: Operation | None = None
    reference: str | None = None
    room_type: str | None = None
    property: str | None = None
    key: str | None = None


class Terms(Strict):
    """When a matching call is hit: after the first `skip`, `times` at most, with a chance of `share`."""

    match: Match = Match()
    times: Annotated[int, Field(ge=1)] | None = None
    skip: Annotated[int, Field(ge=0)] = 0
    share: Annotated[float, Field(ge=0, le=1)] = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Call:
    """What rules look at."""

    operation: str
    method: str
    path: str
    key: str | None = None
    reference: str | None = None
    room_type: str | None = None
    property: str | None = None


@dataclass
class Rule:
    """A rule with its counts."""

    id: str
    terms: Terms
    trouble: Trouble
    seen: int = 0
    hits: int = 0
    dice: random.Random = field(default_factory=random.Random)

    def strikes(self, call: Call) -> bool:
        """Whether it hits this call; counts it."""
        terms = self.terms
        if (terms.times is not None and self.hits >= terms.times) or not matches(terms.match, call):
            return False
        self.seen += 1
        if self.seen <= terms.skip or (terms.share < 1 and self.dice.random() >= terms.share):
            return False
        self.hits += 1
        return True

    def shown(self) -> dict[str, Any]:
        """As listed by `GET /faults`."""
        terms = self.terms.model_dump(mode="json", exclude={"match"})
        match = self.terms.match.model_dump(exclude_none=True)
        trouble = self.trouble.model_dump(mode="json")
        return {"id": self.id, "match": match, **terms, **trouble, "seen": self.seen, "hits": self.hits}


class Faults:
    """The rules in force, oldest first."""

    def __init__(self) -> None:
        self.rules: dict[str, Rule] = {}
        self._count = 0
        self._troubles: TypeAdapter[Trouble] = TypeAdapter(Trouble)

    def add(self, asked: dict[str, Any]) -> Rule:
        """Terms and the kind's parameters, side by side. Raises pydantic's ValidationError."""
        terms = Terms.model_validate({k: v for k, v in asked.items() if k in Terms.model_fields})
        rest = {k: v for k, v in asked.items() if k not in Terms.model_fields}
        trouble = self._troubles.validate_python(rest)
        self._count += 1
        # Reproducible faults are the point; nothing here is a secret.
        rule = Rule(f"F-{self._count}", terms, trouble, dice=random.Random(terms.seed))  # noqa: S311
        self.rules[rule.id] = rule
        return rule

    def strike(self, call: Call) -> tuple[Rule | None, Rule | None]:
        """The first delay and the first other trouble that hit: slowness and failures come together."""
        delay: Rule | None = None
        other: Rule | None = None
        for rule in self.rules.values():
            if isinstance(rule.trouble, Latency):
                delay = rule if delay is None and rule.strikes(call) else delay
            elif other is None and rule.strikes(call):
                other = rule
        return delay, other


def matches(match: Match, call: Call) -> bool:
    """All that the rule names is so."""
    return (
        match.method in (None, call.method)
        and (match.path is None or _path_matches(match.path, call.path))
        and all(
            getattr(match, name) in (None, getattr(call, name))
            for name in ("operation", "reference", "room_type", "property", "key")
        )
    )


def _path_matches(pattern: str, path: str) -> bool:
    return fnmatchcase(path, pattern) if "*" in pattern else path.startswith(pattern)


def drawn_ms(latency: Latency, dice: random.Random) -> float:
    """A delay. Between two percentiles it grows by factors, as real latencies do; below the first, evenly from 0."""
    if not latency.percentiles:
        return latency.ms or 0.0
    points = sorted((float(name[1:]) / 100, ms) for name, ms in latency.percentiles.items())
    at, low_q, low_ms = dice.random(), 0.0, 0.0
    for high_q, high_ms in points:
        if at <= high_q:
            part = (at - low_q) / (high_q - low_q) if high_q > low_q else 1.0
            return _between(low_ms, high_ms, part)
        low_q, low_ms = high_q, high_ms
    return low_ms


def _between(low: float, high: float, part: float) -> float:
    if low > 0 and high > 0:
        return low * math.pow(high / low, part)
    return low + (high - low) * part
