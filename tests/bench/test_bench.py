"""The benchmark works: it measures both sides and writes what it says. No test here asserts a time."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("bench")
    command = [sys.executable, "-m", "bench", "throughput", "--quick", "--json", str(folder)]
    ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=100)
    assert ended.returncode == 0, ended.stderr[-4000:]
    assert "ratio" in ended.stdout
    written: dict[str, Any] = json.loads((folder / "throughput.json").read_text())
    return written


@pytest.mark.parametrize("side", ["roomkey", "baseline"])
def test_a_burst_is_measured_on_both_sides_and_every_result_is_readable(found: dict[str, Any], side: str) -> None:
    (burst,) = [burst for burst in found["bursts"] if burst["side"] == side]
    for name in ("per_second", "submit_p50_ms", "submit_p99_ms"):
        assert burst[name] > 0
    assert burst["n"] == burst["readable"] == 40
    assert burst["calls_per_intent"] == 1
    used = burst["cpu_s_per_1000"]
    for tree in (
        "worker",
        "postgres",
        "valkey",
        "client",
        "stub",
        *(["api", "caretaker"] if side == "roomkey" else []),
    ):
        assert used[tree] >= 0
    assert used["worker"] > 0
    assert used["postgres"] > 0


@pytest.mark.parametrize("side", ["roomkey", "baseline"])
def test_the_unloaded_latency_is_measured_on_both_sides(found: dict[str, Any], side: str) -> None:
    (trips,) = [trips for trips in found["unloaded"] if trips["side"] == side]
    assert trips["p99_ms"] >= trips["p50_ms"] > trips["pms_alone_p50_ms"] > 0
    assert trips["above_pms_p50_ms"] > 0


def test_memory_is_told_for_each_process(found: dict[str, Any]) -> None:
    (layout,) = found["memory"]
    assert set(layout["roomkey"]) == {"api", "worker", "caretaker"}
    assert set(layout["baseline"]) == {"worker"}
    for side in ("roomkey", "baseline"):
        assert all(process["rss"] > 0 for processes in layout[side].values() for process in processes)


def test_the_ratio_is_of_the_two_medians(found: dict[str, Any]) -> None:
    (row,) = found["summary"]
    assert row["ratio"] == pytest.approx(row["roomkey"]["per_second"] / row["baseline"]["per_second"])
