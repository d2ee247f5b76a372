"""Batches at the terminal, beside a running stack: reminders are mailed once, and only what failed is tried again."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from tests.cli.running import Up, roomkey

DAY = (datetime.now(UTC).date() + timedelta(days=10)).isoformat()
OUT = (datetime.now(UTC).date() + timedelta(days=12)).isoformat()


def state(up: Up) -> dict[str, str]:
    found: dict[str, str] = json.loads((up.folder / ".roomkey" / "state.json").read_text())
    return found


def control(up: Up, path: str, body: dict[str, Any]) -> None:
    httpx.post(f"{state(up)['pms_url']}{path}", json=body, trust_env=False).raise_for_status()


def test_reminders_are_mailed_once_and_a_batch_runs_beside_the_bookings(up: Up) -> None:
    guests = [{"name": f"Guest {n}", "email": f"guest{n}@hotel-demo.com"} for n in range(45)]
    control(
        up, "/seed", {"property": "BER", "room_type": "double", "check_in": DAY, "check_out": OUT, "guests": guests}
    )
    words = ["remind", "--property", "BER", "--date", DAY, "--wait"]
    first = roomkey(*words, cwd=up.folder)
    assert (first.returncode, first.stderr) == (0, "")
    assert "45 arrivals: 45 sent now." in first.stdout
    assert "--json has all" in first.stdout
    again = roomkey(*words, cwd=up.folder)
    assert "45 arrivals: 45 already sent." in again.stdout
    mails = httpx.get(f"{state(up)['mail_url']}/mails", trust_env=False).json()["mails"]
    assert len([mail for mail in mails if mail["to"].startswith("guest")]) == 45


def test_retry_runs_only_what_failed(up: Up) -> None:
    control(up, "/inventory", {"property": "AKL", "room_type": "suite", "rooms": 0})
    stay = {"property": "AKL", "check_in": DAY, "check_out": OUT, "guest": {"name": "Ada", "email": "a@hotel-demo.com"}}
    body = {"tool": "book_rooms", "arguments": {**stay, "rooms": [{"room_type": "double"}, {"room_type": "suite"}]}}
    asked = roomkey("submit", "--file", "-", "--wait", "--json", cwd=up.folder, stdin=json.dumps(body))
    intent = json.loads(asked.stdout)
    assert intent["outcome"] == "partial"
    control(up, "/inventory", {"property": "AKL", "room_type": "suite", "rooms": 1})
    done = roomkey("retry", intent["id"], "--wait", "--json", cwd=up.folder)
    assert done.returncode == 0, done.stdout
    again = json.loads(done.stdout)
    assert (again["id"], again["outcome"]) == (intent["id"], "succeeded")
    assert [item["attempts"] for item in again["items"]] == [1, 2]


def test_a_wrong_day_or_id_is_told_in_one_line(up: Up) -> None:
    done = roomkey("remind", "--property", "BER", "--date", "tomorrow", cwd=up.folder)
    assert (done.returncode, done.stderr) == (2, "roomkey: --date: must be a date in the form YYYY-MM-DD\n")
    done = roomkey("retry", "../etc", cwd=up.folder)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
