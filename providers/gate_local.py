"""The gate in this process alone, for while Redis is away."""

import math
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from providers.gate import (
    CALL_SECONDS,
    CALL_WEIGHT,
    FULL_LEAST,
    FULL_MOST,
    HALF_LIFE,
    MIN_CALLS,
    OPEN_SECONDS,
    PROBE_SECONDS,
    RATE_MOST,
    RATE_PERIOD,
    SICK_SHARE,
    TOO_MANY_A_SECOND,
    TOO_MANY_AT_ONCE,
    Closed,
    Health,
    Permit,
    Verdict,
)


@dataclass
class _State:
    """One provider in memory. Times are of the gate's clock, seconds."""

    good: float = 0.0
    sick: float = 0.0
    counted_at: float = 0.0
    open_until: float = 0.0
    probe: str = ""
    probe_until: float = 0.0
    permits: dict[str, float] = field(default_factory=dict)
    next_free: float = 0.0
    call_seconds: float = CALL_SECONDS

    def slot(self, now: float, spacing: float, most: float, ahead: float = 0.0) -> float:
        """The wait for the next free slot, which is taken by this."""
        slot = max(self.next_free, now + ahead) + spacing
        self.next_free = min(slot, max(self.next_free, now + most))
        return min(self.next_free - now, most)

    def count(self, verdict: Verdict, now: float) -> None:
        """Count one call that ended, and open the breaker if it is time."""
        fade = math.pow(0.5, (now - self.counted_at) / HALF_LIFE)
        self.good = self.good * fade + (verdict is Verdict.HEALTHY)
        self.sick = self.sick * fade + (verdict is Verdict.SICK)
        self.counted_at = now
        total = self.good + self.sick
        if self.open_until == 0 and total >= MIN_CALLS and self.sick >= SICK_SHARE * total:
            self.open_until = now + OPEN_SECONDS

    def close(self) -> None:
        """The provider is well: what was counted before is forgotten."""
        self.good = self.sick = self.open_until = 0.0


class LocalGate:
    """A `providers.gate.Gate`. `clock` is in seconds and never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._states: dict[str, _State] = {}
        self._lock = threading.Lock()

    def enter(self, provider: str, concurrent: int | None, lease: float, *, queues: bool = True) -> Permit | Closed:
        """See `Gate.enter`."""
        now = self._clock()
        with self._lock:
            state = self._states.setdefault(provider, _State())
            if state.open_until > now:
                return Closed(state.open_until - now, "breaker open", sick=True)
            probe = state.open_until > 0
            if probe and state.probe_until > now:
                return Closed(state.probe_until - now, "probing", sick=True)
            state.permits = {token: until for token, until in state.permits.items() if until > now}
            if concurrent is not None and len(state.permits) >= concurrent:
                wait = state.slot(now, state.call_seconds / concurrent, FULL_MOST) if queues else FULL_LEAST
                return Closed(max(wait, FULL_LEAST), TOO_MANY_AT_ONCE, sick=False)
            permit = Permit(uuid.uuid4().hex, probe, now, local=True)
            state.permits[permit.token] = now + lease
            if probe:
                state.probe, state.probe_until = permit.token, now + PROBE_SECONDS
            return permit

    def turn_away(self, provider: str, permit: Permit, per_second: int, *, queues: bool = True) -> Closed:
        """See `Gate.turn_away`."""
        now, spacing = self._clock(), RATE_PERIOD / per_second
        with self._lock:
            state = self._states.setdefault(provider, _State())
            _take_back(state, permit)
            wait = state.slot(now, spacing, RATE_MOST, ahead=RATE_PERIOD) if queues else spacing
            return Closed(wait, TOO_MANY_A_SECOND, sick=False)

    def leave(self, provider: str, permit: Permit, health: Health) -> None:
        """See `Gate.leave`."""
        now, verdict = self._clock(), health.verdict
        with self._lock:
            state = self._states.setdefault(provider, _State())
            _take_back(state, permit)
            if verdict is Verdict.NONE:
                return
            state.call_seconds += CALL_WEIGHT * (now - permit.entered - state.call_seconds)
            if verdict is Verdict.THROTTLED:
                state.open_until = max(state.open_until, now + max(health.retry_after, OPEN_SECONDS))
            elif permit.probe and verdict is Verdict.HEALTHY:
                state.close()
            elif permit.probe:
                state.open_until = now + OPEN_SECONDS
            else:
                state.count(verdict, now)


def _take_back(state: _State, permit: Permit) -> None:
    state.permits.pop(permit.token, None)
    if state.probe == permit.token:  # one that was given up, and comes back after all, makes no room beside the next
        state.probe_until = 0.0
