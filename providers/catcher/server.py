"""The process: a mail server and an HTTP server in one loop, both listening before it says so."""

import asyncio
import socket
from collections.abc import Callable

import uvicorn

from providers.catcher.app import build_app
from providers.catcher.handler import Catcher, mail_server

BACKLOG = 2048  # bursts of a thousand connections must not be refused


class CatcherServer(uvicorn.Server):
    """uvicorn's server, with the mail server beside it."""

    def __init__(
        self, config: uvicorn.Config, smtp: socket.socket, catcher: Catcher, ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._smtp, self._catcher, self._ready = smtp, catcher, ready
        self._mail: asyncio.Server | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen on both, then tell."""
        loop = asyncio.get_running_loop()
        self._mail = await loop.create_server(lambda: mail_server(self._catcher), sock=self._smtp, backlog=BACKLOG)
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take nothing more, then stop."""
        if self._mail is not None:
            self._mail.close()
        await super().shutdown(sockets)


def serve(host: str, smtp_port: int, http_port: int, ready: Callable[[int], None]) -> None:
    """Serve until SIGTERM or SIGINT. Port 0 takes a free one; `ready` gets the bound HTTP port.

    Raises OSError where a port can't be had.
    """
    with _listening(host, smtp_port) as smtp, _listening(host, http_port) as http:
        bound = smtp.getsockname()[1]
        catcher = Catcher()
        config = uvicorn.Config(
            build_app(catcher, f"smtp://{f'[{host}]' if ':' in host else host}:{bound}"),
            ws="none",
            lifespan="off",
            log_level="error",
            access_log=False,
            timeout_graceful_shutdown=1,
        )
        server = CatcherServer(config, smtp, catcher, lambda: ready(http.getsockname()[1]))
        server.run(sockets=[http])


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)
