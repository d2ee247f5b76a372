"""The commands with which operations see what waits, and undo what stops things."""

import json
from pathlib import Path

import pytest

from booking.states import DeadLetter
from dedupe.conversations import head
from dedupe.engine import Engine
from dedupe.guards import note_failed_call
from dedupe.pauses import pause
from tests.cli.running import roomkey
from tests.dedupe.rows import ask, change, one_item, room, run

LETTER = "INSERT INTO dead_letters (tenant_id, item_id, reason, detail) VALUES ('t-1', :item, :reason, :detail)"


def test_dead_letters_are_listed_longest_waiting_first_in_pages(
    tmp_path: Path, engine: Engine, database_url: str
) -> None:
    servers = {"ROOMKEY_DATABASE_URL": database_url}
    empty = roomkey("dead-letters", "list", cwd=tmp_path, **servers)
    assert (empty.returncode, empty.stdout) == (0, "nothing waits for a person\n")
    items = [one_item(engine, room(name)) for name in ("double", "suite", "single")]
    for item, reason in zip(items, ("unknown_outcome", "duplicate", "unknown_outcome"), strict=True):
        run(engine, LETTER, item=item.id, reason=reason, detail=f"[bold] {reason}")
    aged = "UPDATE dead_letters SET created_at = now() - interval '3 h 10 min' WHERE item_id = :id"
    run(engine, aged, id=items[0].id)
    listed = json.loads(roomkey("dead-letters", "list", "--json", cwd=tmp_path, **servers).stdout)
    assert [(one["reason"], one["item"], one["key"]) for one in listed] == [
        ("unknown_outcome", items[0].id, items[0].key),
        ("duplicate", items[1].id, items[1].key),
        ("unknown_outcome", items[2].id, items[2].key),
    ]
    assert (listed[0]["tenant"], listed[0]["conversation"]) == ("t-1", "c-1")
    assert 11_400 <= listed[0]["age_s"] < 11_500
    page = roomkey("dead-letters", "list", "--limit", "2", cwd=tmp_path, **servers)
    assert "3 h" in page.stdout
    assert "[bold] duplicate" in page.stdout
    assert page.stderr == f"there are more: --after {listed[1]['id']}\n"
    rest = roomkey("dead-letters", "list", "--json", "--after", str(listed[1]["id"]), cwd=tmp_path, **servers)
    assert [letter["id"] for letter in json.loads(rest.stdout)] == [listed[2]["id"]]
    one = roomkey("dead-letters", "list", "--json", "--reason", "duplicate", cwd=tmp_path, **servers)
    assert [letter["item"] for letter in json.loads(one.stdout)] == [items[1].id]
    run(engine, "UPDATE dead_letters SET closed_at = now()")
    assert json.loads(roomkey("dead-letters", "list", "--json", cwd=tmp_path, **servers).stdout) == []


def test_a_paused_provider_is_resumed_and_its_items_are_due(tmp_path: Path, engine: Engine, database_url: str) -> None:
    servers = {"ROOMKEY_DATABASE_URL": database_url}
    item = one_item(engine)
    change(engine, item.id, "due_at = now() + interval '1 h'")
    pause(engine, "pms", "401")
    wrong = roomkey("resume", "pm", cwd=tmp_path, **servers)
    assert (wrong.returncode, wrong.stderr) == (1, "roomkey: the provider pm is not paused; paused: pms\n")
    done = roomkey("resume", "pms", cwd=tmp_path, **servers)
    assert (done.returncode, done.stdout) == (0, "pms is called again; 1 waiting items are due\n")
    again = roomkey("resume", "pms", cwd=tmp_path, **servers)
    assert (again.returncode, again.stderr) == (1, "roomkey: the provider pms is not paused; no provider is\n")


def test_a_stop_is_lifted_once_and_with_a_reason(tmp_path: Path, engine: Engine, database_url: str) -> None:
    servers = {"ROOMKEY_DATABASE_URL": database_url}
    ask(engine)
    for _ in range(2):
        note_failed_call(engine, "t-1", "c-1", "search", unavailable=False)
    words = ["unstop", "c-1", "--tenant", "t-1", "--reason", "the guest called"]
    done = roomkey(*words, "--json", cwd=tmp_path, **servers)
    assert json.loads(done.stdout) == {"tenant": "t-1", "conversation": "c-1", "lifted": True}
    known = head(engine, "t-1", "c-1")
    assert known is not None
    assert known.stop is None
    again = roomkey(*words, cwd=tmp_path, **servers)
    assert (again.returncode, again.stderr) == (
        1,
        "roomkey: the conversation c-1 is not stopped; nothing was changed\n",
    )
    words[3] = "t-2"
    other = roomkey(*words, cwd=tmp_path, **servers)
    assert (other.returncode, other.stderr) == (1, "roomkey: the tenant t-2 has no conversation c-1\n")


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["dead-letters", "list", "--reason", "odd"], 2, f"--reason: must be one of {', '.join(DeadLetter)}"),
        (["dead-letters", "list", "--limit", "0"], 2, "--limit"),
        (["dead-letters", "list"], 4, "ROOMKEY_DATABASE_URL: is not set"),
        (["resume"], 2, "provider"),
        (["unstop", "c-1", "--tenant", "t-1"], 2, "--reason"),
        (["unstop", "c-1", "--tenant", "t-1", "--reason", " "], 2, "--reason: must be a text"),
    ],
)
def test_an_expected_trouble_is_one_line(tmp_path: Path, arguments: list[str], code: int, line: str) -> None:
    done = roomkey(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("roomkey: ")
    assert line in done.stderr
    assert done.stderr.count("\n") == 1
