"""`roomkey up` and `roomkey demo`."""

import os
import signal
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from cli.config import find_file, load_settings
from cli.options import Config, Data
from cli.state import FOLDER

if TYPE_CHECKING:
    from cli.stack import Say, Stack

#: Seconds between two looks at the processes.
_TICK = 0.2
_ENDING = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command(rich_help_panel="Start")(up)
    app.command(rich_help_panel="Start")(demo)


def up(
    workers: Annotated[int, typer.Option(min=1, max=64, help="Worker processes.")] = 1,
    config: Config = None,
    data: Data = FOLDER,
) -> None:
    """Start everything, embedded where nothing of yours is named, until Ctrl-C."""
    settings = load_settings(find_file(config), os.environ)
    from cli.screen import err
    from cli.stack import start_stack

    def say(line: str) -> None:
        err.print(line, style="dim", markup=False)

    for number in _ENDING:
        signal.signal(number, signal.default_int_handler)  # an interrupted start is undone, then we end
    stack = start_stack(data, settings, on_progress=say, workers=workers)
    try:
        ending = _asked_to_end()  # before the greeting: whoever reads it may end us at once
        _greet(stack)
        _watch(stack, say, ending)
    finally:
        for number in _ENDING:
            signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not leave half of it running
        say("stopping: running bookings are finished first")
        stack.stop()
    say("stopped")


def _asked_to_end() -> threading.Event:
    """Set from now on by Ctrl-C or SIGTERM."""
    ending = threading.Event()
    for number in _ENDING:
        signal.signal(number, lambda *_: ending.set())
    return ending


def _watch(stack: "Stack", say: "Say", ending: threading.Event) -> None:
    from cli.paused import Watch

    with closing(Watch(stack, say)) as pauses:
        while not ending.wait(_TICK):
            stack.supervise()
            pauses.look()


def _greet(stack: "Stack") -> None:
    from cli.greeting import greet

    greet(stack)


def demo(data: Data = FOLDER) -> None:
    """Play Friday 18:40 on real parts: timeouts, a sold-out suite, a killed worker."""
    from cli.demo.play import play

    raise typer.Exit(play(data))
