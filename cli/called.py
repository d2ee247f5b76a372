"""How this command is called here, so that what is printed can be run as it stands."""

import shlex
import shutil
import sys
from pathlib import Path

from cli.state import FOLDER


def command(words: str, data: Path) -> str:
    """`roomkey WORDS` on the folder `data`: by its path where the name alone would run another command, or none."""
    folder = "" if data.resolve() == FOLDER.resolve() else f" --data {shlex.quote(str(data))}"
    return f"{shlex.quote(_name())} {words}{folder}"


def _name() -> str:
    ours = Path(sys.argv[0])
    if ours.stem != "roomkey":  # python -m cli.main
        ours = Path(sys.executable).with_name("roomkey")
    found = shutil.which("roomkey")
    if not ours.exists() or (found is not None and Path(found).samefile(ours)):
        return "roomkey"
    return str(ours)
