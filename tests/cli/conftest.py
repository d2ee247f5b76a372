from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import Up, reachable_folder, running_up


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with reachable_folder() as path:
        yield path


@pytest.fixture(scope="module")
def up(folder: Path) -> Iterator[Up]:
    """A whole stack, shared by the tests of one module."""
    with running_up(folder) as stack:
        yield stack
