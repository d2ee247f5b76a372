"""One file an effect: what makes it the same effect, how it is written, how it is looked up."""

from collections.abc import Mapping

from tasks.operations import arrivals, booking, cancel, change, refund
from tasks.operations.port import Operation, Tool
from tasks.operations.reminder import REMINDER

#: effect -> how it is done.
OPERATIONS: Mapping[str, Operation] = {
    one.effect: one for one in (booking.BOOKING, change.CHANGE, cancel.CANCEL, refund.REFUND, REMINDER)
}

#: name -> a write tool.
TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tools in (booking.TOOLS, change.TOOLS, cancel.TOOLS, refund.TOOLS, arrivals.TOOLS)
    for tool in tools
}
