"""What tests of the gate say over and over."""

from dataclasses import replace

from providers.gate import Closed, Gate, Health, Permit, Verdict

HEALTHY, SICK, NONE = Health(Verdict.HEALTHY), Health(Verdict.SICK), Health(Verdict.NONE)
LEASE = 30.0


def enter(gate: Gate, concurrent: int | None = None, *, lease: float = LEASE) -> Permit:
    """A permit, which there must be."""
    permit = gate.enter("pms", concurrent, lease)
    assert isinstance(permit, Permit), permit
    return permit


def refused(gate: Gate, concurrent: int | None = None, *, queues: bool = True) -> Closed:
    """The refusal, which there must be."""
    closed = gate.enter("pms", concurrent, LEASE, queues=queues)
    assert isinstance(closed, Closed), closed
    return closed


def call(gate: Gate, health: Health, took: float = 0.0) -> None:
    """One call that ended like this, `took` seconds after it began."""
    permit = enter(gate)
    gate.leave("pms", replace(permit, entered=permit.entered - took), health)
