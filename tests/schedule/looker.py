"""A process that looks once at what is due: `python -m tests.schedule.looker`.

It reads one line of JSON on stdin, says "ready", looks when the next line comes, and says how many dates it recorded.
"""

import datetime as dt
import json
import sys

from booking.settings import Property
from dedupe.engine import make_engine
from tasks.message import make_app
from tests.schedule.hotels import Caretaker


def main() -> None:
    asked = json.loads(sys.stdin.readline())
    properties = {name: Property.model_validate(one) for name, one in asked["properties"].items()}
    engine = make_engine(asked["database_url"], 1)
    caretaker = Caretaker(engine, make_app(asked["broker_url"], 5.0, ["bookings.pms"]), properties)
    assert caretaker.look(dt.datetime(2026, 1, 1, tzinfo=dt.UTC)) == 0  # connected, and nothing was due then
    print("ready", flush=True)  # noqa: T201 - to who started it
    sys.stdin.readline()
    print(caretaker.look(dt.datetime.fromisoformat(asked["now"])))  # noqa: T201


if __name__ == "__main__":
    main()
