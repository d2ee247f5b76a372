"""Ask for rooms and look at the rows: what tests of the one truth say over and over."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Row, text

from booking.arguments import BookRooms, CreateBooking, Stay
from booking.settings import Property, TenantSettings
from dedupe.admit import admit
from dedupe.engine import Engine, make_engine
from dedupe.items import Item
from dedupe.peek import peek
from dedupe.submission import Admitted, Submission
from dedupe.tenants import Caller, Scope, create_tenant
from tasks.intake import submission_of
from tasks.operations import TOOLS
from tasks.operations.port import Asking

T = TypeVar("T")

HOTELS = {"BER": Property(name="Berlin", time_zone="Europe/Berlin", currency="EUR")}
CALLER = Caller("t-1", Scope.AGENT, bytes(range(32)), TenantSettings())


def room(room_type: str = "double", *, guest: str = "Ana Müller", **changes: Any) -> Stay:
    """One room at the Berlin hotel; `changes` are arguments of a stay."""
    fixed = {"property": "BER", "room_type": room_type, "check_in": "2027-03-05", "check_out": "2027-03-07"}
    return Stay.model_validate(fixed | {"guest": {"name": guest, "email": "ana@guests.example"}} | changes)


def asking(
    *rooms: Stay, conversation: str = "c-1", header: str | None = None, tool: str = "book_rooms", lifetime: float = 600
) -> Submission:
    """What the API would hand to admit."""
    asked = list(rooms) or [room()]
    arguments: BookRooms | CreateBooking = BookRooms(rooms=asked)
    if tool == "create_booking":
        arguments = CreateBooking.model_validate(asked[0].model_dump(mode="json"))
    who = Asking(CALLER, conversation, HOTELS)
    return submission_of(who, TOOLS[tool], arguments, ("header", header) if header else None, lifetime)


def ask(engine: Engine, *rooms: Stay, **how: Any) -> Admitted:
    """Admit it."""
    create_tenant(engine, CALLER.tenant_id, TenantSettings())
    return admit(engine, asking(*rooms, **how))


def one_item(engine: Engine, *rooms: Stay, **how: Any) -> Item:
    """Ask for one room, and peek at its item."""
    [(item_id, _)] = ask(engine, *rooms, **how).publish
    return seen(engine, item_id)


def seen(engine: Engine, item_id: int) -> Item:
    """The item as a worker sees it now."""
    item = peek(engine, item_id)
    assert item is not None
    return item


def rows(engine: Engine, statement: str, **values: Any) -> Sequence[Row[Any]]:
    """All rows of a query."""
    with engine.connect() as connection:
        return connection.execute(text(statement), values).all()


def run(engine: Engine, statement: str, **values: Any) -> int:
    """Change rows behind everybody's back; gives how many."""
    with engine.connect() as connection:
        return connection.execute(text(statement), values).rowcount


def change(engine: Engine, item_id: int, assignments: str, **values: Any) -> None:
    """Change an item behind everybody's back."""
    run(engine, f"UPDATE items SET {assignments} WHERE id = :id", id=item_id, **values)  # noqa: S608 - words of tests


def count(engine: Engine, table: str) -> int:
    """The number of rows of a table."""
    number: int = rows(engine, f"SELECT count(*) FROM {table}")[0][0]  # noqa: S608 - a name of ours
    return number


def row(engine: Engine, item_id: int) -> Row[Any]:
    """The raw row of an item."""
    return rows(engine, "SELECT * FROM items WHERE id = :id", id=item_id)[0]


def attempts(engine: Engine, item_id: int) -> list[tuple[str, str | None]]:
    """Kind and outcome of every call for an item, oldest first."""
    listed = rows(engine, "SELECT kind, outcome FROM attempts WHERE item_id = :id ORDER BY id", id=item_id)
    return [(one.kind, one.outcome) for one in listed]


def letters(engine: Engine, item_id: int) -> list[str]:
    """The reasons for which an item waits for a person."""
    listed = rows(
        engine, "SELECT reason FROM dead_letters WHERE item_id = :id AND closed_at IS NULL ORDER BY reason", id=item_id
    )
    return [one.reason for one in listed]


def linked(engine: Engine, intent_id: str) -> list[int]:
    """The item ids of an intent in the order of its answer."""
    listed = rows(engine, "SELECT item_id FROM links WHERE intent_id = :id ORDER BY position", id=intent_id)
    return [one.item_id for one in listed]


def pass_time(engine: Engine, item_id: int, seconds: float, *, expire: bool = False) -> None:
    """Let time pass for one item, without waiting: all its moments move into the past. Its end too, if `expire`."""
    moved = ["due_at", "publish_at", "lease_until", "doubted_at", "first_sent_at"] + ["expires_at"] * expire
    changes = ", ".join(f"{name} = {name} - :by * interval '1 s'" for name in moved)
    change(engine, item_id, changes, by=seconds)
    run(
        engine,
        "UPDATE attempts SET started_at = started_at - :by * interval '1 s', "
        "may_send_until = may_send_until - :by * interval '1 s' WHERE item_id = :id",
        id=item_id,
        by=seconds,
    )


def url_of(engine: Engine) -> str:
    """Where an engine connects to, with its password."""
    return engine.url.render_as_string(hide_password=False).replace("postgresql+psycopg://", "postgresql://", 1)


def at_once(number: int, call: Callable[[int], T]) -> list[T]:
    """`call(0)` … `call(number - 1)` in threads that start together; results in that order."""
    barrier = threading.Barrier(number)

    def wait_and_call(index: int) -> T:
        barrier.wait(timeout=20)
        return call(index)

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(wait_and_call, range(number)))


@contextmanager
def wide(engine: Engine, connections: int) -> Iterator[Engine]:
    """Another engine on the same database, with so many connections."""
    made = make_engine(url_of(engine), connections, pool_timeout=20)
    try:
        yield made
    finally:
        made.dispose()
