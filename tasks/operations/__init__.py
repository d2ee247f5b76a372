"""One file an effect: what makes it the same effect, how it is written, how it is looked up."""

from tasks.operations import booking
from tasks.operations.port import Operation, Tool

#: effect -> how it is done.
OPERATIONS: dict[str, Operation] = {one.effect: one for one in (booking.BOOKING,)}

#: name -> a write tool.
TOOLS: dict[str, Tool] = {tool.name: tool for tool in booking.TOOLS}
