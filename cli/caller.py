"""One caller of the HTTP API: where it is, with which key, and what its refusals mean here."""

import os
import time
from pathlib import Path
from typing import Any

import httpx

from cli.config import find_file, load_settings
from cli.exits import Code, Trouble
from cli.screen import print_json
from cli.state import read_keys, read_state

_TIMEOUT = httpx.Timeout(30.0, connect=5.0)
#: Seconds of one long poll: short, so that progress of a batch is seen.
_POLL = 2
#: Polls are reads: they may be repeated while the API restarts, for so many seconds.
_PATIENCE = 60.0
_PAUSE = 0.5

Json = dict[str, Any]


def api_url(config: Path | None, data: Path) -> str:
    """ROOMKEY_API_URL, else the stack that runs in `data`, else host and port of the settings."""
    named = os.environ.get("ROOMKEY_API_URL")
    if named:
        if not named.startswith(("http://", "https://")):
            raise Trouble(Code.CONFIGURATION, "ROOMKEY_API_URL: must start with http:// or https://")
        return named.rstrip("/")
    state = read_state(data)
    if state is not None:
        return state.api_url
    settings = load_settings(find_file(config), os.environ)
    return f"http://{settings.api_host}:{settings.api_port}"


def api_key(data: Path) -> str:
    """ROOMKEY_API_KEY, else the agent key that `roomkey up` keeps in `data`."""
    named = os.environ.get("ROOMKEY_API_KEY")
    kept = read_keys(data)
    key = named or (kept.keys.get("agent") if kept else None)
    if not key:
        raise Trouble(Code.CONFIGURATION, "ROOMKEY_API_KEY: is not set; set it, or run beside `roomkey up`")
    if not (key.isascii() and key.isprintable()):
        raise Trouble(Code.CONFIGURATION, "ROOMKEY_API_KEY: must be a key as `roomkey keys create` prints it")
    return key


class Caller:
    """Speaks to the API. A submission is sent once: repeating it after an answer is never this side's business."""

    def __init__(self, url: str, key: str, *, as_json: bool) -> None:
        self._url, self._as_json = url, as_json
        self._http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"},
            timeout=_TIMEOUT,
            trust_env=httpx.URL(url).host not in ("127.0.0.1", "localhost", "::1"),  # no proxy to ourselves
        )

    def submit(self, body: Json) -> Json:
        """Hand in an intent, with one request."""
        return self._send("/v1/intents", body)

    def retry(self, intent_id: str) -> Json:
        """Ask for the failed items of an intent again, with one request."""
        return self._send(f"/v1/intents/{intent_id}/retry", None)

    def _send(self, path: str, body: Json | None) -> Json:
        try:
            return self._read(self._http.post(path, json=body))
        except httpx.ConnectError as error:
            raise self._unreachable(error) from None
        except httpx.TransportError as error:
            mend = "it may have been accepted: run the same command again, one key makes one booking"
            raise Trouble(Code.UNREACHABLE, f"{self._url}: {_named(error)}; {mend}") from None

    def poll(self, intent_id: str, wait: int = 0) -> Json:
        """The intent as it is now, or after `wait` seconds."""
        try:
            return self._read(self._http.get(f"/v1/intents/{intent_id}", params={"wait": wait}))
        except httpx.TransportError as error:
            raise self._unreachable(error) from None

    def poll_patiently(self, intent_id: str) -> Json:
        """One long poll, repeated for a while if the API can't be reached."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                return self.poll(intent_id, _POLL)
            except Trouble as trouble:
                if trouble.exit_code != Code.UNREACHABLE or time.monotonic() > deadline:
                    raise
                time.sleep(_PAUSE)

    def close(self) -> None:
        """Let the connection go."""
        self._http.close()

    def _read(self, response: httpx.Response) -> Json:
        try:
            body = response.json()
        except ValueError:
            body = None
        if response.is_success and isinstance(body, dict):
            return body
        if response.is_server_error or not isinstance(body, dict):
            said = body.get("detail", "") if isinstance(body, dict) else "no Roomkey API answers there"
            mend = "see its log, or `roomkey doctor`"
            raise Trouble(Code.UNREACHABLE, f"{self._url}: {response.status_code} {said}; {mend}")
        if self._as_json:
            print_json(body)
        fix = (body.get("tool_error") or {}).get("fix")
        told = " ".join(str(part) for part in (body.get("detail"), fix) if part)
        raise Trouble(Code.REFUSED, f"refused ({response.status_code}): {' '.join(told.split())}")

    def _unreachable(self, error: httpx.TransportError) -> Trouble:
        mend = "start it with `roomkey up`, or set ROOMKEY_API_URL"
        return Trouble(Code.UNREACHABLE, f"{self._url}: {_named(error)}; {mend}")


def _named(error: httpx.TransportError) -> str:
    return " ".join(str(error).split()) or type(error).__name__
