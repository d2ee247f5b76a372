"""Run one item in this process, which kills itself as the run reaches a step for the n-th time.

`python -m tests.reminders.dying STEP N ITEM`; settings come as one line of JSON on stdin.
"""

import json
import os
import signal
import sys
from dataclasses import replace

from booking.settings import Settings
from tasks.write import run_item
from workers import assemble


def main() -> None:
    fatal, left, item = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    settings = Settings.model_validate(json.loads(sys.stdin.readline()))

    def at(step: str) -> None:
        nonlocal left
        left -= step == fatal
        if step == fatal and left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    run_item(replace(assemble.runtime(settings), at=at), item)


if __name__ == "__main__":
    main()
