"""A worker killed at any step of a batch: nobody gets two mails, and nobody is forgotten."""

import json
import signal
import subprocess
import sys

import pytest

from tests.dedupe.rows import change, letters, rows
from tests.processes import ROOT
from tests.reminders.office import Office


def die(office: Office, step: str, n: int, item: int) -> None:
    """Run the item in a process that is killed at the step."""
    settings = {
        "database_url": office.engine.url.render_as_string(hide_password=False),
        "broker_url": office.redis_url,
        "providers": {
            "pms": {"url": office.pms.url, "read_deadline": 10.0},
            "mail": {"kind": "smtp", "url": office.caught.smtp_url},
        },
    }
    ended = subprocess.run(
        [sys.executable, "-m", "tests.reminders.dying", step, str(n), str(item)],
        input=json.dumps(settings, default=str).encode() + b"\n",
        cwd=ROOT,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()[-2000:]


def lease_over(office: Office) -> None:
    """The dead worker's claim has run out, and what it was about is due."""
    for row in rows(office.engine, "SELECT id FROM items WHERE token IS NOT NULL"):
        change(office.engine, row.id, "lease_until = now() - interval '1 s', due_at = now()")
    office.work()


@pytest.mark.parametrize("step", ["begun", "answered", "settled"])
def test_an_expansion_killed_at_any_step_ends_with_one_mail_for_each(office: Office, step: str) -> None:
    office.arrive(("Ann First", "ann@hotel-demo.com"), ("Ben Second", "ben@hotel-demo.com"))
    intent = office.ask()
    die(office, step, 1, intent["items"][0]["id"])
    assert office.look(intent)["state"] == "pending"
    lease_over(office)
    assert office.look(intent)["outcome"] == "succeeded"
    assert office.mailed() == ["ann@hotel-demo.com", "ben@hotel-demo.com"]


@pytest.mark.parametrize(
    ("step", "n", "mails", "outcome"),
    [
        ("begun", 1, 1, "succeeded"),  # while it looked whether the guest still arrives: no mail was begun
        ("answered", 1, 1, "succeeded"),
        ("begun", 2, 0, "unknown"),  # the mark is there, the mail may have been sent: a person decides
        ("answered", 2, 1, "unknown"),
        ("settled", 1, 1, "succeeded"),
    ],
)
def test_a_mail_killed_at_any_step_is_never_sent_twice(
    office: Office, step: str, n: int, mails: int, outcome: str
) -> None:
    office.arrive(("Ann First", "ann@hotel-demo.com"))
    intent = office.ask()
    office.work_on("arrivals")
    [mail] = office.due()
    die(office, step, n, mail)
    lease_over(office)
    done = office.look(intent)
    assert (done["outcome"], len(office.mailed())) == (outcome, mails)
    if outcome == "unknown":
        assert letters(office.engine, mail) == ["unknown_outcome"]
        again = office.remind()
        assert again["reminders"]["being_confirmed"] == 1
        assert len(office.mailed()) == mails
