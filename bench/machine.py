"""What processes use: CPU seconds and memory, by process tree."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import psutil

#: Names of process trees -> the root processes.
Trees = Mapping[str, list[int]]

CPUS = os.cpu_count() or 1


@dataclass(frozen=True)
class Memory:
    """Of one process, in MB. `pss` counts shared pages by their share; None where the system doesn't tell."""

    rss: float
    pss: float | None


def _family(pids: Iterable[int]) -> Iterable[psutil.Process]:
    for pid in pids:
        try:
            root = psutil.Process(pid)
            yield from (root, *root.children(recursive=True))
        except psutil.NoSuchProcess:
            continue


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system time of the trees below `pids` so far, their ended children included."""
    total = 0.0
    for process in _family(pids):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def own_cpu_seconds() -> float:
    """User and system time of this process alone so far."""
    times = psutil.Process().cpu_times()
    return times.user + times.system


def cpu_of(trees: Trees) -> dict[str, float]:
    """CPU seconds so far of each tree, and of this process as `client`."""
    return {name: cpu_seconds(pids) for name, pids in trees.items()} | {"client": own_cpu_seconds()}


def memory_of(trees: Trees) -> dict[str, list[Memory]]:
    """Memory of each root process of the trees (for Postgres: of the postmaster alone)."""
    return {name: [_memory(pid) for pid in pids] for name, pids in trees.items()}


def _memory(pid: int) -> Memory:
    process = psutil.Process(pid)
    try:
        pss = getattr(process.memory_full_info(), "pss", None)
    except psutil.AccessDenied:
        pss = None
    return Memory(_mb(process.memory_info().rss), None if pss is None else _mb(pss))


def _mb(count: int) -> float:
    return round(count / 1e6, 1)


def busy_seconds() -> float:
    """CPU seconds of the whole machine since boot, whoever used them."""
    times = psutil.cpu_times()
    return sum(times[:3]) + sum(getattr(times, name, 0.0) for name in ("irq", "softirq", "steal"))


def describe() -> dict[str, object]:
    """The machine in a few words, for the report."""
    ram = round(psutil.virtual_memory().total / 1e9, 1)
    return {"cpus": CPUS, "ram_gb": ram, "system": os.uname().sysname, "release": os.uname().release}
