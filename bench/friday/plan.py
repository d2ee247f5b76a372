"""What is played, and what it must come to."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: Property -> provider: the two that have Friday, and the healthy neighbour.
KEYED, LOOKUP, NEIGHBOUR = "BER", "AKL", "HNL"
PROVIDERS = {KEYED: "keyed", LOOKUP: "lookup", NEIGHBOUR: "neighbour"}
MODES = {KEYED: "keyed", LOOKUP: "lookup-only", NEIGHBOUR: "keyed"}


@dataclass(frozen=True)
class Plan:
    """How much, how fast, how bad. Times are seconds where nothing else is said; rates are a second."""

    intents: int = 500
    rate: float = 20.0
    reads_rate: float = 4.0
    neighbour_rate: float = 6.0
    #: Milliseconds by percentile, as the simulator draws them.
    latency: Mapping[str, float] = field(default_factory=lambda: {"p50": 300.0, "p99": 12_000.0})
    neighbour_ms: float = 300.0
    failing: float = 0.08
    seed: int = 1840
    before: float = 15.0
    outage: float = 60.0
    after: float = 20.0
    #: Calls are counted from so long after the outage began: what was on its way is not a probe.
    settling: float = 5.0
    #: How long the last intents may take to come to rest.
    rest_within: float = 180.0
    settle_time: float = 30.0
    idle_timeout: float = 10.0
    #: Of the `before` side, a call's timeout.
    timeout: float = 5.0

    @property
    def played(self) -> float:
        """Seconds of the part with the outage."""
        return self.before + self.outage + self.after


#: Enough to see that everything works; its numbers mean nothing.
QUICK = Plan(
    intents=12,
    latency={"p50": 5.0, "p99": 50.0},
    neighbour_ms=5.0,
    before=1.0,
    outage=3.0,
    after=1.5,
    settling=1.0,
    rest_within=7.0,
    settle_time=0.5,
    idle_timeout=1.0,
    timeout=1.0,
)


@dataclass(frozen=True)
class Aim:
    """A figure and the most it may be."""

    name: str
    found: float | None
    most: float

    @property
    def met(self) -> bool:
        """None was not measured, or never came: missed."""
        return self.found is not None and not math.isnan(self.found) and self.found <= self.most


def aims(found: Mapping[str, Any]) -> list[Aim]:
    """The aims, in the order they are shown."""
    calls, slower = found["write_calls_per_intent"], found["second_provider_slowdown"]
    untrue = sum(part["untrue"] + part["open"] for part in found["states"].values())
    return [
        Aim("write calls per intent, keyed", calls["keyed"], 1.3),
        Aim("write calls per intent, lookup-only", calls["lookup-only"], 1.4),
        Aim("calls per read", found["read_calls_per_read"], 1.5),
        Aim("effects per reference, the most", found["most_effects_per_reference"], 1),
        Aim("intents told what is not so, or still open", untrue, 0),
        Aim("failed reads told as empty", found["reads"]["empty"], 0),
        Aim("calls/s in the outage", found["outage_calls_per_s"], 2),
        Aim("seconds until throughput is back", found["recovery_s"], 10),
        # "Not slowed", with room for what a shared machine does to percentiles.
        Aim("second provider, p50 in the outage / before", slower["p50"], 1.25),
        Aim("second provider, p99 in the outage / before", slower["p99"], 2),
        # The hour of truth is later: all who waited run at once, for as long as the backlog lasts.
        Aim("second provider, p50 after the outage / before", slower["after_p50"], 1.25),
        Aim("second provider, p99 after the outage / before", slower["after_p99"], 2),
    ]
