"""An intent on the terminal."""

from collections import Counter
from typing import Any

from rich.markup import escape
from rich.table import Table

from cli.screen import coloured, out

Intent = dict[str, Any]


#: More items than these are not all listed: those that went well are only counted.
_MOST = 40


def summary(intent: Intent) -> str:
    """One line: how many items are in which state, and the notice for the guest if there is one."""
    if intent.get("reminders"):
        return escape(str(intent["reminders"]["said"]))
    counted = Counter(item["state"] for item in intent["items"])
    states = ", ".join(f"{count} {coloured(state)}" for state, count in counted.items())
    return f"{states}  {escape(intent['notice'])}" if intent.get("notice") else states


def show(intent: Intent) -> None:
    """The intent, its items as a table, and what to do next."""
    out.print(f"{escape(intent['id'])}  {escape(intent['tool'])}  {coloured(intent['outcome'] or intent['state'])}")
    if intent.get("reminders"):
        out.print(intent["reminders"]["said"], markup=False)
    items = intent["items"]
    if len(items) > _MOST:
        items = [item for item in items if item["state"] != "succeeded"][:_MOST]
    if items:
        out.print(_table(items))
    if len(items) < len(intent["items"]):
        out.print(f"{len(intent['items']) - len(items)} more are not listed; --json has all", style="dim")
    for line in _remarks(intent):
        out.print(line, markup=False)


def _table(items: list[dict[str, Any]]) -> Table:
    table = Table("", "state", "number", "calls", "what happened")
    for item in items:
        result = item["result"] or {}
        number = result.get("booking_id") or result.get("refund_id") or result.get("reservation_id") or ""
        told = item["error"]["message"] if item["error"] else ""
        row = (str(item["position"] + 1), coloured(item["state"]), escape(str(number)))
        table.add_row(*row, str(item["attempts"]), escape(told))
    return table


def _remarks(intent: Intent) -> list[str]:
    if intent["state"] == "pending":
        notice = [intent["notice"]] if intent.get("notice") else []
        return [*notice, f"It is accepted and will be done. Look again: roomkey status {intent['id']} --wait"]
    fixes = [intent["fix"]] if intent.get("fix") else []
    return [*fixes, *(item["error"]["fix"] for item in intent["items"] if item["error"] and item["error"]["fix"])][:1]
