"""The scenes of the check-in reminders: thirty mails, four failures, and a second call that mails nobody twice."""

from datetime import UTC, datetime, timedelta
from typing import Any

from cli.demo.agent import HOTEL
from cli.demo.stage import Row, Stage

#: The day of arrival: far enough from everybody's midnight.
DAY = (datetime.now(UTC).date() + timedelta(days=3)).isoformat()
_SLOW, _LOST = "guest28@hotel-demo.com", "guest29@hotel-demo.com"


def thirty_reminders(stage: Stage) -> Row:
    """(f) 30 check-in reminders: two wrong addresses, one "come back later", one answer lost at the end."""
    good = [(f"Guest Number {n}", f"guest{n}@hotel-demo.com") for n in range(28)]
    wrong = [("Wrong Address", "wrong at hotel-demo.com"), ("Two Lines", "a@b.de\r\nBcc: x@hotel-demo.com")]
    stage.hotel.arrivals(DAY, [*good[:26], *wrong, ("Full Mailbox", _SLOW), ("Lost Answer", _LOST)])
    stage.post.ask_to_come_back(_SLOW)
    stage.post.lose_the_answer(_LOST)
    intent = stage.agent.until(_ask(stage), lambda seen: len(seen["succeeded"]) >= 26)
    stage.say(f"at once: {(intent['reminders'] or {}).get('said')}")
    intent = stage.agent.wait(intent)
    return _row(
        stage, "30 reminders, 4 failures", intent, "27 sent now, 1 being confirmed by a person, 2 to be corrected"
    )


def reminders_again(stage: Stage) -> Row:
    """(f) The same call again: nobody is mailed twice, and the answer says so."""
    intent = stage.agent.wait(_ask(stage))
    expected = "27 already sent, 1 being confirmed by a person, 2 to be corrected"
    return _row(stage, "the reminders, again", intent, expected)


def _ask(stage: Stage) -> dict[str, Any]:
    return stage.agent.ask("c-mails", "send_checkin_reminders", {"property": HOTEL, "date": DAY})


def _row(stage: Stage, scene: str, intent: dict[str, Any], expected: str) -> Row:
    """28 mails arrived, whatever we know of the one; each in another mailbox."""
    said, delivered = (intent["reminders"] or {}).get("said"), stage.post.delivered()
    stage.say(f"the agent is told: {said}")
    wrong = []
    if said != f"30 arrivals: {expected}.":
        wrong.append(f"told {said}")
    if len(delivered) != 28 or len(set(delivered)) != 28:
        wrong.append(f"{len(delivered)} mails to {len(set(delivered))} guests")
    return Row(
        scene, str(intent["outcome"] or intent["state"]), stage.post.attempts(), len(delivered), ", ".join(wrong)
    )
