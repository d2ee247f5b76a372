"""Which files the project consists of."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: The rooms, whose imports point down, and the client, which stands alone.
ROOMS = ("api", "booking", "cli", "dedupe", "providers", "tasks", "workers")
PACKAGES = (*ROOMS, "roomkey_client")


def tracked() -> list[Path]:
    """The tracked files that are there, relative to the checkout."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()]


def sources() -> list[Path]:
    """The Python files of the product, tests and benchmarks aside, relative to the checkout."""
    return [path.relative_to(ROOT) for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
