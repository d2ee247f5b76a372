"""The commands that are Roomkey's own processes: api, worker, caretaker; the simulator; the mail catcher; migrate."""

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from booking.settings import Settings
from booking.states import Queue
from cli.config import names_redis
from cli.exits import Code, Trouble
from cli.options import Config, Data, Json, settings_of
from cli.state import FOLDER

_QUEUES = [queue.value for queue in Queue]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    panel = "Processes"
    for command in (api, worker, caretaker, simulator, mailcatcher, migrate):
        app.command(rich_help_panel=panel)(command)


def api(config: Config = None, data: Data = FOLDER) -> None:
    """Serve the HTTP API until SIGTERM."""
    settings = _process_settings(config, data)
    from api.server import serve

    serve(settings, lambda port: _listening(settings.api_host, port))


def worker(
    queues: Annotated[str, typer.Option(help="Which items to run, by queue.")] = ",".join(_QUEUES),
    threads: Annotated[int | None, typer.Option(min=1, max=512, help="Items at a time (default: settings).")] = None,
    config: Config = None,
    data: Data = FOLDER,
) -> None:
    """Run items until SIGTERM; running ones are finished first.

    For `--queues batch` alone the default is a few threads, at a low priority of the operating system: run bookings and
    batches in processes of their own, so that no booking waits for a mail.
    """
    names = [name.strip() for name in queues.split(",")]
    for name in names:
        if name not in _QUEUES:
            raise Trouble(Code.USAGE, f"--queues: {name or 'an empty name'} is none of {', '.join(_QUEUES)}")
    settings = _process_settings(config, data)
    if threads is None and names == [Queue.BATCH.value]:
        threads = settings.worker.batch_threads
    if threads is not None:
        settings = settings.model_copy(update={"worker": settings.worker.model_copy(update={"threads": threads})})
    from workers.worker import serve

    serve(settings, [Queue(name) for name in names])


def caretaker(config: Config = None, data: Data = FOLDER) -> None:
    """Publish what is due and delete what is old, until SIGTERM."""
    settings = _process_settings(config, data)
    from workers.caretaker import serve

    serve(settings)


def simulator(
    host: str = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8090,
    mode: Annotated[str, typer.Option(help="keyed, lookup-only or blind.")] = "keyed",
    idle_timeout: Annotated[int, typer.Option(min=1, help="Close idle connections after so many seconds.")] = 5,
    key_life: Annotated[float, typer.Option(min=1, help="Seconds.")] = 86_400,
) -> None:
    """A hotel system to try, with a ledger and faults. ROOMKEY_PMS_TOKEN: what callers must show."""
    from datetime import timedelta

    from providers.simulator.server import serve

    life = timedelta(seconds=key_life)
    try:
        serve(host, port, mode, lambda bound: _listening(host, bound), idle_timeout=idle_timeout, key_life=life)
    except ValueError as error:
        raise Trouble(Code.USAGE, f"--mode: {error}") from None


def mailcatcher(
    host: str = "127.0.0.1",
    smtp_port: Annotated[int, typer.Option(min=0, max=65535, help="For mails; 0 takes a free one.")] = 2525,
    http_port: Annotated[int, typer.Option(min=0, max=65535, help="For looking; 0 takes a free one.")] = 8025,
) -> None:
    """A mail server to try: it delivers nothing and shows what came, with a ledger and faults."""
    from providers.catcher.server import serve

    try:
        serve(host, smtp_port, http_port, lambda bound: _listening(host, bound))
    except OSError as error:  # at its start: a port that is taken, a host that is not ours
        raise Trouble(Code.USAGE, f"mailcatcher: can't listen: {error.strerror}; choose other ports") from None


def migrate(config: Config = None, data: Data = FOLDER, as_json: Json = False) -> None:
    """Bring the database's schema up to date."""
    from cli.database import opened
    from cli.screen import out, print_json
    from dedupe.migrate import migrate as run

    with opened(settings_of(config, data), migrated=False) as engine:
        done = run(engine)
    if as_json:
        print_json({"migrated": done})
    else:
        out.print(f"migrated: {', '.join(done)}" if done else "the schema is up to date")


def _process_settings(config: Path | None, data: Path) -> Settings:
    """Settings of a process that needs all servers. Raises Trouble naming the first that is missing."""
    settings = settings_of(config, data)
    needs = {"ROOMKEY_DATABASE_URL": settings.database_url, "ROOMKEY_BROKER_URL": settings.broker_url}
    for name, value in needs.items():
        if value is None:
            raise Trouble(Code.CONFIGURATION, f"{name}: is not set; name your server, or run `roomkey up`")
    if not names_redis(settings):
        raise Trouble(Code.CONFIGURATION, "ROOMKEY_REDIS_URL: is not set, and the broker is no Redis; name one")
    _check_providers(settings)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    return settings


def _check_providers(settings: Settings) -> None:
    from providers.made import Unusable, made

    for name, provider in settings.providers.items():
        try:
            made(provider, name, settings)
        except Unusable as error:
            raise Trouble(Code.CONFIGURATION, str(error)) from None


def _listening(host: str, port: int) -> None:
    sys.stdout.write(f"listening on http://{f'[{host}]' if ':' in host else host}:{port}\n")
    sys.stdout.flush()
