"""What every refusal must look like."""

from typing import Any

import httpx

from booking.results import Problem


def refused(response: httpx.Response, status: int, code: str = "INVALID_ARGUMENT") -> Problem:
    """Check the shape of a refusal and give it."""
    assert response.status_code == status, (response.status_code, response.text)
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    problem = Problem.model_validate(body)
    assert problem.status == status
    assert problem.tool_error.code == code
    assert problem.tool_error.message
    assert problem.type.startswith("urn:roomkey:problem:")
    assert "Traceback" not in response.text
    return problem
