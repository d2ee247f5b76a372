"""Settings from `roomkey.toml` and the environment, which wins. Mistakes are told in one line that names the place.

`ROOMKEY_PMS_URL` and `ROOMKEY_PMS_TOKEN` count for every hotel system that has no `url` or `token` of its own,
`ROOMKEY_SMTP_URL` for every mail server without a `url`.
"""

import difflib
import json
import tomllib
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError
from pydantic_core import ErrorDetails

from booking.settings import Property, Provider, ProviderKind, Section, Settings, Worker
from cli.exits import Code, Trouble

FILE = "roomkey.toml"

#: Variable -> where it goes in the settings.
VARIABLES: dict[str, tuple[str, ...]] = {
    "ROOMKEY_DATABASE_URL": ("database_url",),
    "ROOMKEY_BROKER_URL": ("broker_url",),
    "ROOMKEY_REDIS_URL": ("redis_url",),
    "ROOMKEY_PMS_URL": ("pms_url",),
    "ROOMKEY_SMTP_URL": ("smtp_url",),
    "ROOMKEY_API_HOST": ("api_host",),
    "ROOMKEY_API_PORT": ("api_port",),
    "ROOMKEY_EXPIRES_AFTER": ("expires_after",),
    "ROOMKEY_WORKER_THREADS": ("worker", "threads"),
}

#: Variables that are no part of the settings: where to look, and what callers of the API use.
OTHERS = ("ROOMKEY_CONFIG", "ROOMKEY_DATA", "ROOMKEY_PMS_TOKEN", "ROOMKEY_API_URL", "ROOMKEY_API_KEY")

#: Variables of our own tests and benchmarks.
_FOREIGN = ("ROOMKEY_TEST_", "ROOMKEY_BENCH_")

_SCHEMES = {
    "database_url": ("postgresql://",),
    "broker_url": ("redis://", "rediss://", "amqp://", "amqps://"),
    "redis_url": ("redis://", "rediss://"),
    "pms_url": ("http://", "https://"),
    "smtp_url": ("smtp://", "smtps://"),
}

#: Where no mail server is named; whether it has an address is ROOMKEY_SMTP_URL's to say.
_MAIL = Provider(kind=ProviderKind.SMTP)
#: The hotels of the simulator, so that nothing has to be configured for a first booking.
DEMO_HOTELS: dict[str, Property] = {
    "BER": Property(name="Roomkey Berlin", time_zone="Europe/Berlin", currency="EUR"),
    "AKL": Property(name="Roomkey Auckland", time_zone="Pacific/Auckland", currency="NZD"),
    "HNL": Property(name="Roomkey Honolulu", time_zone="Pacific/Honolulu", currency="USD"),
}

_FIELD_HINTS = {
    "currency": "must be a currency code such as EUR",
    "language": "must be a language such as en or pt-BR",
    "kind": "must be reference, stripe or smtp",
    "[key]": "must be a short name: letters, digits and . _ ~ @ : -",
    "provider": "must be the name of a provider",
}

_HINTS = {
    "missing": "is missing",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number of seconds",
    "float_type": "must be a number of seconds",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be text in quotes",
    "model_type": "must be a table",
    "dict_type": "must be a table",
    "time_delta_parsing": "must be seconds, or a duration such as PT24H",
}


def find_file(given: Path | None) -> Path | None:
    """The configuration file: the one given, else `roomkey.toml` of the current folder if there is one."""
    if given is not None:
        if not given.is_file():
            raise Trouble(Code.CONFIGURATION, f"{given}: there is no such file; name another with --config")
        return given
    here = Path(FILE)
    return here if here.is_file() else None


def load_settings(file: Path | None, environment: Mapping[str, str]) -> Settings:
    """Read and check everything. Raises Trouble. Empty variables count as not set."""
    given = {name: value for name, value in environment.items() if name.startswith("ROOMKEY_") and value}
    _refuse_unknown(given)
    values = _read(file) if file else {}
    for variable, path in VARIABLES.items():
        if variable in given:
            _put(values, path, given[variable])
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise Trouble(Code.CONFIGURATION, _line(error, file, given)) from None
    _check_urls(settings, file, given)
    if not settings.properties and "pms" not in settings.providers:
        raise Trouble(Code.CONFIGURATION, f"{file}: properties: name at least one hotel, or a provider called pms")
    return _completed(settings, given.get("ROOMKEY_PMS_TOKEN"))


def _refuse_unknown(given: Mapping[str, str]) -> None:
    known = [*VARIABLES, *OTHERS]
    for name in sorted(given):
        if name not in known and not name.startswith(_FOREIGN):
            near = difflib.get_close_matches(name, known, 1)
            mend = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            raise Trouble(Code.CONFIGURATION, f"{name}: is not a setting; {mend}")


def _read(file: Path) -> dict[str, Any]:
    """TOML; or JSON, in which `roomkey up` hands settings to its processes."""
    try:
        text = file.read_text("utf-8")
        values: dict[str, Any] = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise Trouble(Code.CONFIGURATION, f"{file}: can't be read: {error.strerror}") from None
    except ValueError as error:  # not UTF-8, not TOML, not JSON
        raise Trouble(Code.CONFIGURATION, f"{file}: {_one_line(str(error))}") from None
    return values


def _put(values: dict[str, Any], path: tuple[str, ...], value: str) -> None:
    *tables, last = path
    for name in tables:
        inner = values.setdefault(name, {})
        if not isinstance(inner, dict):
            return  # a mistake in the file, told when the whole is checked
        values = inner
    values[last] = value


def _line(error: ValidationError, file: Path | None, given: Mapping[str, str]) -> str:
    first, *more = error.errors(include_url=False)
    counted = f" (and {len(more)} more)" if more else ""
    if not first["loc"]:  # a check across sections: its text begins with the place
        return f"{file}: {problem(first)}{counted}"
    return f"{_place(first['loc'], file, given)}: {problem(first)}{counted}"


def _place(loc: tuple[int | str, ...], file: Path | None, given: Mapping[str, str]) -> str:
    for variable, path in VARIABLES.items():
        if variable in given and path == loc:
            return variable
    inside = ".".join(str(part) for part in loc if part != "[key]")
    return f"{file}: {inside}" if file else inside


def problem(error: ErrorDetails) -> str:
    """What is wrong, in our words: pydantic's speak of schemas and patterns."""
    kind, last = error["type"], str(error["loc"][-1]) if error["loc"] else ""
    if kind == "extra_forbidden":
        return f"is not a setting{_near(error['loc'])}"
    if kind in _HINTS:
        return _HINTS[kind]
    if last in _FIELD_HINTS:
        return _FIELD_HINTS[last]
    message = error["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    return _one_line(message.replace("String should", "must"))


def _near(loc: tuple[int | str, ...]) -> str:
    models: dict[str, type[Section]] = {"worker": Worker, "providers": Provider, "properties": Property}
    model = models.get(str(loc[0]), Settings) if len(loc) > 1 else Settings
    near = difflib.get_close_matches(str(loc[-1]), list(model.model_fields), 1)
    return f"; did you mean {near[0]}?" if near else ""


def _check_urls(settings: Settings, file: Path | None, given: Mapping[str, str]) -> None:
    for field, schemes in _SCHEMES.items():
        value = getattr(settings, field)
        plain = value.get_secret_value() if isinstance(value, SecretStr) else value
        if plain is not None and not plain.startswith(schemes):
            place = _place((field,), file, given)
            raise Trouble(Code.CONFIGURATION, f"{place}: must start with {' or '.join(schemes)}")


def _completed(settings: Settings, token: str | None) -> Settings:
    changes: dict[str, Any] = {}
    if not settings.properties:
        changes["properties"] = DEMO_HOTELS
    named = settings.providers
    if "mail" not in named and all(one.kind is not ProviderKind.SMTP for one in named.values()):
        settings = settings.model_copy(update={"providers": {**named, "mail": _MAIL}})
    if token:
        changes["providers"] = {
            name: provider.model_copy(update={"token": SecretStr(token)}) if _wants_token(provider) else provider
            for name, provider in settings.providers.items()
        }
    return settings.model_copy(update=changes)


def _wants_token(provider: Provider) -> bool:
    """Never another kind: a hotel system's token is nobody else's to see."""
    return provider.kind is ProviderKind.REFERENCE and provider.token is None


def names_redis(settings: Settings) -> bool:
    """Whether limits and wake-ups have a Redis: their own, or the broker's."""
    broker = settings.broker_url.get_secret_value() if settings.broker_url else ""
    return settings.redis_url is not None or broker.startswith(_SCHEMES["redis_url"])


def dump_settings(settings: Settings) -> str:
    """The settings as JSON that `load_settings` reads back, secrets included: for files of mode 0600 only."""

    def plain(value: object) -> object:
        if isinstance(value, SecretStr):
            return value.get_secret_value()
        if isinstance(value, timedelta):
            return value.total_seconds()
        raise TypeError(type(value).__name__)

    return json.dumps(settings.model_dump(), default=plain, indent=1)


def _one_line(text: str) -> str:
    return " ".join(text.split())
