"""Put a process together from settings: nothing here runs before it is called."""

from booking.settings import Settings
from dedupe.engine import Engine, make_engine
from providers.limiter import Limiter, Limits
from providers.made import Unusable, made
from providers.ports import Port
from tasks.runtime import Runtime
from tasks.wake import Waker, redis_client


class Incomplete(Exception):
    """A setting that this process needs is missing; the message names it."""


def database(settings: Settings, connections: int) -> Engine:
    """The engine on the configured Postgres, or Incomplete."""
    if settings.database_url is None:
        raise Incomplete("ROOMKEY_DATABASE_URL is not set; `roomkey up` starts an embedded Postgres")
    return make_engine(settings.database_url.get_secret_value(), connections)


def broker_url(settings: Settings) -> str:
    """The broker's URL, or Incomplete."""
    if settings.broker_url is None:
        raise Incomplete("ROOMKEY_BROKER_URL is not set; `roomkey up` starts an embedded Valkey")
    return settings.broker_url.get_secret_value()


def providers(settings: Settings) -> dict[str, Port]:
    """The configured providers by name, or Incomplete. Nothing is connected yet."""
    try:
        all_of_them = {name: made(provider, name, settings) for name, provider in settings.providers.items()}
    except Unusable as error:
        raise Incomplete(str(error)) from None
    return {name: port for name, port in all_of_them.items() if port is not None}


def runtime(settings: Settings) -> Runtime:
    """What one worker process needs. One database connection a thread: a run never waits for another's."""
    wakes = settings.redis_url or settings.broker_url
    if wakes is None:
        raise Incomplete("ROOMKEY_REDIS_URL is not set, nor is ROOMKEY_BROKER_URL")
    redis = redis_client(wakes.get_secret_value())
    return Runtime(
        engine=database(settings, settings.worker.threads),
        providers=providers(settings),
        limiter=Limiter(redis, limits(settings)),
        waker=Waker(redis),
    )


def limits(settings: Settings) -> dict[str, Limits]:
    """What each provider bears, by name."""
    return {
        name: Limits(provider.max_concurrent, provider.max_per_second) for name, provider in settings.providers.items()
    }
