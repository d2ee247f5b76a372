"""The API as a process: uvicorn, its limits, and an orderly end."""

import gc
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from api.app import build_app
from api.deps import CONNECTIONS, Deps
from api.parts import Parts
from api.protocol import BoundedProtocol
from booking.settings import ProviderKind, Settings
from dedupe.engine import make_engine
from providers.limiter import Limiter, Limits
from providers.line import bound_name_resolution
from providers.made import url_of
from providers.reference import reference_pms
from tasks.message import PUBLISH_SECONDS, make_app, queue_names
from tasks.publish import Publisher
from tasks.read import Reads
from tasks.wake import redis_client

#: Seconds a request waits for a free connection: less than a caller waits for its answer.
POOL_SECONDS = 1.0
#: Seconds an idle connection is kept; longer than clients keep theirs, so that they rarely send into a closing one.
KEEP_ALIVE = 75
#: Seconds for requests that run at SIGTERM; long polls end at once.
GRACE = 10
BACKLOG = 2048


class ApiServer(uvicorn.Server):
    """Tells the bound port, and lets no long poll delay the end."""

    def __init__(self, config: uvicorn.Config, parts: Parts, ready: Callable[[int], None] | None) -> None:
        super().__init__(config)
        self.parts = parts
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then tell the port."""
        await super().startup(sockets)
        # What was loaded so far stays: without it in view, a collection takes a tenth of the time, within some answer.
        gc.collect()
        gc.freeze()
        if self.started and self._ready is not None:
            self._ready(self.servers[0].sockets[0].getsockname()[1])

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End in order, and return from `run`: uvicorn would raise the signal again at the end."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer those who wait, finish what runs, end."""
        self.parts.waiting.release()
        await super().shutdown(sockets)
        self.parts.deps.engine.dispose()


def build_server(settings: Settings, ready: Callable[[int], None] | None = None) -> ApiServer:
    """A server that is not running yet. Raises ValueError where `database_url` or `broker_url` is missing."""
    if settings.database_url is None or settings.broker_url is None:
        raise ValueError("the API needs database_url and broker_url")
    broker_url = settings.broker_url.get_secret_value()
    redis_url: str | None = settings.redis_url.get_secret_value() if settings.redis_url else broker_url
    if redis_url and not redis_url.startswith(("redis://", "rediss://", "unix://")):
        redis_url = None
    deps = Deps(
        engine=make_engine(settings.database_url.get_secret_value(), CONNECTIONS, pool_timeout=POOL_SECONDS),
        publisher=Publisher(make_app(broker_url, PUBLISH_SECONDS, queue_names(settings.providers))),
        redis_url=redis_url,
        properties=settings.properties,
        lifetime=settings.expires_after,
        mails=frozenset(
            name
            for name, one in settings.providers.items()
            if one.kind is ProviderKind.SMTP and url_of(one, settings) is not None
        ),
        reads=_reads(settings, redis_url),
    )
    app = build_app(deps)
    config = uvicorn.Config(
        app,
        host=settings.api_host,
        port=settings.api_port,
        http=BoundedProtocol,
        loop="uvloop",
        ws="none",
        lifespan="on",
        log_config=None,  # the process decides where logs go
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
        backlog=BACKLOG,
    )
    return ApiServer(config, app.state.parts, ready)


def _reads(settings: Settings, redis_url: str | None) -> Reads:
    """Reads at the hotel systems whose address is known. Nothing is connected yet."""
    hotels = {name: one for name, one in settings.providers.items() if one.kind is ProviderKind.REFERENCE}
    urls = {name: one.url or settings.pms_url for name, one in hotels.items()}
    pms = {name: reference_pms(hotels[name], url) for name, url in urls.items() if url}
    limits = {name: Limits(one.max_concurrent, one.max_per_second) for name, one in settings.providers.items()}
    return Reads(pms, Limiter(redis_client(redis_url), limits) if redis_url else None)


def serve(settings: Settings, ready: Callable[[int], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT. Port 0 takes a free one; `ready` gets the bound port."""
    bound_name_resolution()
    build_server(settings, ready).run()
