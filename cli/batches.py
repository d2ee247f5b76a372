"""`roomkey remind` and `roomkey retry`: batches at the terminal. They speak HTTP only."""

import secrets
from datetime import date
from typing import Annotated, Any

import typer

from cli.exits import Code, Trouble
from cli.options import Config, Data, Json
from cli.state import FOLDER
from cli.submit import IntentId, Wait, checked_id, finish, make_caller


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command(rich_help_panel="Bookings")(remind)
    app.command(rich_help_panel="Bookings")(retry)


def remind(
    hotel: Annotated[str, typer.Option("--property", help="The hotel's id, e.g. BER.")],
    day: Annotated[str, typer.Option("--date", help="The day of arrival, YYYY-MM-DD, the hotel's local date.")],
    conversation: Annotated[str | None, typer.Option(help="Default: one for each run.")] = None,
    wait: Wait = False,
    config: Config = None,
    data: Data = FOLDER,
    as_json: Json = False,
) -> None:
    """Mail everyone who arrives that day, once: whoever was mailed before is not mailed again."""
    try:
        date.fromisoformat(day)
    except ValueError:
        raise Trouble(Code.USAGE, "--date: must be a date in the form YYYY-MM-DD") from None
    body: dict[str, Any] = {
        "tool": "send_checkin_reminders",
        "arguments": {"property": hotel, "date": day},
        # A run is a conversation: that of yesterday may have been stopped for addresses that are corrected by now.
        "conversation_id": conversation or f"cli-remind-{hotel}-{day}-{secrets.token_hex(4)}",
    }
    caller = make_caller(config, data, as_json)
    finish(caller, caller.submit(body), wait, as_json)


def retry(
    intent_id: IntentId,
    wait: Wait = False,
    config: Config = None,
    data: Data = FOLDER,
    as_json: Json = False,
) -> None:
    """Run the failed items of an intent again, those whose cause may have passed, and no others."""
    caller = make_caller(config, data, as_json)
    finish(caller, caller.retry(checked_id(intent_id)), wait, as_json)
