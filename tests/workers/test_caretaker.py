"""The caretaker's jobs: none waits for another, none ends by its own failure, and all end with the process."""

import threading
import time

from dedupe.engine import DatabaseAway
from tests.waiting import eventually
from workers.caretaker import FULL, Job, caring

LONG = 1000.0


class Rounds:
    """Counts the rounds of a job, each of which does as much as `done` says, or fails."""

    def __init__(self, done: int | Exception = 0) -> None:
        self.number = 0
        self.done = done

    def __call__(self) -> int:
        self.number += 1
        if isinstance(self.done, Exception):
            raise self.done
        return self.done


def test_a_long_prune_delays_no_relay() -> None:
    begun, ended, relay = threading.Event(), threading.Event(), Rounds()

    def prune() -> int:
        begun.set()
        assert ended.wait(20)
        return 0

    with caring([Job("prune", prune, LONG), Job("relay", relay, 0.001)]):
        assert begun.wait(5)
        before = relay.number
        eventually(lambda: relay.number > before + 3)
        ended.set()


def test_a_full_round_is_followed_by_another_at_once() -> None:
    full, little = Rounds(FULL), Rounds(FULL - 1)
    with caring([Job("full", full, LONG), Job("little", little, LONG)]):
        eventually(lambda: full.number > 3 and little.number)
    assert little.number == 1


def test_a_job_that_fails_is_tried_again() -> None:
    jobs = [Rounds(DatabaseAway("standby")), Rounds(ZeroDivisionError())]
    with caring([Job("away", jobs[0], 0.001), Job("broken", jobs[1], 0.001)]):
        eventually(lambda: min(job.number for job in jobs) > 3)


def test_the_end_waits_for_nobody_s_next_round() -> None:
    job = Rounds()
    began = time.monotonic()
    with caring([Job("prune", job, LONG)]):
        eventually(lambda: job.number)
    assert time.monotonic() - began < 5
    assert not [thread for thread in threading.enumerate() if thread.name == "prune"]
