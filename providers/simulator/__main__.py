"""`python -m providers.simulator`: prints one line with its address once it listens."""

import argparse
import sys
from datetime import timedelta
from typing import get_args

from providers.simulator.server import IDLE_TIMEOUT, serve
from providers.simulator.world import Mode


def main() -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(prog="python -m providers.simulator", description="A hotel system to try.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8090, help="0 takes a free one")
    parser.add_argument("--mode", choices=get_args(Mode), default="keyed")
    parser.add_argument("--token", help="bearer token that callers must show (or ROOMKEY_PMS_TOKEN)")
    parser.add_argument("--idle-timeout", type=int, default=IDLE_TIMEOUT, help="seconds")
    parser.add_argument("--key-life", type=float, default=86_400, help="seconds")
    options = parser.parse_args()

    def ready(port: int) -> None:
        sys.stdout.write(f"listening on http://{options.host}:{port}\n")
        sys.stdout.flush()

    serve(
        options.host,
        options.port,
        options.mode,
        ready,
        token=options.token,
        idle_timeout=options.idle_timeout,
        key_life=timedelta(seconds=options.key_life),
    )


if __name__ == "__main__":
    main()
