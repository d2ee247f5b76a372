"""The reference adapter against the simulator: what is sent, what comes of it, what is declared."""

import logging
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from pydantic import SecretStr

from booking.capabilities import Capabilities, ReferenceMatch
from booking.outcomes import Done, Misconfigured, NotSent, Rejected, Unknown
from booking.settings import Mode, Provider
from providers.ports import Pms
from providers.reference import capabilities_of, reference_pms
from tests.pms import Pms as Simulator
from tests.pms import start_simulator
from tests.providers.servers import serving

TOKEN = "s3cret-t0ken"
_numbers = count()


@pytest.fixture(scope="module")
def running() -> Iterator[Simulator]:
    with start_simulator(token=TOKEN) as simulator:
        yield simulator


@pytest.fixture
def simulator(running: Simulator) -> Simulator:
    running.clear_faults()
    running.reset()
    running.clear_ledger()
    return running


def adapter(simulator: Simulator, **settings: Any) -> Pms:
    return reference_pms(Provider(**{"token": SecretStr(TOKEN), "write_deadline": 0.5} | settings), simulator.url)


def stay(**change: Any) -> dict[str, Any]:
    return {
        "property": "BER",
        "room_type": "double",
        "check_in": "2027-01-10",
        "check_out": "2027-01-12",
        "guest": {"name": "Ada Lovelace", "email": "ada@example.com", "phone": None},
        "adults": 2,
        "children": 0,
        "notes": None,
    } | change


def new_reference() -> str:
    return f"rk{next(_numbers):018d}"


def create(pms: Pms, reference: str, key: str = "c-1:booking:1", **change: Any) -> Any:
    return pms.create_booking(pms.connect(), pms.booking_body(stay(**change), reference), key)


def test_a_booking_is_made_and_found_again(simulator: Simulator) -> None:
    pms, reference = adapter(simulator), new_reference()
    made = create(pms, reference)
    assert isinstance(made, Done)
    found = pms.find_by_reference(pms.connect(), reference)
    assert isinstance(found, list)
    assert [booking.booking_id for booking in found] == [made.result["booking_id"]]
    assert pms.find_by_reference(pms.connect(), new_reference()) == []


def test_the_same_key_and_bytes_give_the_same_booking(simulator: Simulator) -> None:
    pms, reference = adapter(simulator), new_reference()
    assert create(pms, reference) == create(pms, reference)
    assert len(simulator.effects(reference=reference)) == 1


@pytest.mark.parametrize(("mode", "key"), [(Mode.KEYED, "k-1"), (Mode.LOOKUP_ONLY, None), (Mode.BLIND, None)])
def test_the_key_is_sent_only_where_it_is_honoured(simulator: Simulator, mode: Mode, key: str | None) -> None:
    reference = new_reference()
    create(adapter(simulator, mode=mode), reference, "k-1")
    assert [call["key"] for call in simulator.ledger(reference=reference)] == [key]


def test_the_body_is_compact_ascii_in_a_fixed_order() -> None:
    pms = reference_pms(Provider(), "http://127.0.0.1:1")
    asked = stay(guest={"phone": "+49 30 1", "email": "z@example.com", "name": "Zoë"}, notes="late", additional=True)
    assert pms.booking_body(dict(reversed(asked.items())), "rk1") == (
        b'{"property":"BER","room_type":"double","check_in":"2027-01-10","check_out":"2027-01-12",'
        b'"guest":{"name":"Zo\\u00eb","email":"z@example.com","phone":"+49 30 1"},"adults":2,"children":0,'
        b'"reference":"rk1","notes":"late"}'
    )


@pytest.mark.parametrize(
    ("change", "row", "values"),
    [
        ({"room_type": "suite", "adults": 9}, "refused_argument", {"field": "adults"}),
        ({"property": "XXX"}, "refused_argument", {"field": "property"}),
        ({"max_price": {"amount": "1.00", "currency": "EUR"}}, "price_changed", {"price": "280.00 EUR"}),
    ],
)
def test_a_refusal_names_its_row(simulator: Simulator, change: Any, row: str, values: dict[str, str]) -> None:
    outcome = create(adapter(simulator), new_reference(), **change)
    assert isinstance(outcome, Rejected)
    assert outcome.row == row
    assert outcome.values.items() >= values.items()


def test_sold_out_is_a_refusal(simulator: Simulator) -> None:
    simulator.set_rooms("BER", "double", 0)
    outcome = create(adapter(simulator), new_reference())
    assert isinstance(outcome, Rejected)
    assert outcome.row == "sold_out"


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "commit_then_timeout"},
        {"kind": "reset_after_commit"},
        {"kind": "trickle", "part": "both"},
        {"kind": "truncated"},
        {"kind": "big"},
        {"kind": "without_id"},
        {"kind": "html", "when": "after"},
        {"kind": "status", "status": 503, "when": "after"},
        {"kind": "ok_with_error", "when": "after"},
    ],
    ids=lambda fault: fault["kind"],
)
def test_a_write_whose_answer_is_lost_is_unknown_and_the_lookup_finds_it(simulator: Simulator, fault: Any) -> None:
    pms, reference = adapter(simulator), new_reference()
    simulator.fault(**fault, match={"operation": "create_booking"})
    assert isinstance(create(pms, reference), Unknown)
    found = pms.find_by_reference(pms.connect(), reference)
    assert isinstance(found, list)
    assert len(found) == 1
    assert len(simulator.ledger(reference=reference, method="POST")) == 1  # nothing below repeats a call


def test_a_redirect_is_not_followed(simulator: Simulator) -> None:
    reference = new_reference()
    simulator.fault(kind="redirect", location=f"{simulator.url}/v1/bookings", match={"operation": "create_booking"})
    assert isinstance(create(adapter(simulator), reference), Unknown)
    assert len(simulator.ledger(reference=reference)) == 1


def test_case_54_a_429_carries_the_wait(simulator: Simulator) -> None:
    simulator.fault(kind="rate_limited", retry_after="3")
    outcome = create(adapter(simulator), new_reference())
    assert isinstance(outcome, NotSent)
    assert outcome.retry_after == 3


def test_a_lookup_that_fails_is_not_empty(simulator: Simulator) -> None:
    pms = adapter(simulator, read_deadline=0.5)
    for fault in ({"kind": "status", "status": 503}, {"kind": "reset_before_commit"}, {"kind": "trickle"}):
        simulator.fault(**fault)
        assert isinstance(pms.find_by_reference(pms.connect(), "rk1"), Unknown)
        simulator.clear_faults()


def test_a_wrong_token_is_our_mistake(simulator: Simulator) -> None:
    pms = adapter(simulator, token=SecretStr("wrong"))
    assert isinstance(create(pms, new_reference()), Misconfigured)
    assert isinstance(pms.find_by_reference(pms.connect(), "rk1"), Misconfigured)


def test_case_56_a_line_closed_while_idle_sent_nothing() -> None:
    gone = threading.Event()

    def hang_up(connection: socket.socket, _stop: threading.Event) -> None:
        connection.shutdown(socket.SHUT_WR)
        gone.set()
        connection.recv(1)

    with serving(hang_up) as server:
        pms = reference_pms(Provider(), server.url)
        line = pms.connect()
        assert gone.wait(5)
        assert isinstance(pms.create_booking(line, pms.booking_body(stay(), "rk1"), "k"), NotSent)


def test_nothing_of_guest_or_token_is_logged_or_shown(simulator: Simulator, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    pms = adapter(simulator)
    create(pms, new_reference())
    refused = create(pms, new_reference(), property="XXX")
    shown = caplog.text + repr(pms) + repr(refused)
    for secret in (TOKEN, "Ada", "ada@example.com"):
        assert secret not in shown


@pytest.mark.parametrize("token", ["", "a\r\nb: c", "naïve", " padded"])
def test_an_unusable_token_is_refused_at_the_start_and_not_repeated(token: str) -> None:
    with pytest.raises(ValueError, match="token must") as raised:
        reference_pms(Provider(token=SecretStr(token)), "http://127.0.0.1:1")
    assert not token or token not in str(raised.value)


def test_an_unusable_url_is_refused_at_the_start() -> None:
    with pytest.raises(ValueError, match="url"):
        reference_pms(Provider(), "http://")


def test_each_mode_declares_what_it_can_do() -> None:
    keyed = Capabilities(
        keyed=frozenset({"booking", "change", "cancel", "refund"}),
        key_life=timedelta(hours=24),
        key_locks=True,
        key_survives_errors=True,
        reference_match=ReferenceMatch.EXACT,
        absence_provable=True,
        shows=frozenset({"change", "cancel"}),
    )
    lookup_only = Capabilities(
        reference_match=ReferenceMatch.EXACT, absence_provable=True, shows=frozenset({"change", "cancel"})
    )
    assert capabilities_of(Provider()) == keyed
    assert capabilities_of(Provider(mode=Mode.LOOKUP_ONLY)) == lookup_only
    assert capabilities_of(Provider(mode=Mode.BLIND)) == Capabilities(shows=lookup_only.shows)
    assert capabilities_of(Provider(absence_provable=False)) == replace(keyed, absence_provable=False)
    assert capabilities_of(Provider(settle_time=7, read_deadline=1)).settle_time == timedelta(seconds=7)
