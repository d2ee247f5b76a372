"""Friday can be played and drawn: a short one, with every field in its JSON. No test here asserts a time."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("friday")
    command = [sys.executable, "-m", "bench", "friday", "--quick", "--json", str(folder)]
    command += ["--picture", str(folder / "friday.svg")]
    ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=100)
    assert ended.returncode == 0, ended.stderr[-4000:]
    assert "write calls per intent" in ended.stdout
    return folder


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, Any]:
    written: dict[str, Any] = json.loads((folder / "friday.json").read_text())
    return written


def test_the_figures_are_all_there(found: dict[str, Any]) -> None:
    for mode in ("keyed", "lookup-only"):
        assert found["write_calls_per_intent"][mode] >= 1
    assert found["read_calls_per_read"] > 0
    assert found["outage_calls_per_s"] >= 0
    assert "recovery_s" in found
    assert set(found["second_provider_slowdown"]) == {"p50", "p99", "after_p50", "after_p99"}
    assert len(found["aims"]) == 12
    assert all(isinstance(aim["met"], bool) for aim in found["aims"])


def test_every_intent_is_told_what_the_ledger_says(found: dict[str, Any]) -> None:
    plan, states = found["plan"], found["states"]
    played = plan["before"] + plan["outage"] + plan["after"]
    counted = {name: sum(part.values()) - part["untrue"] for name, part in states.items()}
    assert counted == {
        "keyed": plan["intents"],
        "lookup": plan["intents"],
        "outage": int(plan["rate"] * played),
        "neighbour": int(plan["neighbour_rate"] * played),
    }
    assert all(part["untrue"] == 0 for part in states.values())
    assert found["most_effects_per_reference"] == 1
    assert found["reads"]["asked"] > 0
    assert found["reads"]["empty"] == 0


def test_both_sides_are_counted_over_the_same_time(found: dict[str, Any]) -> None:
    ours, without = found["over_time"], found["without"]
    assert len(ours["calls"]) == len(without["calls"])
    assert 0 < ours["outage_from"] < ours["outage_until"] < len(ours["calls"])
    assert sum(ours["calls"]) > 0
    assert without["calls_per_question"] > 1


def test_the_picture_is_small_well_formed_and_fits_light_and_dark(folder: Path) -> None:
    drawn = (folder / "friday.svg").read_text()
    root = ElementTree.fromstring(drawn)  # noqa: S314 - our own
    assert root.tag.endswith("svg")
    assert len(drawn) < 60_000
    assert "prefers-color-scheme: dark" in drawn
    said = " ".join("".join(text.itertext()) for text in root.iter() if text.tag.endswith("text"))
    for label in ("with Roomkey", "before: three layers", "calls/s, log scale", "seconds", "p99"):
        assert label in said
