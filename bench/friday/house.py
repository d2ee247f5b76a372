"""Roomkey as `roomkey up` starts it (one worker, default threads), with three providers."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from bench.friday.hotel import Hotel, running_hotel
from bench.friday.plan import MODES, PROVIDERS, Plan
from bench.parts import module, said, wait_until
from booking.settings import Mode, Property, Provider, Settings, TenantSettings
from cli.config import dump_settings
from cli.embedded.postgres import start_postgres
from cli.embedded.process import Child
from cli.embedded.valkey import start_valkey
from dedupe import tenants
from dedupe.engine import make_engine
from dedupe.migrate import migrate

_MAX_CONNECTIONS = 64 + 150  # as `roomkey up` sets it for one worker


@dataclass(frozen=True)
class House:
    """What runs. `hotels` by property."""

    api: str
    bearer: str
    database: str
    hotels: dict[str, Hotel]


@contextmanager
def running_house(folder: Path, plan: Plan, say: Callable[[str], None]) -> Iterator[House]:
    """Start all of it in `folder`, which others than root must be able to reach."""
    (folder / "logs").mkdir()
    with ExitStack() as stack:
        hotels = {name: stack.enter_context(running_hotel(folder, name, mode)) for name, mode in MODES.items()}
        for name, hotel in hotels.items():
            asyncio.run(hotel.open(name))
        settings = {"max_connections": _MAX_CONNECTIONS}
        postgres = stack.enter_context(start_postgres(folder / "postgres", settings=settings, say=say))
        valkey = stack.enter_context(start_valkey(folder / "valkey", say=say))
        config = _write_settings(folder, plan, postgres.url, valkey.url, hotels)
        bearer = _tenant(postgres.url)

        def run(name: str) -> Child:
            command = [name, "--config", str(config), "--data", str(folder / "data")]
            return stack.enter_context(module(folder, name, "cli.main", command))

        api, worker, caretaker = run("api"), run("worker"), run("caretaker")
        url = wait_until(lambda: said(api, "listening on "), api, worker, caretaker)
        yield House(url, bearer, postgres.url, hotels)


def _tenant(database: str) -> str:
    engine = make_engine(database, 2)
    migrate(engine)
    tenants.create_tenant(engine, "bench", TenantSettings())
    made = tenants.create_key(engine, "bench", tenants.Scope.AGENT)
    engine.dispose()
    if made is None:
        raise RuntimeError("no bearer key was made")
    return made[1]


def _write_settings(folder: Path, plan: Plan, database: str, broker: str, hotels: dict[str, Hotel]) -> Path:
    providers = {
        PROVIDERS[name]: Provider(
            url=hotel.url, mode=Mode(MODES[name]), settle_time=plan.settle_time, idle_timeout=plan.idle_timeout
        )
        for name, hotel in hotels.items()
    }
    properties = {
        name: Property(name=name, provider=provider, time_zone="UTC", currency="EUR")
        for name, provider in PROVIDERS.items()
    }
    settings = Settings(
        database_url=SecretStr(database),
        broker_url=SecretStr(broker),
        api_port=0,
        providers=providers,
        properties=properties,
    )
    path = folder / "settings.json"
    path.touch(0o600)
    path.write_text(dump_settings(settings))
    return path
