"""One call on its way through: its key, its effect, its waiting, its line in the ledger."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.responses import Response

from providers.simulator.answers import error_answer
from providers.simulator.faults import Faults, Rule
from providers.simulator.held import Held
from providers.simulator.keys import Fingerprint, Key, Keys, Stored
from providers.simulator.ledger import Entry, Ledger
from providers.simulator.world import World


@dataclass
class Simulator:
    """The parts of one running simulator. With a `token`, callers must show it."""

    world: World
    ledger: Ledger
    faults: Faults
    held: Held
    keys: Keys
    token: str | None = None


class Passage:
    """What a trouble can do with the call it hit."""

    def __init__(
        self,
        simulator: Simulator,
        entry: Entry,
        fingerprint: Fingerprint,
        effect: Callable[[], Awaitable[Response]],
        keyed: bool,
    ) -> None:
        self.entry = entry
        self.waited = False
        self.rule: Rule | None = None
        self._simulator = simulator
        self._fingerprint = fingerprint
        self._effect = effect
        self._keyed = keyed
        self._arrived = False
        self._early: Response | None = None
        self._lock: Key | None = None

    @property
    def world(self) -> World:
        """The hotel system's state."""
        return self._simulator.world

    def arrive(self) -> Response | None:
        """Lock the key. An answer means that the key has been here before and nothing more shall happen."""
        if not self._arrived:
            self._arrived = True
            self._early = self._meet_key() if self._keyed else None
        return self._early

    def _meet_key(self) -> Response | None:
        assert self.entry.key is not None
        now = self.world.now()
        key, first = self._simulator.keys.arrive(self.entry.key, self._fingerprint, now)
        if first:
            self._lock = key
            return None
        if key.fingerprint != self._fingerprint:
            return error_answer(422, "this key was used with another request", "key_reused")
        if key.answer is None:
            return error_answer(409, "the first request with this key is still running", "key_in_progress")
        self.entry.replayed = True
        headers = {"idempotent-replayed": "true"}
        return Response(key.answer.body, key.answer.status, headers, media_type="application/json")

    async def act(self) -> Response:
        """The call's effect, at most once a key, and the true answer to it."""
        if early := self.arrive():
            return early
        answer = await self._effect()
        self.store(answer)
        return answer

    async def act_again(self) -> None:
        """The effect once more, past the key: what a broken hotel system does."""
        if self._early is None:
            first = self.entry.booking_id
            await self._effect()
            self.entry.booking_id = first

    def store(self, answer: Response) -> None:
        """Keep the answer under the key this call locked."""
        if self._lock is not None:
            self._lock.answer = Stored(answer.status_code, bytes(answer.body))

    def close(self) -> None:
        """Unlock the key of a call that never came to an answer of the hotel system itself."""
        if self._lock is not None and self._lock.answer is None and self.entry.key is not None:
            self._simulator.keys.forget(self.entry.key, self._lock)

    async def hold(self, ms: float | None) -> None:
        """Wait, visible in `GET /held`."""
        assert self.rule is not None
        self.waited = True
        await self._simulator.held.hold(self.entry, self.rule.id, self.rule.trouble.kind, ms)
