"""The commands beside a running stack."""

import json
import re
import shlex
import sys
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import httpx
import psycopg
import pytest

from booking.settings import TenantSettings
from cli.called import command
from cli.state import FOLDER
from dedupe import pauses, tenants
from dedupe.engine import Engine, make_engine
from tests.cli.running import ROOMKEY, Up, roomkey
from tests.waiting import eventually

BOOKING = {
    "--property": "BER",
    "--room-type": "double",
    "--check-in": "2027-03-01",
    "--check-out": "2027-03-03",
    "--guest-name": "Ada Lovelace",
    "--guest-email": "ada@hotel-demo.com",
}


def words(**changed: str) -> list[str]:
    named = {**BOOKING, **{f"--{name.replace('_', '-')}": value for name, value in changed.items()}}
    return [word for pair in named.items() for word in pair]


def test_what_is_named_is_not_started(up: Up, named: dict[str, str]) -> None:
    assert set(up.family()) == {"api", "worker", "worker-batch", "caretaker", "simulator", "mailcatcher"}
    assert not (up.folder / ".roomkey" / "postgres").exists()
    for process in up.family().values():
        assert not any(secret in " ".join(process.cmdline()) for secret in named.values()), "everyone may read it"


def test_the_same_submission_twice_is_one_booking(up: Up) -> None:
    first = roomkey("submit", *words(), "--wait", "--json", cwd=up.folder)
    assert (first.returncode, first.stderr) == (0, "")
    intent = json.loads(first.stdout)
    assert intent["outcome"] == "succeeded"
    again = roomkey("submit", *words(), cwd=up.folder)
    booking = intent["items"][0]["result"]["booking_id"]
    assert again.returncode == 0
    assert intent["id"] in again.stdout
    assert booking in again.stdout
    shown = roomkey("status", intent["id"], "--json", cwd=up.folder)
    assert json.loads(shown.stdout)["items"] == intent["items"]
    assert "\x1b" not in again.stdout


def test_a_batch_from_stdin_ends_with_what_came_of_it(up: Up) -> None:
    stay = {"property": "BER", "check_in": "2027-04-01", "check_out": "2027-04-02"}
    guest = {"name": "Grace Hopper", "email": "grace@hotel-demo.com"}
    rooms = [{"room_type": "double"}, {"room_type": "igloo"}]
    body = {"tool": "book_rooms", "arguments": {**stay, "guest": guest, "rooms": rooms}}
    done = roomkey("submit", "--file", "-", "--conversation", "c-9", "--wait", cwd=up.folder, stdin=json.dumps(body))
    assert done.returncode == 1, done.stderr
    assert "partial" in done.stdout
    assert "failed" in done.stdout


def test_a_refusal_is_one_line_that_says_what_to_correct(up: Up) -> None:
    done = roomkey("submit", *words(property="XXX"), cwd=up.folder)
    assert done.returncode == 5
    assert done.stderr == (
        "roomkey: refused (422): property: must be one of AKL, BER, HNL. "
        'You sent "XXX". Correct property and call again.\n'
    )
    assert done.stdout == ""


def test_a_refusal_is_json_where_json_is_asked_for(up: Up) -> None:
    done = roomkey("status", "int_00", "--json", cwd=up.folder)
    assert done.returncode == 5
    assert json.loads(done.stdout)["status"] == 404


def test_a_second_up_in_the_folder_says_so(up: Up) -> None:
    done = roomkey("up", cwd=up.folder)
    assert done.returncode == 6
    assert f"already runs in this folder (pid {up.process.pid})" in done.stderr.replace("\n", " ")


def test_tenants_and_keys(up: Up) -> None:
    assert roomkey("tenants", "create", "acme", "--settings", '{"max_refund": 9}', cwd=up.folder).returncode == 0
    twice = roomkey("tenants", "create", "acme", cwd=up.folder)
    assert (twice.returncode, twice.stderr) == (
        1,
        "roomkey: the tenant acme exists already; nothing was changed\n",
    )
    assert json.loads(roomkey("tenants", "list", "--json", cwd=up.folder).stdout) == ["acme", "demo"]
    made = roomkey("keys", "create", "--tenant", "acme", "--scope", "agent", "--json", cwd=up.folder)
    key = json.loads(made.stdout)
    used = roomkey("status", "int_00", cwd=up.folder, ROOMKEY_API_KEY=key["key"])
    assert "404" in used.stderr, "known, but nothing there"
    assert roomkey("keys", "revoke", key["id"], cwd=up.folder).returncode == 0

    def refused() -> bool:
        return "401" in roomkey("status", "int_00", cwd=up.folder, ROOMKEY_API_KEY=key["key"]).stderr

    eventually(refused, within=15)
    listed = json.loads(roomkey("keys", "list", "--json", cwd=up.folder).stdout)
    assert {"id": key["id"], "tenant": "acme", "scope": "agent", "revoked": True} in listed
    assert key["key"] not in json.dumps(listed)


def test_doctor_finds_nothing_wrong_beside_a_stack(up: Up) -> None:
    done = roomkey("doctor", "--json", cwd=up.folder)
    findings = json.loads(done.stdout)
    assert done.returncode == 0, findings
    assert [one["what"] for one in findings] == [
        "configuration",
        "properties",
        "Postgres",
        "broker",
        "Redis",
        "provider pms",
        "provider mail",
        "API",
    ]
    assert "no properties are configured" in findings[1]["found"]


def test_a_paused_provider_is_told_by_up_and_is_a_problem_for_doctor(up: Up, named: dict[str, str]) -> None:
    engine = make_engine(named["ROOMKEY_DATABASE_URL"], 1)
    try:
        assert pauses.pause(engine, "pms", "401 Unauthorized")
        eventually(lambda: "then: " in up.output, within=15)
        done = roomkey("doctor", "--json", cwd=up.folder)
    finally:
        assert roomkey("resume", "pms", cwd=up.folder).returncode == 0
        engine.dispose()
    assert done.returncode == 1
    (problem,) = [one for one in json.loads(done.stdout) if not one["ok"]]
    assert problem["what"] == "provider pms"
    assert re.fullmatch(r"paused since \S+ \S+ UTC \(401 Unauthorized\)", problem["found"])
    assert problem["mend"] == "mend its credentials, then `roomkey resume pms`"
    assert up.output.count(f"provider pms: {problem['found']}; mend its credentials, then: ") == 1
    assert roomkey("doctor", cwd=up.folder).returncode == 0


def test_each_guest_has_a_conversation_and_it_is_the_same_in_any_case(up: Up, named: dict[str, str]) -> None:
    stay = {"check_in": "2027-05-01", "check_out": "2027-05-02"}
    for email in ("Mary@hotel-demo.com", "mary@hotel-demo.com", "joan@hotel-demo.com"):
        assert roomkey("submit", *words(**stay, guest_email=email), cwd=up.folder).returncode == 0
    expected = {f"cli-{sha256(f'{name}@hotel-demo.com'.encode()).hexdigest()[:12]}" for name in ("mary", "joan")}
    with psycopg.connect(named["ROOMKEY_DATABASE_URL"]) as connection:
        found = {row[0] for row in connection.execute("SELECT id FROM conversations")}
    assert expected <= found
    assert "cli" not in found


def test_unstop_needs_the_tenant_only_where_there_are_several(
    tmp_path: Path, database_url: str, engine: Engine
) -> None:
    def unstop() -> tuple[int, str]:
        done = roomkey("unstop", "c-1", "--reason", "looked at", cwd=tmp_path, ROOMKEY_DATABASE_URL=database_url)
        return done.returncode, done.stderr

    tenants.create_tenant(engine, "one", TenantSettings())
    assert unstop() == (1, "roomkey: the tenant one has no conversation c-1\n")
    tenants.create_tenant(engine, "two", TenantSettings())
    assert unstop() == (2, "roomkey: --tenant: say whose conversation: one, two\n")


@pytest.mark.parametrize("group", ["dead-letters", "tenants", "keys"])
def test_a_group_without_a_command_prints_its_help_and_no_empty_line(tmp_path: Path, group: str) -> None:
    done = roomkey(group, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "")
    assert "Usage" in done.stdout


def test_the_version(tmp_path: Path) -> None:
    done = roomkey("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"roomkey {version('roomkey')}\n", "")


def test_what_up_prints_can_be_run_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [*ROOMKEY, "up"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shlex.split(command("resume pms", FOLDER)) == [*ROOMKEY, "resume", "pms"]
    assert shlex.split(command("resume pms", tmp_path / "a b"))[-2:] == ["--data", str(tmp_path / "a b")]
    monkeypatch.setenv("PATH", str(Path(ROOMKEY[0]).parent))
    assert command("resume pms", FOLDER) == "roomkey resume pms"


def test_the_greeting_says_that_the_simulator_forgets(up: Up) -> None:
    assert "(a simulator: it forgets its bookings when it stops)\n" in up.output


def test_doctor_names_the_mend_for_each_thing_that_is_wrong(tmp_path: Path, servers: object) -> None:
    wrong = {
        "ROOMKEY_DATABASE_URL": "postgresql://me:hush@127.0.0.1:9/x",
        "ROOMKEY_BROKER_URL": "redis://:hush@127.0.0.1:9/0",
        "ROOMKEY_PMS_URL": "http://127.0.0.1:9",
        "ROOMKEY_API_URL": "http://127.0.0.1:9",
    }
    done = roomkey("doctor", "--json", cwd=tmp_path, **wrong)
    assert done.returncode == 1
    findings = json.loads(done.stdout)
    bad = {one["what"]: one["mend"] for one in findings if not one["ok"]}
    assert set(bad) == {"Postgres", "broker", "Redis", "provider pms", "API"}
    assert all(bad.values())
    assert "hush" not in done.stdout


def test_doctor_says_that_the_schema_is_missing(tmp_path: Path, database_url: str) -> None:
    empty = f"{database_url.rpartition('/')[0]}/postgres"
    done = roomkey("doctor", cwd=tmp_path, ROOMKEY_DATABASE_URL=empty)
    assert "not migrated: 0001_start.sql" in done.stdout
    assert "roomkey migrate" in done.stdout
    assert roomkey("migrate", cwd=tmp_path, ROOMKEY_DATABASE_URL=database_url).stdout == "the schema is up to date\n"
    keys = roomkey("keys", "list", cwd=tmp_path, ROOMKEY_DATABASE_URL=empty)
    assert keys.returncode == 4
    assert keys.stderr == "roomkey: the schema is not up to date; run: roomkey migrate\n"


def test_a_process_that_dies_is_started_again_at_the_same_address(up: Up) -> None:
    url = json.loads((up.folder / ".roomkey" / "state.json").read_text())["api_url"]
    killed = up.family()["api"]
    killed.kill()
    eventually(lambda: up.family().get("api", killed) != killed, within=15)
    assert "api ended (killed by SIGKILL); starting it again in 0.5 s" in up.output

    def answers() -> bool:
        try:
            return httpx.get(f"{url}/healthz", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    eventually(answers, within=20)


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["submit"], 2, "missing --property, --room-type, --check-in, --check-out, --guest-name, --guest-email"),
        (["submit", "--file", "none.json"], 2, "--file none.json: No such file or directory"),
        (["frobnicate"], 2, "No such command"),
        (["worker", "--queues", "bookings,mails"], 2, "--queues: mails is none of bookings, batch, quarantine"),
        (["worker"], 4, "ROOMKEY_DATABASE_URL: is not set; name your server, or run `roomkey up`"),
        (["api", "--config", "none.toml"], 4, "none.toml: there is no such file"),
        (["status", "int_1"], 4, "ROOMKEY_API_KEY: is not set"),
        (["keys", "create", "--tenant", "x", "--scope", "root"], 2, "--scope: must be one of agent, host, ops"),
        (["tenants", "create", "a b"], 2, "NAME: must be a short name"),
        (["tenants", "create", "x", "--settings", '{"guards": {"x": 1}}'], 2, "--settings: guards.x: is not a setting"),
    ],
)
def test_an_expected_trouble_is_one_line_and_an_exit_code(
    tmp_path: Path, arguments: list[str], code: int, line: str
) -> None:
    done = roomkey(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("roomkey: ")
    assert line in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_api_that_is_away_is_told_with_the_mend(tmp_path: Path) -> None:
    done = roomkey("submit", *words(), cwd=tmp_path, ROOMKEY_API_URL="http://127.0.0.1:9", ROOMKEY_API_KEY="rk_x")
    assert done.returncode == 3
    assert done.stderr.endswith("start it with `roomkey up`, or set ROOMKEY_API_URL\n")
