"""`roomkey submit` and `roomkey status`: an agent at the terminal. They speak HTTP only."""

import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.exits import Code, Trouble
from cli.options import Config, Data, Json
from cli.state import FOLDER

if TYPE_CHECKING:
    from cli.caller import Caller

#: For intents without a guest.
_CONVERSATION = "cli"

IntentId = Annotated[str, typer.Argument(help="As `submit` printed it.")]
Wait = Annotated[bool, typer.Option("--wait", help="Show progress until it is done.")]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command(rich_help_panel="Bookings")(submit)
    app.command(rich_help_panel="Bookings")(status)


def submit(
    hotel: Annotated[str | None, typer.Option("--property", help="The hotel's id, e.g. BER.")] = None,
    room_type: Annotated[str | None, typer.Option(help="E.g. double.")] = None,
    check_in: Annotated[str | None, typer.Option(help="YYYY-MM-DD, the hotel's local date.")] = None,
    check_out: Annotated[str | None, typer.Option(help="YYYY-MM-DD, after check-in.")] = None,
    guest_name: Annotated[str | None, typer.Option()] = None,
    guest_email: Annotated[str | None, typer.Option()] = None,
    conversation: Annotated[str | None, typer.Option(help="Part of the key (default: one for each guest).")] = None,
    file: Annotated[
        Path | None, typer.Option(help="The body of POST /v1/intents instead, as JSON; - for stdin.", allow_dash=True)
    ] = None,
    wait: Wait = False,
    config: Config = None,
    data: Data = FOLDER,
    as_json: Json = False,
) -> None:
    """Hand in an intent: one booking, or what --file holds. The same twice is one booking."""
    options = {
        "property": hotel,
        "room_type": room_type,
        "check_in": check_in,
        "check_out": check_out,
        "guest_name": guest_name,
        "guest_email": guest_email,
    }
    body = _from_file(file, options) if file else _from_options(options)
    if conversation or "conversation_id" not in body:
        body["conversation_id"] = conversation or _conversation(body)
    caller = make_caller(config, data, as_json)
    finish(caller, caller.submit(body), wait, as_json)


def status(
    intent_id: IntentId,
    wait: Wait = False,
    config: Config = None,
    data: Data = FOLDER,
    as_json: Json = False,
) -> None:
    """Show what became of an intent."""
    caller = make_caller(config, data, as_json)
    finish(caller, caller.poll(checked_id(intent_id)), wait, as_json)


def checked_id(intent_id: str) -> str:
    """The id, or Trouble where it can't be one."""
    if not intent_id.replace("_", "").isalnum():
        raise Trouble(Code.USAGE, "INTENT_ID: must be an id as `submit` printed it, e.g. int_0f3a")
    return intent_id


def _from_file(file: Path, options: dict[str, str | None]) -> dict[str, Any]:
    beside = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
    if beside:
        raise Trouble(Code.USAGE, f"--file holds the whole intent; leave out {', '.join(beside)}")
    try:
        body = json.loads(sys.stdin.read() if str(file) == "-" else file.read_text("utf-8"))
    except OSError as error:
        raise Trouble(Code.USAGE, f"--file {file}: {error.strerror}") from None
    except ValueError as error:
        raise Trouble(Code.USAGE, f"--file {file}: must be JSON: {error}") from None
    if not isinstance(body, dict):
        raise Trouble(Code.USAGE, f"--file {file}: must be a JSON object with tool and arguments")
    return body


def _from_options(options: dict[str, str | None]) -> dict[str, Any]:
    missing = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is None]
    if missing:
        raise Trouble(Code.USAGE, f"missing {', '.join(missing)} (or give the whole intent with --file)")
    guest = {"name": options.pop("guest_name"), "email": options.pop("guest_email")}
    return {"tool": "create_booking", "arguments": {**options, "guest": guest}}


def _conversation(body: dict[str, Any]) -> str:
    """One for each guest: the same command twice is the same booking, and one guest's failures stop no other's."""
    arguments = body.get("arguments")
    guest = arguments.get("guest") if isinstance(arguments, dict) else None
    email = guest.get("email") if isinstance(guest, dict) else None
    if not isinstance(email, str):
        return _CONVERSATION
    return f"{_CONVERSATION}-{hashlib.sha256(email.strip().casefold().encode()).hexdigest()[:12]}"


def make_caller(config: Path | None, data: Path, as_json: bool) -> "Caller":
    """Who speaks to the API for a command."""
    from cli.caller import Caller, api_key, api_url

    return Caller(api_url(config, data), api_key(data), as_json=as_json)


def finish(caller: "Caller", intent: dict[str, Any], wait: bool, as_json: bool) -> None:
    """Wait if asked to, print, and end with the outcome's exit code. What is still pending is no failure."""
    from cli.intent_view import show, summary
    from cli.screen import err, print_json

    if wait:
        with err.status(summary(intent)) as progress:
            while intent["state"] == "pending":
                intent = caller.poll_patiently(intent["id"])
                progress.update(summary(intent))
    caller.close()
    if as_json:
        print_json(intent)
    else:
        show(intent)
    raise typer.Exit(Code.FINE if intent["outcome"] in (None, "succeeded") else Code.NOT_SUCCESS)
