"""Other dates for a reservation. Checked by reading the reservation: it has the new dates, the old ones, or neither."""

from datetime import datetime

from booking.arguments import ChangeReservationDates
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


def _wanted(asking: Asking, arguments: ChangeReservationDates) -> list[Wanted]:
    target = {"check_in": arguments.check_in.isoformat(), "check_out": arguments.check_out.isoformat()}
    return [reservation.wanted(asking, arguments, Effect.CHANGE, target)]


class Change:
    """A change of dates (see `port.Operation`)."""

    effect = Effect.CHANGE

    def capabilities(self, declared: Capabilities) -> Capabilities:
        """The reservation tells."""
        return reservation.capabilities(declared, self.effect)

    def provider(self, item: Item, kind: Kind) -> str:
        """The hotel system, for all calls."""
        return item.provider

    def body(self, pms: Pms, item: Item) -> bytes:
        """The new dates."""
        return pms.change_body(item.request["check_in"], item.request["check_out"])

    def write(self, pms: Pms, line: Line, item: Item, body: bytes) -> Outcome:
        """Send the change."""
        outcome = pms.change_dates(line, item.request["reservation_id"], body, item.provider_key)
        if isinstance(outcome, Rejected):
            return reservation.told(item, outcome)
        return Done(shown(Reservation(**outcome.result))) if isinstance(outcome, Done) else outcome

    def check(self, pms: Pms, line: Line, item: Item, begun_at: datetime) -> Finding:
        """Read the reservation."""
        return reservation.look(pms, line, item, begun_at, _judge)

    def provider_id(self, result: dict[str, object]) -> str:
        """The booking id."""
        return str(result["booking_id"])


def _judge(item: Item, seen: Reservation) -> bool | str | Rejected:
    dates = (seen.check_in, seen.check_out)
    if not seen.is_live():
        return "is cancelled" if item.doubts else reservation.told(item, Rejected("not_changeable", "cancelled"))
    if dates == (item.request["check_in"], item.request["check_out"]):
        return True
    before = item.seen and (item.seen["check_in"], item.seen["check_out"])
    return f"has other dates: {dates[0]} to {dates[1]}" if item.doubts and before and dates != before else False


CHANGE = Change()

TOOLS = (Tool("change_reservation_dates", ChangeReservationDates, _wanted, about_guest=True),)
