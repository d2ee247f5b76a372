"""The schema comes up once, whoever starts at the same time."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import text

from dedupe.engine import Engine, make_engine
from dedupe.migrate import _LOCK, migrate, pending
from tests.dedupe.rows import count, rows, run, url_of
from tests.waiting import eventually

ROOT = Path(__file__).parents[2]
_MIGRATE = """
import sys
from dedupe.engine import make_engine
from dedupe.migrate import migrate
print(*migrate(make_engine(sys.stdin.readline().strip(), 2)))
"""


@pytest.fixture
def empty(engine: Engine) -> Iterator[Engine]:
    """A database with nothing in it."""
    name = f"empty_{uuid4().hex}"
    run(engine, f"CREATE DATABASE {name}")
    made = make_engine(url_of(engine).rsplit("/", 1)[0] + f"/{name}", 2)
    yield made
    made.dispose()
    run(engine, f"DROP DATABASE {name} WITH (FORCE)")


def test_a_second_migration_does_nothing(empty: Engine) -> None:
    names = pending(empty)
    assert names
    assert migrate(empty) == names
    assert pending(empty) == []
    assert migrate(empty) == []
    assert count(empty, "schema_migrations") == len(names)


def test_four_processes_migrating_at_once_run_each_file_once(empty: Engine) -> None:
    names = pending(empty)
    with ExitStack() as stack, empty.connect() as gate:
        gate.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": _LOCK})
        processes = []
        for _ in range(4):
            process = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", _MIGRATE],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    cwd=ROOT,
                )
            )
            assert process.stdin is not None
            process.stdin.write(url_of(empty) + "\n")
            process.stdin.flush()
            processes.append(process)
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        eventually(lambda: rows(empty, waiting)[0][0] == 4, within=30)
        gate.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": _LOCK})
        ran = [process.communicate(timeout=30)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert sorted(ran) == [[], [], [], names]
    assert count(empty, "schema_migrations") == len(names)


def test_a_file_that_fails_leaves_nothing_behind(empty: Engine) -> None:
    run(empty, "CREATE TABLE dead_letters (id int)")  # the migration meets it half-way
    with pytest.raises(Exception, match="already exists"):
        migrate(empty)
    assert rows(empty, "SELECT to_regclass('tenants')")[0][0] is None
    assert count(empty, "schema_migrations") == 0
    run(empty, "DROP TABLE dead_letters")
    assert migrate(empty)
