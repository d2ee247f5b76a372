"""Whatever bytes come back, a line gives a reply or says that the request may have been executed."""

import socket
import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from providers.line import Broken, Reply, open_line
from tests.providers.servers import read_request, serving

lines = st.sampled_from(
    [
        b"HTTP/1.1 200 OK",
        b"HTTP/1.0 201",
        b"HTTP/1.1 100 Continue",
        b"HTTP/1.1 204 No Content",
        b"HTTP/1.1 999 ?",
        b"HTTP/1.1 -1 ?",
        b"Content-Length: 2",
        b"Content-Length: -2",
        b"Content-Length: 99999999999999999999",
        b"Transfer-Encoding: chunked",
        b"Connection: keep-alive",
        b"2",
        b"-2",
        b"0",
        b"ffffffffffffffffffff",
        b"{}",
        b": nameless",
        b" folded",
        b"",
        b"",
    ]
)
answers = st.builds(b"\r\n".join, st.lists(lines | st.binary(max_size=12), max_size=9)) | st.binary(max_size=60)


def test_any_bytes_are_a_reply_or_broken() -> None:
    answer = b""

    def behave(connection: socket.socket, _stop: threading.Event) -> None:
        read_request(connection)
        connection.sendall(answer)

    with serving(behave) as server:

        @settings(deadline=None, max_examples=300)
        @given(answers)
        def never_raises_anything_else(drawn: bytes) -> None:
            nonlocal answer
            answer = drawn
            line = open_line(server.url, 2)
            try:
                assert isinstance(line.request("POST", "/v1/bookings", b"{}", {}, 5), Reply)
            except Broken as failure:
                assert str(failure)  # noqa: PT017 - either end is fine

        never_raises_anything_else()
