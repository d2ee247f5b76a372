"""Servers that break in one step: before the final dot nothing was sent, after it nothing is known."""

import socket
import threading
from contextlib import closing

import pytest

from booking.errors import ErrorCode
from booking.outcomes import Done, Misconfigured, NotSent, Outcome, Rejected, Unknown
from providers.line import HttpLine, address_of
from tests.mail.mail_servers import SOUND, STEPS, Act, drop, hang, reset, say, standing, trickle
from tests.mail.sending import ADA, MESSAGE_ID, SHORT, hasty, message, send
from tests.providers.lines import in_time
from tests.waiting import eventually

BEFORE = STEPS[:3]


def outcome_of(does: dict[str, Act], seconds: float = SHORT) -> Outcome:
    with standing(does) as (url, _):
        return send(hasty(url, seconds=seconds))


def test_a_sound_server_is_told_what_the_protocol_wants_and_no_more() -> None:
    with standing() as (url, server):
        assert send(hasty(url)) == Done({"message_id": MESSAGE_ID})
    assert server.heard == [
        b"EHLO [127.0.0.1]\r\n",
        b"MAIL FROM:<stay@hotel-demo.com>\r\n",
        b"RCPT TO:<ada@lovelace.org>\r\n",
        b"DATA\r\n",
    ]
    assert server.messages == [message(hasty("smtp://x"))]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("end", [drop, reset])
def test_a_connection_that_is_lost(step: str, end: Act) -> None:
    outcome = outcome_of({step: end})
    assert isinstance(outcome, Unknown if step == "message" else NotSent)
    assert outcome.cause in ("closed without an answer", "connection reset")
    if isinstance(outcome, NotSent):
        assert outcome.code is ErrorCode.UNAVAILABLE


@pytest.mark.parametrize("step", STEPS)
def test_silence_ends_at_the_deadline(step: str) -> None:
    with in_time():
        outcome = outcome_of({step: hang})
    assert outcome == (Unknown if step == "message" else NotSent)("deadline passed")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("answer", [b"250-" + b"x" * 5000, b"250-x\r\n" * 500])
def test_a_trickled_answer_ends_at_the_deadline_of_the_whole(step: str, answer: bytes) -> None:
    with in_time():
        outcome = outcome_of({step: trickle(answer)})
    assert outcome == (Unknown if step == "message" else NotSent)("deadline passed")


def test_the_deadline_is_for_all_steps_together() -> None:
    slowly = {step: trickle(SOUND[step]) for step in STEPS}  # each within the deadline, all of them not
    with in_time(0.6):
        outcome = outcome_of({**slowly}, seconds=0.6)
    assert isinstance(outcome, NotSent | Unknown)
    assert outcome.cause == "deadline passed"


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "answer", [b"\r\n", b"HTTP/1.1 200 OK\r\n", b"99 x\r\n", b"250x\r\n", b"2500\r\n", b"250-a\r\n550 b\r\n", b"\xff\n"]
)
def test_what_is_not_smtp_is_no_answer(step: str, answer: bytes) -> None:
    assert outcome_of({step: say(answer)}) == (Unknown if step == "message" else NotSent)("the answer is not SMTP")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("answer", [b"250-" + b"x" * 200_000, b"250-x\r\n" * 20_000])
def test_an_endless_answer_is_cut(step: str, answer: bytes) -> None:
    outcome = outcome_of({step: say(answer)}, seconds=5)
    assert outcome == (Unknown if step == "message" else NotSent)("the answer is too large")


@pytest.mark.parametrize("answer", [b"250\r\n", b"250 ok\n", b"250-a\r\n250-b\r\n250 c\r\n", b"250 \xff\xfe\r\n"])
def test_odd_but_whole_answers_count(answer: bytes) -> None:
    assert outcome_of({"message": say(answer)}) == Done({"message_id": MESSAGE_ID})


@pytest.mark.parametrize("code", [200, 220, 251, 354])
def test_only_250_at_the_end_is_an_acceptance(code: int) -> None:
    assert outcome_of({"message": say(b"%d ok\r\n" % code)}) == Unknown(f"message {code}")


@pytest.mark.parametrize("step", BEFORE)
def test_an_answer_too_many_is_never_taken_for_the_next_one(step: str) -> None:
    twice = SOUND[step] * 2 if step != "DATA" else b"354 go on\r\n250 queued\r\n"
    outcome = outcome_of({step: say(twice)})
    assert isinstance(outcome, NotSent)
    assert outcome.cause == "the provider spoke before it was asked"


def test_an_early_answer_that_comes_while_the_message_is_sent_is_none_to_its_end() -> None:
    told = threading.Event()

    def early(connection: socket.socket, _stop: threading.Event) -> bool:
        connection.sendall(b"354 go on\r\n")
        connection.recv(10, socket.MSG_PEEK)  # the message has begun to come
        connection.sendall(b"250 queued\r\n")
        told.set()
        return True

    with standing({"DATA": early}) as (url, server), closing((mail := hasty(url)).connect()) as line:
        really_put = line.put

        def put(data: bytes) -> None:
            really_put(data)
            if len(data) > 200:  # the message: wait until its early answer is there
                assert told.wait(5)

        line.put = put  # type: ignore[method-assign]
        assert mail.send(line, message(mail)) == NotSent("the provider spoke before it was asked")
    assert server.messages == []


@pytest.mark.parametrize("goodbye", [b"421 4.4.2 timeout\r\n", b""])
def test_a_server_that_gives_up_the_idle_line_got_nothing(goodbye: bytes) -> None:
    went = threading.Event()

    def leave(connection: socket.socket, stop: threading.Event) -> bool:
        connection.sendall(SOUND["EHLO"])
        ready.wait(5)
        connection.sendall(goodbye)
        if not goodbye:
            connection.shutdown(socket.SHUT_WR)
        went.set()
        return hang(connection, stop)

    ready = threading.Event()
    with standing({"EHLO": leave}) as (url, server):
        mail = hasty(url)
        with closing(mail.connect()) as line:
            ready.set()
            assert went.wait(5)
            outcome = mail.send(line, message(mail))
        assert isinstance(outcome, NotSent)
        assert outcome.cause.startswith("the provider ")
        assert outcome.code is ErrorCode.UNAVAILABLE
        assert server.heard == [b"EHLO [127.0.0.1]\r\n"]


def test_a_server_that_never_reads_the_message_ends_at_the_deadline_and_got_no_end() -> None:
    ended = threading.Event()
    got: list[bytes] = []

    def deaf(connection: socket.socket, _stop: threading.Event) -> bool:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(SOUND["DATA"])
        ended.wait(10)
        try:
            while piece := connection.recv(1 << 20):
                got.append(piece[-10:])
        except ConnectionResetError:
            got.append(b"reset")
        return False

    with standing({"DATA": deaf}) as (url, _):
        mail = hasty(url)
        large = message(mail) + (b"x" * 998 + b"\r\n") * 6_000
        with closing(mail.connect()) as line, in_time(SHORT + 1):  # the megabytes take their time, too
            assert mail.send(line, large) == NotSent("deadline passed")
        ended.set()
        eventually(lambda: got and got[-1] == b"reset")
    assert not any(piece.endswith(b"\r\n.\r\n") for piece in got)


def test_the_final_dot_is_sent_by_itself_after_all_else() -> None:
    sent: list[bytes] = []
    with standing() as (url, _):
        mail = hasty(url)
        with closing(mail.connect()) as line:
            really_put_some = line.put_some

            def put_some(data: bytes) -> int:
                sent.append(data)
                return really_put_some(data)

            line.put_some = put_some  # type: ignore[method-assign]
            assert isinstance(mail.send(line, message(mail)), Done)
    assert sent[-1] == b".\r\n"
    assert sent[-2].endswith(b"\r\n")
    assert not sent[-2].endswith(b"\r\n.\r\n")


@pytest.mark.parametrize("code", [500, 530, 550, 553, 554])
def test_a_sender_that_is_refused_is_our_mistake_and_perhaps_not_for_good(code: int) -> None:
    assert outcome_of({"MAIL": say(b"%d 5.7.1 no\r\n" % code)}) == Misconfigured(f"MAIL {code} 5.7.1")


def test_a_log_in_that_is_missing_is_our_mistake_and_not_the_guests() -> None:
    assert outcome_of({"RCPT": say(b"530 5.7.0 log in first\r\n")}) == Misconfigured("RCPT 530 5.7.0")


def test_a_sender_that_is_not_taken_now() -> None:
    assert outcome_of({"MAIL": say(b"421 4.3.2 shutting down\r\n")}) == NotSent("MAIL 421 4.3.2")
    assert outcome_of({"MAIL": say(b"452 4.3.1 full\r\n")}) == NotSent("MAIL 452 4.3.1", ErrorCode.RATE_LIMITED)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (b"451 later\r\n", NotSent("DATA 451", ErrorCode.RATE_LIMITED)),
        (b"554 no\r\n", Rejected("mail_refused", "DATA 554", {"problem": "the mail server refuses it (554)"})),
        (b"250 ok\r\n", NotSent("DATA 250")),
    ],
)
def test_a_message_that_is_not_wanted_is_not_begun(answer: bytes, outcome: Outcome) -> None:
    with standing({"DATA": say(answer)}) as (url, server):
        assert send(hasty(url)) == outcome
    assert server.messages == []
    assert server.heard[-1] == b"DATA\r\n"


def test_without_smtputf8_a_name_of_another_script_has_no_mail() -> None:
    with standing({"EHLO": say(b"250 mx\r\n")}) as (url, server):
        outcome = send(hasty(url), to="用户@lovelace.org")
        assert isinstance(outcome, Rejected)
        assert outcome.row == "no_address"
        assert outcome.values["problem"].isascii()
        assert send(hasty(url), to="ada@bücher.example") == Done({"message_id": MESSAGE_ID}), "a domain needs none"
    assert [line for line in server.heard if line.startswith(b"RCPT")] == [b"RCPT TO:<ada@xn--bcher-kva.example>\r\n"]


def test_with_smtputf8_the_server_is_told_that_it_is_needed() -> None:
    with standing() as (url, server):
        assert isinstance(send(hasty(url), to="用户@lovelace.org"), Done)
    assert b"MAIL FROM:<stay@hotel-demo.com> SMTPUTF8 BODY=8BITMIME\r\n" in server.heard
    assert "RCPT TO:<用户@lovelace.org>\r\n".encode() in server.heard


def test_a_refusal_of_many_lines_is_told_as_one() -> None:
    many = b"550-5.1.1 No such mailbox.\r\n550-5.1.1  Ask ada@lovelace.org\r\n550 5.1.1 again.\r\n"
    outcome = outcome_of({"RCPT": say(many)})
    assert isinstance(outcome, Rejected)
    assert outcome.cause == "RCPT 550 5.1.1"
    assert outcome.values == {"problem": "the mail server refuses it (550 5.1.1)"}
    assert ADA not in repr(outcome)


def test_a_line_of_another_kind_is_a_mistake_of_ours() -> None:
    mail = hasty("smtp://mx.example")
    with socket.socket() as sock, pytest.raises(TypeError, match="must come from connect"):
        mail.send(HttpLine(sock, address_of("http://x")), message(mail))


def test_one_line_carries_one_message() -> None:
    with standing() as (url, server):
        mail = hasty(url)
        with closing(mail.connect()) as line:
            assert isinstance(mail.send(line, message(mail)), Done)
            assert isinstance(mail.send(line, message(mail)), NotSent)
        assert len(server.messages) == server.connections == 1
