"""Who calls: bearer keys, remembered for a few seconds so that most requests cost no look-up."""

import re
import time
from collections import OrderedDict

from starlette.requests import Request

from api.database import Database
from api.problems import Refused
from booking.keys import bearer_hash
from dedupe.tenants import Caller, Scope, find_caller

#: A revoked key stops working within this many seconds.
REMEMBERED = 3.0
MOST_REMEMBERED = 10_000

_BEARER = re.compile(r"bearer +(rk_[A-Za-z0-9_-]{20,100})", re.IGNORECASE)


class Callers:
    """Tells callers by their bearer keys. Only known keys are remembered, by their hash."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[bytes, tuple[float, Caller]] = OrderedDict()

    async def identify(self, request: Request, *allowed: Scope) -> Caller:
        """The caller, if its key has one of the `allowed` scopes. Raises Refused (401, 403) and DatabaseAway."""
        sent = request.headers.get("authorization")
        bearer = _BEARER.fullmatch(sent or "")
        caller = await self._find(bearer[1]) if bearer else None
        if caller is None:
            hint = ', error="invalid_token"' if sent else ""
            raise Refused(401, "wrong_bearer", {"WWW-Authenticate": f'Bearer realm="roomkey"{hint}'})
        if caller.scope not in allowed:
            raise Refused(
                403,
                "wrong_scope",
                {"WWW-Authenticate": 'Bearer realm="roomkey", error="insufficient_scope"'},
                scope=caller.scope.value,
                allowed=" or ".join(scope.value for scope in allowed),
            )
        return caller

    async def _find(self, bearer: str) -> Caller | None:
        name = bearer_hash(bearer)
        until, caller = self._known.get(name, (0.0, None))
        if caller and time.monotonic() < until:
            return caller
        begun = time.monotonic()  # a key revoked during the look-up counts from its start
        found = await self._database.call(find_caller, bearer)
        self._known.pop(name, None)
        if found:
            self._known[name] = (begun + REMEMBERED, found)
            if len(self._known) > MOST_REMEMBERED:
                self._known.popitem(last=False)
        return found
