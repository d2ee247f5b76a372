"""An intent on the terminal."""

from collections import Counter
from typing import Any

from rich.markup import escape
from rich.table import Table

from cli.screen import coloured, out

Intent = dict[str, Any]


def summary(intent: Intent) -> str:
    """One line: how many items are in which state, and the notice for the guest if there is one."""
    counted = Counter(item["state"] for item in intent["items"])
    states = ", ".join(f"{count} {coloured(state)}" for state, count in counted.items())
    return f"{states}  {escape(intent['notice'])}" if intent.get("notice") else states


def show(intent: Intent) -> None:
    """The intent, its items as a table, and what to do next."""
    out.print(f"{escape(intent['id'])}  {escape(intent['tool'])}  {coloured(intent['outcome'] or intent['state'])}")
    table = Table("", "state", "booking", "calls", "what happened")
    for item in intent["items"]:
        booking = (item["result"] or {}).get("booking_id") or ""
        told = item["error"]["message"] if item["error"] else ""
        row = (str(item["position"] + 1), coloured(item["state"]), escape(str(booking)))
        table.add_row(*row, str(item["attempts"]), escape(told))
    out.print(table)
    for line in _remarks(intent):
        out.print(line, markup=False)


def _remarks(intent: Intent) -> list[str]:
    if intent["state"] == "pending":
        notice = [intent["notice"]] if intent.get("notice") else []
        return [*notice, f"It is accepted and will be done. Look again: roomkey status {intent['id']} --wait"]
    fixes = [intent["fix"]] if intent.get("fix") else []
    return [*fixes, *(item["error"]["fix"] for item in intent["items"] if item["error"] and item["error"]["fix"])][:1]
