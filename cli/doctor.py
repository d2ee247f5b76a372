"""`roomkey doctor`: what is configured, reachable and migrated, and how to mend what isn't."""

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from booking.settings import Provider, Settings
from cli.exits import Code, Trouble
from cli.options import Config, Data, Json
from cli.state import FOLDER

if TYPE_CHECKING:
    from providers.ports import Port

_SECONDS = 3.0


@dataclass(frozen=True)
class Finding:
    """One row: what was looked at, whether it is right, and the mend if it isn't."""

    what: str
    ok: bool
    found: str
    mend: str = ""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command(rich_help_panel="Start")(doctor)


def doctor(config: Config = None, data: Data = FOLDER, as_json: Json = False) -> None:
    """Look at everything Roomkey needs. Exit code 1 if something is wrong."""
    findings = list(examine(config, data))
    if as_json:
        from cli.screen import print_json

        print_json([asdict(finding) for finding in findings])
    else:
        _show(findings)
    raise typer.Exit(Code.FINE if all(finding.ok for finding in findings) else Code.NOT_SUCCESS)


def examine(config: Path | None, data: Path) -> Iterator[Finding]:
    """All findings. A mistake in the configuration hides the rest: nothing can be known then."""
    from cli.config import find_file, load_settings
    from cli.state import joined

    try:
        file = find_file(config)
        settings = load_settings(file, os.environ)
    except Trouble as trouble:
        yield Finding("configuration", False, trouble.format_message(), "correct it")
        return
    yield Finding("configuration", True, str(file) if file else "no roomkey.toml: defaults and the environment")
    yield _hotels(settings)
    settings = joined(settings, data)
    postgres = _postgres(settings)
    yield postgres
    yield from _messages(settings)
    pauses = _pauses(settings) if postgres.ok else {}
    for name, provider in settings.providers.items():
        yield pauses.get(name) or _provider(name, provider, settings)
    yield _api(config, data)


def _hotels(settings: Settings) -> Finding:
    from cli.config import DEMO_HOTELS

    named = ", ".join(settings.properties)
    demo = " (the demo's: no properties are configured)" if settings.properties == DEMO_HOTELS else ""
    return Finding("properties", True, named + demo)


def _postgres(settings: Settings) -> Finding:
    if settings.database_url is None:
        return Finding("Postgres", False, "ROOMKEY_DATABASE_URL is not set", "set it, or run `roomkey up`")
    from cli.database import opened
    from dedupe.migrate import pending
    from dedupe.version import OLDEST, server_version

    try:
        with opened(settings, migrated=False) as engine:
            version = server_version(engine)
            missing = pending(engine)
    except Trouble as trouble:
        return _divided("Postgres", trouble.format_message().removeprefix("Postgres: "))
    if version < OLDEST:
        return Finding("Postgres", False, f"version {version}", f"use PostgreSQL {OLDEST} or later")
    if missing:
        return Finding("Postgres", False, f"version {version}, not migrated: {', '.join(missing)}", "roomkey migrate")
    return Finding("Postgres", True, f"version {version}, migrated")


def _divided(what: str, line: str) -> Finding:
    found, _, mend = line.rpartition("; ")
    return Finding(what, False, found or line, mend)


def _messages(settings: Settings) -> Iterator[Finding]:
    broker, redis = settings.broker_url, settings.redis_url or settings.broker_url
    if broker is None:
        yield Finding("broker", False, "ROOMKEY_BROKER_URL is not set", "set it, or run `roomkey up`")
    else:
        yield _broker(broker.get_secret_value())
    if redis is None:
        yield Finding("Redis", False, "ROOMKEY_REDIS_URL is not set", "set it, or run `roomkey up`")
    else:
        yield _redis(redis.get_secret_value())


def _broker(url: str) -> Finding:
    from tasks.message import make_app

    try:
        with make_app(url, _SECONDS, []).connection_for_write() as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=_SECONDS)
    except Exception as error:  # noqa: BLE001 - whatever the broker's client raises
        return Finding("broker", False, f"{_place(url)}: {_said(error)}", "start it, or correct ROOMKEY_BROKER_URL")
    return Finding("broker", True, _place(url))


def _redis(url: str) -> Finding:
    from tasks.wake import redis_client

    try:
        redis_client(url).ping()
    except Exception as error:  # noqa: BLE001 - RedisError, or ValueError for a URL of another kind
        return Finding("Redis", False, f"{_place(url)}: {_said(error)}", "start it, or correct ROOMKEY_REDIS_URL")
    return Finding("Redis", True, _place(url))


def _pauses(settings: Settings) -> dict[str, Finding]:
    """The paused providers: every booking at them waits."""
    from cli.database import opened
    from cli.paused import since
    from dedupe.pauses import list_pauses

    try:
        with opened(settings) as engine:
            found = list_pauses(engine)
    except Trouble:  # it went away since it was looked at
        return {}
    mend = "mend its credentials, then `roomkey resume {}`"
    return {
        one.provider: Finding(f"provider {one.provider}", False, since(one), mend.format(one.provider)) for one in found
    }


def _provider(name: str, provider: Provider, settings: Settings) -> Finding:
    """Whether a line to it can be opened: what every call to it begins with. Nothing is asked of it."""
    from providers.made import Unusable, made, url_of

    what = f"provider {name}"
    try:
        port = made(provider, name, settings)
    except Unusable as error:
        return _divided(what, str(error).removeprefix(f"providers.{name}").lstrip(".: "))
    if port is None:
        return Finding(what, True, "no url: no mail can be sent", f"set providers.{name}.url or ROOMKEY_SMTP_URL")
    url = url_of(provider, settings)
    return _reached(what, name, port, _place(url) if url else provider.kind.value)


def _reached(what: str, name: str, port: "Port", place: str) -> Finding:
    from providers.ports import Unreachable

    try:
        line = port.connect(_SECONDS)
    except Unreachable as error:
        return Finding(what, False, f"{place}: {error}", f"start it, or correct the url of {name}")
    line.close()
    if refused := getattr(line, "refused", None):  # a mail server, which is logged in to at once
        return Finding(what, False, f"{place}: {refused.cause}", f"correct username and token of {name}")
    return Finding(what, True, place)


def _api(config: Path | None, data: Path) -> Finding:
    import httpx

    from cli.caller import api_url

    try:
        url = api_url(config, data)
        response = httpx.get(f"{url}/readyz", timeout=_SECONDS, trust_env=False)
    except Trouble as trouble:
        return _divided("API", trouble.format_message())
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Finding("API", False, f"{url}: {_said(error)}", "start it: `roomkey up` or `roomkey api`")
    if response.status_code != 200:
        return Finding("API", False, f"{url}: not ready ({response.status_code})", "see Postgres above, and its log")
    return Finding("API", True, url)


def _place(url: str) -> str:
    """Host and port of a URL: never its password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _said(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _show(findings: list[Finding]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from cli.screen import coloured, out

    table = Table("", "", "found", "mend")
    for one in findings:
        table.add_row(one.what, coloured("ok" if one.ok else "problem"), escape(one.found), escape(one.mend))
    out.print(table)
