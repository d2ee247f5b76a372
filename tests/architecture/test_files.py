"""What no tracked file may name, and what the locked requirements must hold."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.files import PACKAGES, ROOT, tracked

#: Written in pieces, so that this file doesn't name them.
FORBIDDEN = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "npm" + "js.",
    "crates" + ".io",
    "ruby" + "gems.org",
    "docker" + ".io",
    "proxy.go" + "lang",
    "--index" + "-url",
    "--extra-index" + "-url",
    "--find" + "-links",
    str(ROOT) + "/",
]
LOCKS = ["run", "dev"]


@pytest.mark.parametrize("name", FORBIDDEN, ids=range(len(FORBIDDEN)))
def test_no_tracked_file_names_a_registry_or_this_machines_folders(name: str) -> None:
    assert len(tracked()) > 50
    assert [str(path) for path in tracked() if name.encode() in (ROOT / path).read_bytes()] == []


def locked(lock: str) -> dict[str, list[tuple[Requirement, list[str]]]]:
    """name -> its entries (one for each marker) with their hashes."""
    text = (ROOT / "requirements" / f"{lock}.txt").read_text().replace("\\\n", " ")
    entries: dict[str, list[tuple[Requirement, list[str]]]] = {}
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            said, *hashes = line.split("--hash=")
            requirement = Requirement(said.strip())
            entries.setdefault(canonicalize_name(requirement.name), []).append((requirement, hashes))
    return entries


def wanted(lock: str) -> list[Requirement]:
    """What pyproject.toml asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"] if lock == "dev" else {}
    return [
        Requirement(said) for said in (*project["dependencies"], *(one for extra in extras.values() for one in extra))
    ]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_requirement_is_one_version_with_hashes(lock: str) -> None:
    assert locked(lock)
    for entries in locked(lock).values():
        for requirement, hashes in entries:
            assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), requirement
            assert hashes, requirement
            assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one.strip()) for one in hashes), requirement


@pytest.mark.parametrize("lock", LOCKS)
def test_no_locked_requirement_names_a_place(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    assert "://" not in text
    assert " @ " not in text
    assert not re.search(r"^\s*-(?!-hash)", text, re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_holds_what_the_project_asks_for(lock: str) -> None:
    entries = locked(lock)
    for requirement in wanted(lock):
        found = entries.get(canonicalize_name(requirement.name), [])
        assert found, f"{requirement.name} is not locked: run make lock"
        for entry, _ in found:
            (pin,) = entry.specifier
            assert requirement.specifier.contains(pin.version, prereleases=True), requirement


def test_both_locks_agree() -> None:
    run, dev = locked("run"), locked("dev")
    assert {name for name in run if name not in dev} == set()
    assert {name: [str(entry) for entry, _ in run[name]] for name in run} == {
        name: [str(entry) for entry, _ in dev[name]] for name in run
    }


@pytest.mark.parametrize("lock", LOCKS)
def test_no_requirement_carries_the_name_of_one_of_our_packages(lock: str) -> None:
    assert not {canonicalize_name(name) for name in (*PACKAGES, "roomkey")} & set(locked(lock))
