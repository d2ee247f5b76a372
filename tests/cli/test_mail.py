"""The mail catcher and mail servers at the command line."""

import json
import re
import socket
import subprocess
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from booking.outcomes import Done
from tests.cli.running import ROOMKEY, Up, roomkey, surroundings
from tests.mail.catching import Caught
from tests.mail.mail_servers import say, standing
from tests.mail.sending import ADA, adapter, send
from tests.waiting import eventually


def test_up_starts_a_mail_catcher_and_says_where_to_look(up: Up) -> None:
    state = json.loads((up.folder / ".roomkey" / "state.json").read_text())
    row = rf"^caught mail +{re.escape(state['mail_url'])}/ *$"
    eventually(lambda: re.search(row, up.output, re.MULTILINE))  # the greeting is still being printed
    smtp_url = json.loads((up.folder / ".roomkey" / "settings.json").read_text())["smtp_url"]
    with closing(Caught(state["mail_url"], up.family()["mailcatcher"].pid)) as catcher:
        assert catcher.smtp_url == smtp_url
        assert isinstance(send(adapter(smtp_url)), Done)
        assert [one["to"] for one in catcher.mails()] == [ADA]


def test_the_mail_catcher_by_itself(tmp_path: Path) -> None:
    command = [*ROOMKEY, "mailcatcher", "--smtp-port", "0", "--http-port", "0"]
    process = subprocess.Popen(command, cwd=tmp_path, env=surroundings(), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process, process.stdout:
        line = process.stdout.readline()
        try:
            assert line.startswith("listening on http://127.0.0.1:")
            assert httpx.get(line.removeprefix("listening on ").strip(), trust_env=False).status_code == 200
        finally:
            process.terminate()


@pytest.mark.parametrize("option", ["--smtp-port", "--http-port"])
def test_a_port_that_is_taken_is_told_in_one_line(tmp_path: Path, option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = str(taken.getsockname()[1])
        ports = {"--smtp-port": "0", "--http-port": "0", option: number}
        done = roomkey("mailcatcher", *(word for pair in ports.items() for word in pair), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("roomkey: mailcatcher: can't listen: Address already in use")
    assert number in done.stderr
    assert done.stderr.endswith("; choose other ports\n")
    assert done.stderr.count("\n") == 1


def doctor(folder: Path, **variables: str) -> dict[str, object]:
    """What is found about the mail server."""
    found = json.loads(roomkey("doctor", "--json", cwd=folder, **variables).stdout)
    (mail,) = [one for one in found if one["what"] == "provider mail"]
    return dict(mail)


def test_doctor_says_that_no_mail_can_be_sent_which_is_no_problem(tmp_path: Path) -> None:
    found = doctor(tmp_path)
    assert (found["ok"], found["found"]) == (True, "no url: no mail can be sent")
    assert "ROOMKEY_SMTP_URL" in str(found["mend"])


def test_doctor_gets_ready_to_send_and_sends_nothing(tmp_path: Path) -> None:
    with standing() as (url, server):
        assert doctor(tmp_path, ROOMKEY_SMTP_URL=url) == {"what": "provider mail", "ok": True, "found": url, "mend": ""}
    assert [line.split()[0] for line in server.heard] == [b"EHLO"]


def test_doctor_says_why_a_mail_server_can_not_be_used(tmp_path: Path) -> None:
    with standing({"greeting": say(b"554 5.7.1 go away\r\n")}) as (url, _):
        found = doctor(tmp_path, ROOMKEY_SMTP_URL=url)
    assert (found["ok"], found["found"]) == (False, f"{url}: greeting 554 5.7.1")
    found = doctor(tmp_path, ROOMKEY_SMTP_URL="smtp://me:hush@mx.example")
    assert not found["ok"]
    assert "hush" not in str(found)


def test_doctor_says_that_a_log_in_is_refused(tmp_path: Path) -> None:
    refusing = {"EHLO": say(b"250-mx\r\n250 AUTH PLAIN\r\n"), "AUTH": say(b"535 5.7.8 no\r\n")}
    with standing(refusing) as (url, _):
        text = f"[providers.pms]\n[providers.mail]\nkind = 'smtp'\nurl = '{url}'\nusername = 'me'\ntoken = 'hush'\n"
        (tmp_path / "roomkey.toml").write_text(text)
        found = doctor(tmp_path)
    assert (found["ok"], found["found"]) == (False, f"{url}: AUTH 535 5.7.8")
    assert found["mend"] == "correct username and token of mail"


def test_a_process_refuses_to_start_with_a_mail_server_that_can_not_be_used(tmp_path: Path) -> None:
    named = {
        "ROOMKEY_DATABASE_URL": "postgresql://x/y",
        "ROOMKEY_BROKER_URL": "redis://x",
        "ROOMKEY_PMS_URL": "http://x",
    }
    done = roomkey("worker", cwd=tmp_path, **named, ROOMKEY_SMTP_URL="smtp://mx.example/inbox")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == (
        "roomkey: providers.mail: a mail server's url must be smtp(s)://host[:port]; correct its settings\n"
    )
