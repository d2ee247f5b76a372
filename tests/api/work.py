"""Move items as a worker would, without one."""

import psycopg
from psycopg.sql import SQL, Identifier

from booking.states import Kind, State
from dedupe.begin import begin
from dedupe.engine import Engine
from dedupe.items import Begun, Closing, Item, Move, Proof, Settled
from dedupe.peek import peek
from dedupe.settle import settle
from tests.booking.build import error_of


def start(engine: Engine, item_id: int) -> tuple[Item, Begun]:
    """The mark before the call."""
    item = peek(engine, item_id)
    assert item is not None
    begun = begin(engine, item, Kind.WRITE, held=None, lease=15, send_window=3, body=b"{}")
    assert begun is not None
    return item, begun


def book(engine: Engine, item_id: int, booking_id: str = "B-9921") -> Settled:
    """A call that was confirmed."""
    item, begun = start(engine, item_id)
    proof = Proof(booking_id, {"booking_id": booking_id, "status": "confirmed"})
    return settle(engine, item, begun, Closing("done"), Move(State.SUCCEEDED, proof=proof))


def refuse(engine: Engine, item_id: int, row: str = "unavailable", **values: str) -> Settled:
    """A call that was refused."""
    item, begun = start(engine, item_id)
    return settle(engine, item, begun, Closing("rejected"), Move(State.FAILED, error=error_of(row, **values)))


def lose(engine: Engine, item_id: int) -> Settled:
    """A call of which nobody knows what it did."""
    item, begun = start(engine, item_id)
    return settle(engine, item, begun, Closing("unknown"), Move(State.UNKNOWN, due_in=60, in_doubt=True))


def rows(engine: Engine) -> dict[str, int]:
    """How many rows each table of the spine holds."""
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    counted = {}
    with psycopg.connect(url) as connection:
        for table in ("conversations", "intents", "items", "links"):
            row = connection.execute(SQL("SELECT count(*) FROM {}").format(Identifier(table))).fetchone()
            assert row is not None
            counted[table] = row[0]
    return counted
