"""The caretaker: relay and prune, in a loop. Any number may run; each job shares its work by SKIP LOCKED."""

import logging
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from booking.settings import Settings
from dedupe.engine import DatabaseAway, or_away
from dedupe.prune import prune_once
from tasks.message import make_app, queue_names
from tasks.publish import Publisher
from tasks.relay import relay_once
from workers import assemble

log = logging.getLogger("roomkey.caretaker")

#: A relay that fails or finds little looks again this much later, seconds.
RELAY_EVERY = 0.25
PRUNE_EVERY = 60.0
#: Work found in one round: go on at once, there is likely more.
FULL = 200


@dataclass
class Job:
    """One caretaker job: `run_once` says how much it did; `every` is the pause in seconds where it did little."""

    name: str
    run_once: Callable[[], int]
    every: float
    next_at: float = 0.0


def serve(settings: Settings) -> None:
    """Care until SIGTERM or SIGINT. Raises `assemble.Incomplete`."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    engine = assemble.database(settings, 2)
    app = make_app(assemble.broker_url(settings), 1.0, queue_names(settings.providers))
    publisher = Publisher(app, budget=5.0)
    jobs = [
        Job("relay", lambda: relay_once(engine, app, publisher), RELAY_EVERY),
        Job("prune", lambda: prune_once(engine), PRUNE_EVERY),
    ]
    care(jobs, stop)


def care(jobs: list[Job], stop: threading.Event) -> None:
    """Run each job when it is due, until `stop` is set."""
    while not stop.is_set():
        for job in jobs:
            if time.monotonic() >= job.next_at:
                done = _run(job)
                job.next_at = time.monotonic() + (0.0 if done >= FULL else job.every)
        stop.wait(max(min(job.next_at for job in jobs) - time.monotonic(), 0.0))


def _run(job: Job) -> int:
    try:
        with or_away():
            return job.run_once()
    except DatabaseAway as failure:
        log.warning("%s waits: %s", job.name, failure)
    except Exception:
        log.exception("%s failed; it is tried again", job.name)
    return 0
