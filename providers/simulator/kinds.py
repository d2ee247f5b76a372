"""How each kind of trouble is played on one call."""

import json
from functools import singledispatch
from typing import Any

from starlette.responses import Response

from providers.simulator import troubles as t
from providers.simulator.answers import Cut, Reset, Slow, error_answer, json_answer
from providers.simulator.desk import shift_arrivals
from providers.simulator.passage import Passage

PAGE = "<!doctype html><title>Bad gateway</title><h1>The hotel system is being serviced</h1>"
IDS = ("booking_id", "refund_id")


@singledispatch
async def play(trouble: Any, passage: Passage) -> Response:
    """The answer to a call under this trouble."""
    raise TypeError(f"no such trouble: {type(trouble).__name__}")


async def _effect_if_after(when: t.When, passage: Passage) -> None:
    if when == "after":
        await passage.act()


@play.register
async def _(trouble: t.StatusFault, passage: Passage) -> Response:
    await _effect_if_after(trouble.when, passage)
    if trouble.remember and (early := passage.arrive()):
        return early
    if trouble.body is None:
        answer = error_answer(trouble.status, "the hotel system can't do this now")
    else:
        answer = json_answer(trouble.status, trouble.body)
    _retry_after(answer, trouble.retry_after)
    if trouble.remember:
        passage.store(answer)
    return answer


@play.register
async def _(trouble: t.RateLimited, passage: Passage) -> Response:
    await _effect_if_after(trouble.when, passage)
    answer = error_answer(429, "too many requests")
    _retry_after(answer, trouble.retry_after)
    return answer


@play.register
async def _(trouble: t.CommitThenTimeout, passage: Passage) -> Response:
    answer = await passage.act()
    await passage.hold(trouble.hold_ms)
    return answer


@play.register
async def _(trouble: t.HoldBeforeCommit, passage: Passage) -> Response:
    if early := passage.arrive():
        return early
    await passage.hold(trouble.hold_ms)
    return await passage.act()


@play.register
async def _(_trouble: t.ResetAfterCommit, passage: Passage) -> Response:
    await passage.act()
    return Reset()


@play.register
async def _(_trouble: t.ResetBeforeCommit, _passage: Passage) -> Response:
    return Reset()


@play.register
async def _(trouble: t.OkWithError, passage: Passage) -> Response:
    await _effect_if_after(trouble.when, passage)
    if trouble.body is not None:
        return json_answer(200, trouble.body)
    return error_answer(200, "the hotel system could not do this", "internal")


@play.register
async def _(trouble: t.Empty, passage: Passage) -> Response:
    await _effect_if_after(trouble.when, passage)
    return Response(status_code=trouble.status)


@play.register
async def _(trouble: t.Html, passage: Passage) -> Response:
    await _effect_if_after(trouble.when, passage)
    return Response(PAGE, trouble.status, media_type="text/html")


@play.register
async def _(trouble: t.Truncated, passage: Passage) -> Response:
    if trouble.when == "before":
        return Cut(error_answer(200, "never seen whole").body, 200, media_type="application/json")
    answer = await passage.act()
    return Cut(answer.body, answer.status_code, media_type="application/json")


@play.register
async def _(trouble: t.Trickle, passage: Passage) -> Response:
    answer = await passage.act()
    slow = Slow(answer.body, answer.status_code, media_type="application/json")
    slow.interval_s, slow.part = trouble.interval_ms / 1000, trouble.part
    return slow


@play.register
async def _(trouble: t.Big, passage: Passage) -> Response:
    answer = await passage.act()
    body = json.loads(bytes(answer.body))
    body["padding"] = "x" * trouble.size
    return json_answer(answer.status_code, body)


@play.register
async def _(_trouble: t.Duplicate, passage: Passage) -> Response:
    answer = await passage.act()
    await passage.act_again()
    return answer


@play.register
async def _(_trouble: t.WithoutId, passage: Passage) -> Response:
    answer = await passage.act()
    body = json.loads(bytes(answer.body))
    return json_answer(answer.status_code, {k: v for k, v in body.items() if k not in IDS})


@play.register
async def _(trouble: t.Redirect, passage: Passage) -> Response:
    await _effect_if_after(trouble.when, passage)
    return Response(status_code=trouble.status, headers={"location": trouble.location})


@play.register
async def _(trouble: t.ArrivalsShift, passage: Passage) -> Response:
    answer = await passage.act()
    body = json.loads(bytes(answer.body))
    if not body.get("arrivals"):
        return answer
    following = shift_arrivals(passage.world, body["arrivals"], trouble.change)
    return json_answer(answer.status_code, body | {"next_cursor": body["next_cursor"] and following})


def _retry_after(answer: Response, value: str | None) -> None:
    if value is not None:
        answer.headers["retry-after"] = value
