"""HTTP as uvicorn speaks it, with a bound on what may come before the body."""

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

#: Request line and headers, bytes. The parser itself has no bound.
MAX_HEAD = 32_768


class BoundedProtocol(HttpToolsProtocol):
    """Refuses a request whose line and headers are too large: 400, and the connection ends."""

    _head = 0
    _in_head = True

    def data_received(self, data: bytes) -> None:
        """Count what arrives until the headers are complete."""
        if self._in_head:
            self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > MAX_HEAD and not self.transport.is_closing():
            self.send_400_response("Request line and headers are too large.")

    def on_message_begin(self) -> None:
        """A request begins."""
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The body may follow. All may have come in one piece, with it."""
        self._in_head = False
        self._head = 0
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MAX_HEAD:
            raise httptools.HttpParserError("request line and headers are too large")
        super().on_headers_complete()
