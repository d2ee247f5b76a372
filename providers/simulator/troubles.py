"""The kinds of trouble a rule can make, each with its own parameters. Times are milliseconds.

`when` says whether the call's effect happens: "before" it (it never does; the hotel system was not reached)
or "after" it. For latency it says on which side of the effect the delay lies.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from providers.simulator.contract import Strict

When = Literal["before", "after"]
Millis = Annotated[float, Field(ge=0, le=3_600_000)]
Status = Annotated[int, Field(ge=200, le=599)]
# A header value that HTTP/1.1 can carry; otherwise any nonsense a real system might send.
HeaderText = Annotated[str, Field(max_length=200, pattern=r"^[\x20-\x7e\xa0-\xff]*$")]


class Latency(Strict):
    """A fixed delay, or one drawn from percentiles such as {"p50": 300, "p99": 12000}."""

    kind: Literal["latency"]
    ms: Millis | None = None
    percentiles: dict[Annotated[str, Field(pattern=r"^p[0-9]{1,2}(\.[0-9]+)?$|^p100$")], Millis] | None = None
    when: When = "before"


class StatusFault(Strict):
    """Any status with any body. `remember` keeps the answer under the call's key, as some systems do."""

    kind: Literal["status"]
    status: Status = 503
    body: Any = None
    retry_after: HeaderText | None = None
    when: When = "before"
    remember: bool = False


class RateLimited(Strict):
    """429, with any Retry-After or none."""

    kind: Literal["rate_limited"]
    retry_after: HeaderText | None = None
    when: When = "before"


class CommitThenTimeout(Strict):
    """The effect at once; the answer only after `hold_ms` (None: when released)."""

    kind: Literal["commit_then_timeout"]
    hold_ms: Millis | None = None


class HoldBeforeCommit(Strict):
    """Received, but the effect only after `hold_ms` (None: when released), even if the client has gone."""

    kind: Literal["hold_before_commit"]
    hold_ms: Millis | None = None


class ResetAfterCommit(Strict):
    """The effect, then a TCP reset."""

    kind: Literal["reset_after_commit"]


class ResetBeforeCommit(Strict):
    """A TCP reset and no effect."""

    kind: Literal["reset_before_commit"]


class OkWithError(Strict):
    """200 with an error in the body."""

    kind: Literal["ok_with_error"]
    body: Any = None
    when: When = "before"


class Empty(Strict):
    """A status without a body."""

    kind: Literal["empty"]
    status: Status = 200
    when: When = "after"


class Html(Strict):
    """A web page where JSON was due."""

    kind: Literal["html"]
    status: Status = 502
    when: When = "before"


class Truncated(Strict):
    """The true answer's Content-Length, half of its bytes, then the connection closes."""

    kind: Literal["truncated"]
    when: When = "after"


class Trickle(Strict):
    """The true answer, one byte each `interval_ms`."""

    kind: Literal["trickle"]
    interval_ms: Millis = 50
    part: Literal["headers", "body", "both"] = "body"


class Big(Strict):
    """The true answer, padded to `size` bytes."""

    kind: Literal["big"]
    size: Annotated[int, Field(ge=1, le=100_000_000)] = 10_000_000


class Duplicate(Strict):
    """The effect happens twice; the first answer is given."""

    kind: Literal["duplicate"]


class WithoutId(Strict):
    """The true answer without any id of what was made."""

    kind: Literal["without_id"]


class Redirect(Strict):
    """To another URL."""

    kind: Literal["redirect"]
    location: HeaderText
    status: Literal[301, 302, 303, 307, 308] = 302
    when: When = "before"


class ArrivalsShift(Strict):
    """The true page of arrivals; then the front desk alters the list, before the next page is asked for.

    "insert" adds a booking before all others, where this reading has passed by. "cancel" cancels the page's first.
    The next page begins where a list counted by position would now go on: one early, so that the last booking is
    repeated, or one late, so that a booking is left out. Reading all pages anew shows the list as it is.
    """

    kind: Literal["arrivals_shift"]
    change: Literal["insert", "cancel"] = "insert"


Trouble = Annotated[
    Latency
    | StatusFault
    | RateLimited
    | CommitThenTimeout
    | HoldBeforeCommit
    | ResetAfterCommit
    | ResetBeforeCommit
    | OkWithError
    | Empty
    | Html
    | Truncated
    | Trickle
    | Big
    | Duplicate
    | WithoutId
    | Redirect
    | ArrivalsShift,
    Field(discriminator="kind"),
]
