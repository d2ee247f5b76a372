"""What `roomkey up` prints once it is ready."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.table import Table

from cli.called import command
from cli.screen import out
from cli.stack import Stack
from cli.tenancy import TENANT

#: Weeks ahead of today, so that the examples never lie in the past.
_AHEAD = timedelta(days=60)


def greet(stack: Stack) -> None:
    """Addresses, keys, and a first booking to copy."""
    stay = _stay(stack)
    table = Table.grid(padding=(0, 2))
    for name, value in _rows(stack):
        table.add_row(f"[bold]{name}[/bold]", value)
    out.print("\n[bold green]Roomkey is up.[/bold green] Ctrl-C stops it.\n")
    out.print(table)
    out.print("\nA first booking:\n", style="bold")
    out.print(_with_roomkey(stack, stay), markup=False)
    out.print("\nor\n", style="bold")
    out.print(_with_curl(stack, stay), markup=False)
    out.print()


def _rows(stack: Stack) -> list[tuple[str, str]]:
    return [
        ("API", stack.api_url),
        ("console", f"{stack.api_url}/console"),
        ("hotel system", _hotel_system(stack)),
        *([("caught mail", f"{stack.mail_url}/")] if stack.mail_url else []),
        ("hotels", ", ".join(stack.settings.properties)),
        (f"agent key of {TENANT}", stack.keys["agent"]),
        ("all keys", str(stack.data / "keys.json")),
        ("logs", str(stack.data / "logs")),
    ]


def _hotel_system(stack: Stack) -> str:
    simulated = any(process.name == "simulator" for process in stack.processes)
    forgets = " (a simulator: it forgets its bookings when it stops)" if simulated else ""
    return (stack.pms_url or "as configured") + forgets


def _stay(stack: Stack) -> dict[str, Any]:
    arrival = datetime.now(UTC).date() + _AHEAD
    return {
        "property": next(iter(stack.settings.properties)),
        "room_type": "double",
        "check_in": arrival.isoformat(),
        "check_out": (arrival + timedelta(days=2)).isoformat(),
        "guest": {"name": "Ada Lovelace", "email": "ada@hotel-demo.com"},
    }


def _with_roomkey(stack: Stack, stay: dict[str, Any]) -> str:
    return (
        f"  {command('submit', stack.data)} --property {stay['property']} --room-type {stay['room_type']}"
        f" --check-in {stay['check_in']} --check-out {stay['check_out']} \\\n"
        f"    --guest-name '{stay['guest']['name']}' --guest-email {stay['guest']['email']} --wait"
    )


def _with_curl(stack: Stack, stay: dict[str, Any]) -> str:
    body = json.dumps({"tool": "create_booking", "conversation_id": "c-1", "arguments": stay})
    return (
        f"  curl -sS {stack.api_url}/v1/intents -H 'Authorization: Bearer {stack.keys['agent']}' \\\n"
        f"    -H 'Content-Type: application/json' -d '{body}'"
    )
