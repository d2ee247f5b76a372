"""Roomkey's real processes as tests start them; a worker may kill itself at a named step of a run.

`python -m tests.crashing_worker worker [connected|begun|answered|settled]`, or `… caretaker`; settings come as one line
of JSON on stdin.
"""

import json
import logging
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace

from booking.settings import Settings
from booking.states import Queue
from tasks.runtime import Runtime
from workers import assemble, caretaker, worker


def dying(made: Callable[[Settings], Runtime], at_step: str) -> Callable[[Settings], Runtime]:
    """`made`, whose runs end with a SIGKILL of this process as they reach `at_step`."""

    def at(step: str) -> None:
        if step == at_step:
            os.kill(os.getpid(), signal.SIGKILL)

    return lambda settings: replace(made(settings), at=at)


def main() -> None:
    logging.basicConfig(level=logging.INFO)
    settings = Settings.model_validate(json.loads(sys.stdin.readline()))
    match sys.argv[1:]:
        case ["caretaker"]:
            caretaker.serve(settings)
        case ["worker"]:
            worker.serve(settings, [Queue.BOOKINGS])
        case ["worker", step]:
            setattr(assemble, "runtime", dying(assemble.runtime, step))  # noqa: B010 - a function can't be assigned to
            worker.serve(settings, [Queue.BOOKINGS])


if __name__ == "__main__":
    main()
