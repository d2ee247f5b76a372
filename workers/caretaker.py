"""The caretaker: relay, prune and schedule, each in a thread of its own, so that none delays an item's recovery.

Any number of caretakers may run: relay and prune share their work by SKIP LOCKED, schedule by a row for each date.
"""

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from booking.settings import Settings
from dedupe.engine import DatabaseAway, or_away
from dedupe.prune import prune_once
from dedupe.schedule import database_now
from tasks.message import make_app, queue_names
from tasks.publish import Publisher
from tasks.relay import relay_once
from tasks.schedule import schedule_once
from workers import assemble

log = logging.getLogger("roomkey.caretaker")

#: A relay that fails or finds little looks again this much later, seconds.
RELAY_EVERY = 0.25
PRUNE_EVERY = 60.0
SCHEDULE_EVERY = 30.0
#: Work found in one round: go on at once, there is likely more.
FULL = 200
#: How long a running round may take to end after the signal, seconds. What then still runs is rolled back by Postgres.
ENDING_SECONDS = 10.0
_ENDING = {signal.SIGTERM, signal.SIGINT}


@dataclass
class Job:
    """One caretaker job: `run_once` says how much it did; `every` is the pause in seconds where it did little."""

    name: str
    run_once: Callable[[], int]
    every: float


def serve(settings: Settings) -> None:
    """Care until SIGTERM or SIGINT. Raises `assemble.Incomplete`."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)  # waited for below; the threads inherit it
    engine = assemble.database(settings, 3)
    app = make_app(assemble.broker_url(settings), 1.0, queue_names(settings.providers))
    publisher = Publisher(app, budget=5.0)
    hotels = settings.properties
    jobs = [
        Job("relay", lambda: relay_once(engine, app, publisher), RELAY_EVERY),
        Job("prune", lambda: prune_once(engine), PRUNE_EVERY),
        Job("schedule", lambda: schedule_once(engine, publisher, hotels, database_now(engine)), SCHEDULE_EVERY),
    ]
    with caring(jobs):
        signal.sigwait(_ENDING)


@contextmanager
def caring(jobs: Sequence[Job]) -> Iterator[None]:
    """Run each job over and over in its own thread, until the block ends."""
    stop = threading.Event()
    threads = [threading.Thread(target=_care, args=(job, stop), name=job.name, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        deadline = time.monotonic() + ENDING_SECONDS
        for thread in threads:
            thread.join(max(deadline - time.monotonic(), 0.0))


def _care(job: Job, stop: threading.Event) -> None:
    while not stop.is_set():
        if _run(job) < FULL:
            stop.wait(job.every)


def _run(job: Job) -> int:
    try:
        with or_away():
            return job.run_once()
    except DatabaseAway as failure:
        log.warning("%s waits: %s", job.name, failure)
    except Exception:
        log.exception("%s failed; it is tried again", job.name)
    return 0
