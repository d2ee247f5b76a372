"""Errors as the model is told them, and the project's own exceptions. The table is in `booking.error_table`."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from booking.error_table import TABLE as TABLE
from booking.error_table import ErrorCode as ErrorCode


class ToolError(BaseModel):
    """What the model is told of a failure."""

    model_config = ConfigDict(frozen=True)

    code: ErrorCode
    message: str
    retryable: bool = Field(description="Whether the model may try again with different input.")
    fix: str | None = Field(default=None, description="The next useful step, ready to use.")


#: Causes that may pass: an item known not to be executed for one of these is armed when the agent asks again.
MAY_PASS = frozenset(
    {
        ErrorCode.CONFLICT,
        ErrorCode.RATE_LIMITED,
        ErrorCode.UNAVAILABLE,
        ErrorCode.EXPIRED,
        ErrorCode.CANCELLED,
    }
)


def tool_error(name: str, **values: Any) -> ToolError:
    """The error `name` of the table, filled in. A missing value is a bug here, so it raises KeyError."""
    code, message, fix, retryable = TABLE[name]
    return ToolError(
        code=code,
        message=message.format(**values),
        retryable=retryable,
        fix=fix.format(**values) if fix else None,
    )


class RoomkeyError(Exception):
    """A failure with something to tell the caller. The root of the project's own errors."""

    def __init__(self, error: ToolError, **context: Any) -> None:
        super().__init__(error.message)
        self.error = error
        self.context = context


class Invalid(RoomkeyError):
    """The caller's input is wrong; nothing was stored."""


class Conflicting(RoomkeyError):
    """The key stands for something else already; nothing was stored."""
