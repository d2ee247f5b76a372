"""The worker: Celery's threads pool around `tasks.write`. Celery carries hints; every decision is ours."""

import logging
import os
import warnings
from collections.abc import Sequence
from typing import Any

from celery import Celery, Task
from celery.platforms import SecurityWarning

from booking.settings import Settings
from booking.states import Queue
from dedupe.engine import DatabaseAway, or_away
from providers.line import bound_name_resolution
from tasks.message import RUN_ITEM, WORKER_SECONDS, make_app, queue_names
from tasks.runtime import Runtime
from tasks.write import run_message
from workers import assemble

log = logging.getLogger("roomkey.worker")

#: A process for batches alone gives way to those that a guest waits for.
BATCH_NICE = 10


def serve(settings: Settings, kinds: Sequence[Queue]) -> None:
    """Run items of these kinds until SIGTERM, which lets running items finish. Raises `assemble.Incomplete`."""
    bound_name_resolution()
    if set(kinds) == {Queue.BATCH}:
        os.nice(BATCH_NICE)
    # Celery warns root of pickle; only JSON is accepted here.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    # Two lines a message, each costing as much as a small query; our own attempt line says more.
    for noisy in ("celery.app.trace", "celery.worker.strategy"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    queues = queue_names(settings.providers, kinds)
    app = worker_app(assemble.broker_url(settings), assemble.runtime(settings), queues)
    app.worker_main(
        [
            "--quiet",  # an option of celery itself: it must come first
            "worker",
            "--pool=threads",
            f"--concurrency={settings.worker.threads}",
            f"--queues={','.join(queues)}",
            "--without-gossip",
            "--without-mingle",
            "--without-heartbeat",
            "--loglevel=INFO",
        ]
    )


def worker_app(broker: str, runtime: Runtime, queues: Sequence[str]) -> Celery:
    """The app with its one task."""
    app = make_app(broker, WORKER_SECONDS, queues)

    @app.task(name=RUN_ITEM, bind=True, max_retries=0, acks_late=True, ignore_result=True, shared=False)
    def run_item(self: Task, item_id: Any) -> None:
        info = self.request.delivery_info or {}
        _run(runtime, item_id, str(info.get("routing_key")))

    return app


def _run(runtime: Runtime, item_id: object, queue: str) -> None:
    """Run a message; whatever fails, the item is found again by its lease, so the message is done with."""
    if not isinstance(item_id, int) or isinstance(item_id, bool) or not 0 < item_id < 2**63:
        log.warning("a message without an item id was dropped")
        return
    try:
        with or_away():
            run_message(runtime, item_id, queue)
    except DatabaseAway as failure:
        log.warning("item %d is left to its lease: %s", item_id, failure)
    except Exception:
        log.exception("item %d is left to its lease", item_id)
