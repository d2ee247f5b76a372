"""What happened, counted from the hotel systems' ledgers and held against what was told."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

Call = Mapping[str, Any]

_ITEMS = """
SELECT conversation_id, reference, state, extract(epoch FROM created_at)::float, extract(epoch FROM settled_at)::float,
       due_at IS NOT NULL AND settled_at IS NOT NULL
FROM items WHERE conversation_id LIKE %s || '-%%'
"""
_WRITES = """
SELECT extract(epoch FROM a.started_at)::float, extract(epoch FROM a.closed_at - a.started_at)::float
FROM attempts a JOIN items i ON i.id = a.item_id
WHERE a.kind = 'write' AND a.closed_at IS NOT NULL AND i.conversation_id LIKE %s || '-%%'
"""
_OPEN = "SELECT count(*) FROM items WHERE state IN ('queued', 'running') AND conversation_id LIKE %s || '-%%'"
#: Throughput is looked at over so long, seconds: short enough to see it come back, long enough to be a rate.
_WINDOW = 3.0


@dataclass(frozen=True)
class Item:
    """One booking in Roomkey's own record. Times are seconds since 1970; `audited`: one more look-up is due."""

    conversation: str
    reference: str
    state: str
    created_at: float
    settled_at: float | None
    audited: bool


def items(database: psycopg.Connection[Any], name: str) -> list[Item]:
    """Those of one part of the play."""
    return [Item(*row) for row in database.execute(_ITEMS, (name,))]


def writes(database: psycopg.Connection[Any], name: str) -> list[tuple[float, float]]:
    """(begun at, seconds) of each write call of one part."""
    return [(at, took) for at, took in database.execute(_WRITES, (name,))]


def still_open(database: psycopg.Connection[Any], name: str) -> int:
    """How many are neither settled nor told as unknown."""
    row = database.execute(_OPEN, (name,)).fetchone()
    return int(row[0]) if row else 0


def calls_of(ledger: Iterable[Call], found: Sequence[Item]) -> dict[str, float]:
    """Calls per intent, by what they were, and the audits that come five minutes later."""
    references = {item.reference for item in found}
    kinds = Counter(call["operation"] for call in ledger if call["reference"] in references)
    count = len(found)
    return {
        "intents": count,
        "writes": kinds["create_booking"] / count,
        "checks": kinds["find"] / count,
        "all": sum(kinds.values()) / count,
        "audits_due": sum(item.audited for item in found) / count,
    }


def effects(ledger: Iterable[Call]) -> Counter[str]:
    """Bookings made, by reference."""
    return Counter(call["reference"] for call in ledger if call["effect"] and call["operation"] == "create_booking")


def truth(ledger: Iterable[Call], found: Sequence[Item], told: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """How many were told which state, how many of them untruly. `told`: conversation -> the intent as told."""
    made: dict[str, set[str]] = {}
    for call in ledger:
        if call["effect"] and call["operation"] == "create_booking":
            made.setdefault(call["reference"], set()).add(call["booking_id"])
    states: Counter[str] = Counter()
    untrue = 0
    for item in found:
        (shown,) = told[item.conversation]["items"]
        states[shown["state"]] += 1
        untrue += not _true(shown, made.get(item.reference, set()))
    names = ("succeeded", "failed", "unknown")
    open_ = sum(count for state, count in states.items() if state not in (*names, "cancelled"))
    return {**{name: states[name] for name in names}, "open": open_, "untrue": untrue}


def _true(shown: Mapping[str, Any], made: set[str]) -> bool:
    match shown["state"]:
        case "succeeded":
            return made == {shown["result"]["booking_id"]}
        case "failed" | "cancelled":
            return not made
        case _:
            return len(made) <= 1  # it says that it isn't known


def per_second(times: Iterable[float], began: float, seconds: float) -> list[int]:
    """How many in each second from `began` on."""
    counts = Counter(math.floor(at - began) for at in times)
    return [counts[second] for second in range(math.ceil(seconds))]


def rate(times: Iterable[float], since: float, until: float) -> float:
    """How many a second between the two moments."""
    return sum(since <= at < until for at in times) / (until - since)


def recovery(settled: Iterable[float], ended: float, arrivals: float) -> float | None:
    """Seconds after `ended` until as many a second come to rest as arrive, over a short window; None: never."""
    after = sorted(at for at in settled if at >= ended)
    need = math.ceil(arrivals * _WINDOW)
    for first, last in zip(after, after[need - 1 :], strict=False):
        if last - first <= _WINDOW:
            return max(last - ended, 0.0)
    return None


def percentiles(took: Sequence[float]) -> dict[str, float | None]:
    """p50 and p99 in seconds."""
    if len(took) < 2:
        (one,) = took or (None,)
        return {"p50": one, "p99": one}
    cuts = statistics.quantiles(took, n=100, method="inclusive")
    return {"p50": cuts[49], "p99": cuts[98]}


def binned(took: Iterable[tuple[float, float]], began: float, seconds: float, width: float) -> list[dict[str, Any]]:
    """Percentiles of what began in each stretch of `width` seconds; `at` is its middle."""
    bins: dict[int, list[float]] = {}
    for at, one in took:
        bins.setdefault(math.floor((at - began) / width), []).append(one)
    return [
        {"at": (number + 0.5) * width, **percentiles(bins[number])}
        for number in sorted(bins)
        if 0 <= number * width < seconds
    ]
