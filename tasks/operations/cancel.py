"""The end of a reservation. Checked by reading it: it is cancelled, or it is not."""

from datetime import datetime

from booking.arguments import CancelReservation
from booking.capabilities import Capabilities
from booking.effects import Effect
from booking.outcomes import Done, Finding, Outcome, Rejected, Reservation
from booking.states import Kind
from dedupe.items import Item
from dedupe.submission import Wanted
from providers.ports import Line, Pms
from tasks.operations import reservation
from tasks.operations.booking import shown
from tasks.operations.port import Asking, Tool


def _wanted(asking: Asking, arguments: CancelReservation) -> list[Wanted]:
    return [reservation.wanted(asking, arguments, Effect.CANCEL, {})]


class Cancel:
    """A cancellation (see `port.Operation`)."""

    effect = Effect.CANCEL

    def capabilities(self, declared: Capabilities) -> Capabilities:
        """The reservation tells."""
        return reservation.capabilities(declared, self.effect)

    def provider(self, item: Item, kind: Kind) -> str:
        """The hotel system, for all calls."""
        return item.provider

    def body(self, pms: Pms, item: Item) -> bytes:
        """It has none."""
        return b""

    def write(self, pms: Pms, line: Line, item: Item, body: bytes) -> Outcome:
        """Send the cancellation."""
        outcome = pms.cancel_booking(line, item.request["reservation_id"], item.provider_key)
        if isinstance(outcome, Rejected):
            return reservation.told(item, outcome)
        return Done(shown(Reservation(**outcome.result))) if isinstance(outcome, Done) else outcome

    def check(self, pms: Pms, line: Line, item: Item, begun_at: datetime) -> Finding:
        """Read the reservation."""
        return reservation.look(pms, line, item, begun_at, lambda _item, seen: not seen.is_live())

    def provider_id(self, result: dict[str, object]) -> str:
        """The booking id."""
        return str(result["booking_id"])


CANCEL = Cancel()

TOOLS = (Tool("cancel_reservation", CancelReservation, _wanted, about_guest=True),)
