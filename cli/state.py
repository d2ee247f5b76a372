"""What `roomkey up` leaves in its folder for the commands that run beside it."""

import json
from pathlib import Path

from pydantic import BaseModel, ValidationError

from booking.settings import Settings
from cli.embedded.folder import write_private

FOLDER = Path(".roomkey")


class State(BaseModel):
    """A running stack. A hint: after a `kill -9` it may speak of one that is gone."""

    api_url: str
    pms_url: str | None
    #: Where caught mail is looked at; None where no mail catcher was started.
    mail_url: str | None = None


class Keys(BaseModel):
    """The bearer keys of the tenant that `roomkey up` makes, by scope."""

    tenant: str
    keys: dict[str, str]


def settings_file(data: Path) -> Path:
    """Where the stack's processes read their settings; secrets included, so 0600."""
    return data / "settings.json"


def write_state(data: Path, state: State) -> None:
    """Tell where the stack listens."""
    write_private(data / "state.json", state.model_dump_json(indent=1) + "\n")


def read_state(data: Path) -> State | None:
    """Where the stack of this folder listens; None if it isn't running, as far as is known."""
    try:
        return State.model_validate_json((data / "state.json").read_text())
    except (OSError, ValidationError):
        return None


def forget_state(data: Path) -> None:
    """The stack has stopped."""
    (data / "state.json").unlink(missing_ok=True)
    settings_file(data).unlink(missing_ok=True)


def write_keys(data: Path, keys: Keys) -> None:
    """Keep the keys, so that later runs tell the same ones."""
    write_private(data / "keys.json", keys.model_dump_json(indent=1) + "\n")


def read_keys(data: Path) -> Keys | None:
    """The kept keys, if there are any."""
    try:
        return Keys.model_validate_json((data / "keys.json").read_text())
    except (OSError, ValidationError):
        return None


def joined(settings: Settings, data: Path) -> Settings:
    """Fill in the servers that are not named from the stack that runs in `data`, if one does."""
    try:
        running = json.loads(settings_file(data).read_text())
    except (OSError, ValueError):
        return settings
    found = Settings.model_validate(running)
    urls = ("database_url", "broker_url", "redis_url", "pms_url", "smtp_url")
    return settings.model_copy(update={name: getattr(settings, name) or getattr(found, name) for name in urls})
