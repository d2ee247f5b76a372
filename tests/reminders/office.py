"""A hotel's office: asks for reminders over the real API, and runs what is due in this process."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from redis import Redis

from dedupe.engine import Engine
from tasks.runtime import Runtime
from tasks.write import run_item
from tests.api.serving import Api
from tests.dedupe.rows import change, rows
from tests.mail.catching import Caught
from tests.pms import Pms

TOMORROW = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=2)
DAY = TOMORROW.isoformat()


@dataclass(frozen=True)
class Office:
    """The API, one worker, the hotel system and the mail server, all real."""

    api: Api
    engine: Engine
    runtime: Runtime
    pms: Pms
    caught: Caught
    redis: Redis
    redis_url: str

    def arrive(self, *guests: tuple[str, str | None], day: str = DAY) -> list[str]:
        """Book a room for each (name, address), who arrives that day; gives the reservations' numbers."""
        out = (dt.date.fromisoformat(day) + dt.timedelta(days=2)).isoformat()
        named = [{"name": name} | ({"email": email} if email is not None else {}) for name, email in guests]
        return self.pms.seed("BER", "double", day, out, named)

    def ask(self, conversation: str = "c-1", key: str | None = None, day: str = DAY) -> dict[str, Any]:
        """Ask for the reminders; the answer as it comes."""
        arguments = {"property": "BER", "date": day}
        body = {"tool": "send_checkin_reminders", "conversation_id": conversation, "arguments": arguments}
        response = self.api.submit(body, key)
        assert response.status_code == 202, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def due(self) -> list[int]:
        """What a worker may run now."""
        found = rows(
            self.engine,
            "SELECT id FROM items WHERE due_at <= clock_timestamp()"
            " AND (lease_until IS NULL OR lease_until < clock_timestamp()) ORDER BY id",
        )
        return [row.id for row in found]

    def work(self) -> None:
        """Run what is due, until nothing is."""
        while due := self.due():
            for item_id in due:
                run_item(self.runtime, item_id)

    def work_on(self, effect: str) -> None:
        """Run those items of an effect that are due now."""
        for row in rows(self.engine, "SELECT id FROM items WHERE effect = :effect", effect=effect):
            run_item(self.runtime, row.id)

    def later(self) -> None:
        """What waits for a later time is due now; the limiter, too, has seen that time pass."""
        self.redis.flushdb()
        for row in rows(self.engine, "SELECT id FROM items WHERE due_at IS NOT NULL AND state = 'queued'"):
            change(self.engine, row.id, "due_at = clock_timestamp()")
        self.work()

    def look(self, intent: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = self.api.poll(intent["id"]).json()
        return answer

    def remind(self, **how: Any) -> dict[str, Any]:
        """Ask, let the worker do all that it can now, and look."""
        intent = self.ask(**how)
        self.work()
        return self.look(intent)

    def mailed(self) -> list[str]:
        """The addresses of all mails that a real server would have delivered, in order of address."""
        return sorted(one["recipient"] for one in self.caught.delivered())
