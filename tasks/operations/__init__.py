"""One file an effect: what makes it the same effect, how it is written, how it is looked up."""

from tasks.operations.booking import BOOKING
from tasks.operations.port import Operation

#: effect -> how it is done.
OPERATIONS: dict[str, Operation] = {BOOKING.effect: BOOKING}
