import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder with a space in its path that other users can reach (pytest's own are private to root)."""
    path = Path(tempfile.mkdtemp(prefix="room key "))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)
