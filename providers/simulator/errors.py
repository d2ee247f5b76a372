"""A refusal by the hotel system, in the contract's words."""

from typing import Any

CODES = {
    400: "invalid",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    408: "timeout",
    409: "conflict",
    413: "too_large",
    422: "invalid",
    429: "rate_limited",
    500: "internal",
    501: "not_supported",
    502: "bad_gateway",
    503: "unavailable",
    504: "timeout",
}


class PmsError(Exception):
    """Answered as `{"error": {"code", "message", "field"?, …}}` with `status`."""

    def __init__(self, status: int, code: str, message: str, field: str | None = None, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.body = error_body(code, message, field, **more)


def error_body(code: str, message: str, field: str | None = None, **more: Any) -> dict[str, Any]:
    """The contract's error shape."""
    named = {"field": field} if field else {}
    return {"error": {"code": code, "message": message, **named, **more}}


def invalid(field: str, message: str) -> PmsError:
    """422: this field has a value we can't use."""
    return PmsError(422, "invalid", message, field)


def not_found(what: str) -> PmsError:
    """404: nothing has this id."""
    return PmsError(404, "not_found", f"no such {what}")
