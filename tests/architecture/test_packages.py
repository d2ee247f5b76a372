"""What the project consists of: its packages, their places, the wheel, the size of files."""

import importlib
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.architecture.files import PACKAGES, ROOMS, ROOT, sources, tracked

#: Top-level folders beside the packages. A new one is a decision, made here.
OTHER = {".ci", "bench", "docs", "requirements", "tests"}
MOST_LINES = 300


def test_no_other_top_level_package_appears() -> None:
    folders = {path.parts[0] for path in tracked() if len(path.parts) > 1}
    assert folders <= {*PACKAGES, *OTHER}
    assert not [path for path in tracked() if len(path.parts) == 1 and path.suffix == ".py"], "no loose modules"


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_is_this_checkouts(package: str) -> None:
    """Distributions of the same names exist in public."""
    module = importlib.import_module(package)
    assert module.__file__ is not None
    assert Path(module.__file__) == ROOT / package / "__init__.py"


def test_every_folder_with_modules_is_a_package() -> None:
    assert not [path for path in sources() if not (ROOT / path.parent / "__init__.py").is_file()]


def test_no_module_is_a_drawer_for_everything() -> None:
    drawers = {"util", "utils", "helpers", "misc", "common"}
    assert not [path for path in tracked() if path.suffix == ".py" and drawers & {*path.parts[:-1], path.stem}]


def test_no_file_is_long() -> None:
    sizes = {str(path): len((ROOT / path).read_text().splitlines()) for path in tracked() if path.suffix == ".py"}
    assert sizes
    assert {path: lines for path, lines in sizes.items() if lines > MOST_LINES} == {}


def test_the_import_contracts_know_every_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert set(settings["importlinter"]["root_packages"]) == set(PACKAGES)
    assert set(settings["mypy"]["packages"]) == {*PACKAGES, "tests", "bench"}
    assert set(settings["hatch"]["build"]["targets"]["wheel"]["packages"]) == set(ROOMS)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in the wheel, built without a network."""
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=60)
    (built,) = place.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_the_rooms_and_nothing_else(wheel: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel}
    (about,) = tops - set(ROOMS)
    assert about.startswith("roomkey-")
    assert about.endswith(".dist-info")
    assert set(ROOMS) <= tops


def test_the_wheel_holds_what_is_no_python(wheel: set[str]) -> None:
    wanted = {path.as_posix() for path in tracked() if path.parts[0] in ROOMS}
    assert {name for name in wanted if name.endswith(".sql")} <= wheel
    assert wanted <= wheel
    assert any(name.endswith("licenses/LICENSE") for name in wheel)
