"""Options that many commands have, and the settings they lead to."""

import os
from pathlib import Path
from typing import Annotated

import typer

from booking.settings import Settings
from cli.config import find_file, load_settings
from cli.state import joined

Config = Annotated[
    Path | None,
    typer.Option("--config", envvar="ROOMKEY_CONFIG", help="Configuration file (default: roomkey.toml here)."),
]
Data = Annotated[Path, typer.Option("--data", envvar="ROOMKEY_DATA", help="Folder of `roomkey up`.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to stdout, and nothing else there.")]


def settings_of(config: Path | None, data: Path) -> Settings:
    """What is configured, with the servers of a `roomkey up` in `data` where none is named. Raises Trouble."""
    return joined(load_settings(find_file(config), os.environ), data)
