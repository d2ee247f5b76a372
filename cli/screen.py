"""Where output goes: results to stdout, remarks to stderr. NO_COLOR and pipes are respected by rich."""

import json
import sys
from typing import Any

from rich.console import Console

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

_COLOURS = {
    "succeeded": "green",
    "ok": "green",
    "failed": "red",
    "problem": "red",
    "unknown": "magenta",
    "partial": "yellow",
    "cancelled": "dim",
    "superseded": "dim",
}


def coloured(state: str) -> str:
    """A state in its colour, as rich markup; what is still open is cyan."""
    colour = _COLOURS.get(state, "cyan")
    return f"[{colour}]{state}[/{colour}]"


def print_json(value: Any) -> None:
    """Machine-readable: plain JSON on stdout, whatever the terminal."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
