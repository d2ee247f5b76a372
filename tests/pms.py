"""The PMS simulator as its own process, for tests: start it, steer it, read its ledger."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.processes import listening
from tests.waiting import eventually


class Pms:
    """A running simulator. Every method is one control call; contract calls go to `url` with your own client."""

    def __init__(self, url: str, pid: int) -> None:
        self.url = url
        self.pid = pid
        self._http = httpx.Client(base_url=url, timeout=30)

    def ledger(self, **filters: Any) -> list[dict[str, Any]]:
        """Calls received, oldest first. Filters: reference, key, effect, method, operation, after."""
        return self._get("/ledger", "calls", filters)

    def effects(self, **filters: Any) -> list[dict[str, Any]]:
        """Calls that changed something."""
        return self.ledger(effect=True, **filters)

    def clear_ledger(self) -> None:
        self._send("DELETE", "/ledger")

    def fault(self, kind: str, **rule: Any) -> str:
        """Add a rule: `match`, `times`, `skip`, `share`, `seed` and the kind's own parameters. Gives its id."""
        return str(self._send("POST", "/faults", {"kind": kind, **rule})["id"])

    def faults(self) -> list[dict[str, Any]]:
        """The rules in force, with `seen` and `hits`."""
        return self._get("/faults", "faults")

    def clear_faults(self) -> int:
        """Drop all rules; gives how many held calls went on."""
        return int(self._send("DELETE", "/faults")["released"])

    def held(self) -> list[dict[str, Any]]:
        """The calls that wait now."""
        return self._get("/held", "held")

    def wait_held(self, count: int = 1, within: float = 5) -> list[dict[str, Any]]:
        """The held calls, as soon as there are `count`."""

        def enough() -> list[dict[str, Any]]:
            calls = self.held()
            assert len(calls) >= count, f"{len(calls)} of {count} calls held"
            return calls

        return eventually(enough, within=within)

    def release(self, fault: str | None = None, *, n: int | None = None) -> int:
        """Let held calls go on: of one rule, the call `n` of the ledger, or all. Gives how many."""
        path = f"/faults/{fault}/release" if fault else f"/held/{n}/release" if n is not None else "/held/release"
        return int(self._send("POST", path)["released"])

    def set_rooms(
        self,
        property: str,
        room_type: str,
        rooms: int,
        *,
        night: str | None = None,
        check_in: str | None = None,
        check_out: str | None = None,
    ) -> None:
        """So many more can be booked, on one night, on the nights of a stay, or on every night."""
        named = {"night": night, "from": check_in, "to": check_out}
        body = {"property": property, "room_type": room_type, "rooms": rooms}
        self._send("POST", "/inventory", body | {k: v for k, v in named.items() if v is not None})

    def set_price(self, property: str, room_type: str, amount: str) -> None:
        """The nightly price of the flexible rate."""
        self._send("POST", "/prices", {"property": property, "room_type": room_type, "amount": amount})

    def set_mode(self, mode: str, key_life_s: float | None = None) -> None:
        self._send("POST", "/mode", {"mode": mode, "key_life_s": key_life_s})

    def bookings(self, **fields: Any) -> list[dict[str, Any]]:
        """All bookings whose fields have these values, cancelled ones too."""
        found = self._get("/bookings", "bookings")
        return [b for b in found if all(b[name] == value for name, value in fields.items())]

    def seed(
        self,
        property: str,
        room_type: str,
        check_in: str,
        check_out: str,
        guests: list[dict[str, str]],
        reference: str | None = None,
    ) -> list[str]:
        """One booking a guest, past the inventory; gives their ids, in the guests' order.

        Of `name`, `email` and `phone` any may be missing, or text that no form would take.
        """
        stay = {"property": property, "room_type": room_type, "check_in": check_in, "check_out": check_out}
        made = self._send("POST", "/seed", {**stay, "guests": guests, "reference": reference})
        ids: list[str] = made["booking_ids"]
        return ids

    def desk(self, booking_id: str, **alteration: Any) -> dict[str, Any]:
        """Alter a booking as a front desk would: check_in, check_out, status, guest. Gives the booking."""
        altered: dict[str, Any] = self._send("POST", f"/desk/{booking_id}", alteration)
        return altered

    def payments(self) -> list[dict[str, Any]]:
        return self._get("/payments", "payments")

    def reset(self) -> None:
        """Everything as at the start."""
        self._send("POST", "/reset")

    def close(self) -> None:
        self._http.close()

    def _get(self, path: str, name: str, query: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        response = self._http.get(path, params=query)
        assert response.status_code == 200, response.text
        listed: list[dict[str, Any]] = response.json()[name]
        return listed

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        response = self._http.request(method, path, json=body)
        assert response.status_code < 300, response.text
        return response.json() if response.content else None


@contextmanager
def start_simulator(mode: str = "keyed", **options: Any) -> Iterator[Pms]:
    """A simulator on a free port, stopped at the end. Options: token, idle_timeout (s), key_life (s)."""
    words = ["--port", "0", "--mode", mode]
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    with listening("providers.simulator", *words, without=("ROOMKEY_PMS_TOKEN",)) as (url, pid):
        pms = Pms(url, pid)
        try:
            yield pms
        finally:
            pms.close()
