"""The process: uvicorn with its connections in reach, so that answers can break them."""

import asyncio
import os
import socket
from collections.abc import Callable
from datetime import timedelta
from typing import cast, get_args

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from providers.simulator.answers import TRANSPORT
from providers.simulator.app import KEY_LIFE, build_app
from providers.simulator.passage import Simulator
from providers.simulator.world import Mode, World

IDLE_TIMEOUT = 5  # s after which an unused connection is closed
TOKEN_VARIABLE = "ROOMKEY_PMS_TOKEN"  # noqa: S105 - the name of a variable, not a token
BACKLOG = 2048  # bursts of a thousand connections must not be refused


class ReachableProtocol(HttpToolsProtocol):
    """Puts the connection into the ASGI scope, and closes every silent one.

    uvicorn itself closes only connections that had an answer before. A caller that connects, sleeps and then
    sends would still be served after `idle_timeout`, and nobody could prove a booking absent.
    """

    _receiving = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection without a first request is idle, too."""
        super().connection_made(transport)
        self._expect_bytes()

    def data_received(self, data: bytes) -> None:
        """Half a request is waited for no longer than the next one."""
        super().data_received(data)
        if self._receiving and not self.transport.is_closing():
            self._expect_bytes()

    def on_message_begin(self) -> None:
        """Called by the parser at the start of each request."""
        super().on_message_begin()
        self._receiving = True
        self.scope["extensions"] = {TRANSPORT: self.transport}  # type: ignore[dict-item]

    def on_message_complete(self) -> None:
        """Called by the parser at the end of each request."""
        self._receiving = False
        super().on_message_complete()

    def _expect_bytes(self) -> None:
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)


class SimulatorServer(uvicorn.Server):
    """Says when it is listening, and lets no held call delay its end."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, ready: Callable[[int], None] | None) -> None:
        super().__init__(config)
        self._simulator: Simulator = app.state.simulator
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then tell the port."""
        await super().startup(sockets)
        if self._ready is not None:
            self._ready(self.servers[0].sockets[0].getsockname()[1])

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let waiting calls go on, then stop."""
        self._simulator.faults.rules.clear()
        self._simulator.held.release()
        await super().shutdown(sockets)


def serve(
    host: str,
    port: int,
    mode: str,
    ready: Callable[[int], None] | None = None,
    *,
    token: str | None = None,
    idle_timeout: int = IDLE_TIMEOUT,
    key_life: timedelta = KEY_LIFE,
) -> None:
    """Serve until SIGTERM or SIGINT. Port 0 takes a free one; `ready` gets the bound port.

    Raises ValueError for an unknown mode. Without `token`, ROOMKEY_PMS_TOKEN counts; without that, none is needed.
    """
    if mode not in get_args(Mode):
        raise ValueError(f"unknown mode {mode!r}; known are {', '.join(get_args(Mode))}")
    app = build_app(World(cast(Mode, mode)), token or os.environ.get(TOKEN_VARIABLE) or None, key_life)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=ReachableProtocol,
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        timeout_keep_alive=idle_timeout,
        timeout_graceful_shutdown=1,
        backlog=BACKLOG,
    )
    SimulatorServer(config, app, ready).run()
