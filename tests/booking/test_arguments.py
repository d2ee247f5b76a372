"""What a model may send, and what it is told about the rest."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from booking.arguments import MAX_ROOMS, BookRooms, CreateBooking, Submit
from tests.booking.build import arguments, hotels, stay

ADA = {"name": "Ada Byron", "email": "ada@example.com"}


def refused(model: type[BaseModel], sent: Any, now: dt.datetime | None = None) -> str:
    """What is wrong with `sent`, as `place: message` lines."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate(sent, context=hotels(now) if now else hotels())
    return "\n".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in caught.value.errors())


def test_a_plain_request_is_taken_as_it_is() -> None:
    made = stay(notes="late arrival", max_price={"amount": "180.00", "currency": "EUR"})
    assert (made.check_in, made.check_out) == (dt.date(2026, 12, 24), dt.date(2026, 12, 26))
    assert (made.adults, made.children, made.quote_id) == (2, 0, None)
    assert made.max_price is not None
    assert made.max_price.amount == Decimal("180.00")


@pytest.mark.parametrize(
    "date",
    [
        1_767_225_600,
        1_767_225_600.0,
        "1767225600",
        True,
        None,
        "2026-12-24T00:00:00Z",
        "2026-12-24T00:00:00+13:00",
        "2026-12-24 00:00",
        "24.12.2026",
        "12/24/2026",
        "2026-12-4",
        "20261224",
        " 2026-12-24",
        "2026-12-24\n",
        "\uff12\uff10\uff12\uff16-12-24",
        "tomorrow",
        "",
        dt.datetime(2026, 12, 24, tzinfo=dt.UTC),
        ["2026-12-24"],
    ],
)
@pytest.mark.parametrize("field", ["check_in", "check_out"])
def test_only_a_plain_calendar_date_is_a_date(field: str, date: Any) -> None:
    assert f"{field}: Value error, must be a date in the form YYYY-MM-DD" in refused(
        CreateBooking, arguments(**{field: date})
    )


@pytest.mark.parametrize("date", ["2026-02-30", "2027-02-29", "2026-13-01", "0000-00-00"])
def test_a_day_that_the_calendar_lacks_is_no_date(date: str) -> None:
    assert refused(CreateBooking, arguments(check_out=date)).startswith("check_out: ")


@pytest.mark.parametrize("check_out", ["2026-12-24", "2026-12-23"])
def test_departure_must_come_after_arrival(check_out: str) -> None:
    assert "check_out: must be after check_in" in refused(CreateBooking, arguments(check_out=check_out))


def test_a_stay_has_at_most_a_year_of_nights() -> None:
    assert stay(check_in="2026-12-24", check_out="2027-12-24").check_out == dt.date(2027, 12, 24)
    assert "at most 365 nights" in refused(CreateBooking, arguments(check_out="2027-12-25"))


@pytest.mark.parametrize(
    ("hotel", "now", "today"),
    [
        # Auckland is 13 hours ahead in summer, Honolulu 10 behind.
        ("AKL", "2026-12-24T10:59:59", "2026-12-24"),
        ("AKL", "2026-12-24T11:00:00", "2026-12-25"),
        ("HNL", "2026-12-25T09:59:59", "2026-12-24"),
        ("HNL", "2026-12-25T10:00:00", "2026-12-25"),
        ("BER", "2026-12-24T22:59:59", "2026-12-24"),
        ("BER", "2026-12-24T23:00:00", "2026-12-25"),
        # Central European Summer Time begins in the night of the 29th.
        ("BER", "2026-03-28T22:59:59", "2026-03-28"),
        ("BER", "2026-03-29T22:00:00", "2026-03-30"),
    ],
)
def test_today_is_the_hotels_own_date(hotel: str, now: str, today: str) -> None:
    moment = dt.datetime.fromisoformat(now).replace(tzinfo=dt.UTC)
    first, yesterday = dt.date.fromisoformat(today), dt.date.fromisoformat(today) - dt.timedelta(days=1)
    asked = {"property": hotel, "check_out": str(first + dt.timedelta(days=2))}
    made = CreateBooking.model_validate(arguments(**asked, check_in=today), context=hotels(moment))
    assert made.check_in == first
    told = refused(CreateBooking, arguments(**asked, check_in=str(yesterday)), moment)
    assert f"check_in: must not be in the past; today is {today} at the hotel" in told


def test_a_date_years_ahead_is_a_typing_mistake() -> None:
    assert "within 1100 days" in refused(CreateBooking, arguments(check_in="2062-12-24", check_out="2062-12-26"))


def test_an_unknown_hotel_is_told_with_the_known_ones() -> None:
    assert "property: Value error, must be one of AKL, BER, HNL" in refused(CreateBooking, arguments(property="XYZ"))


BAD_TEXT = [
    "",
    "   ",
    "a\0b",
    "a\x07b",
    "a\nb",
    "a\tb",
    "a\r\nb",
    "a\u2028b",
    "a\u2029b",
    "a\x85b",
    "\ud800",
    "b\udfff",
]


@pytest.mark.parametrize("text", [*BAD_TEXT, "x" * 201, 7, None, ["Ada"]])
def test_a_name_is_one_usable_line(text: Any) -> None:
    assert refused(CreateBooking, arguments(guest=ADA | {"name": text})).startswith("guest.name: ")


@pytest.mark.parametrize("field", ["quote_id", "rate_plan"])
@pytest.mark.parametrize("text", BAD_TEXT)
def test_so_is_every_other_line(field: str, text: str) -> None:
    assert refused(CreateBooking, arguments(**{field: text})).startswith(f"{field}: ")


@pytest.mark.parametrize("field", ["property", "room_type"])
@pytest.mark.parametrize("text", [*BAD_TEXT, "a b", "a/b", "ä", "-a", "double\n", "x" * 129, 7])
def test_an_id_is_short_and_printable(field: str, text: Any) -> None:
    assert refused(CreateBooking, arguments(**{field: text})).startswith(f"{field}: ")


@pytest.mark.parametrize("notes", ["a\0b", "\ud83d", "x" * 2001, "\n\n"])
def test_notes_may_have_lines_but_nothing_that_databases_choke_on(notes: str) -> None:
    assert stay(notes="late\narrival").notes == "late\narrival"
    assert refused(CreateBooking, arguments(notes=notes)).startswith("notes: ")


@pytest.mark.parametrize("email", ["", "ada", "ada@", "a b@example.com", "ada@example.com\n bcc: x", "a\0@example.com"])
def test_an_unusable_mail_address_is_refused(email: str) -> None:
    assert refused(CreateBooking, arguments(guest=ADA | {"email": email})).startswith("guest.email: ")


@pytest.mark.parametrize("phone", ["abc", "12", "+49 30 1234567 ext. 8", "1" * 31, "+49\n30"])
def test_an_unusable_phone_number_is_refused(phone: str) -> None:
    assert stay(guest=ADA | {"phone": "+49 (30) 123-456"}).guest.phone == "+49 (30) 123-456"
    assert refused(CreateBooking, arguments(guest=ADA | {"phone": phone})).startswith("guest.phone: ")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("adults", bad) for bad in (0, 21, 2.5, "two", True, None)),
        *(("children", bad) for bad in (-1, 21, False)),
    ],
)
def test_guests_are_counted_in_whole_people(field: str, value: Any) -> None:
    assert refused(CreateBooking, arguments(**{field: value})).startswith(f"{field}: ")


@pytest.mark.parametrize(
    "price",
    [
        {"amount": "-1", "currency": "EUR"},
        {"amount": "1.001", "currency": "EUR"},
        {"amount": "NaN", "currency": "EUR"},
        {"amount": "Infinity", "currency": "EUR"},
        {"amount": "1" * 13, "currency": "EUR"},
        {"amount": "30,120", "currency": "EUR"},
        {"amount": "180.00", "currency": "eur"},
        {"amount": "180.00"},
        180,
    ],
)
def test_an_unusable_price_is_refused(price: Any) -> None:
    assert refused(CreateBooking, arguments(max_price=price)).startswith("max_price")


@pytest.mark.parametrize("place", ["", "guest", "max_price"])
def test_an_unknown_field_is_a_mistake_and_not_ignored(place: str) -> None:
    sent = arguments(max_price={"amount": "180.00", "currency": "EUR"})
    (sent[place] if place else sent)["checkin"] = "2026-12-24"
    if place == "guest":
        sent["guest"] = dict(sent["guest"])
    assert f"{place}{'.' if place else ''}checkin: Extra inputs are not permitted" in refused(CreateBooking, sent)


# book_rooms.


def rooms(count: int) -> dict[str, Any]:
    shared = arguments()
    del shared["room_type"]
    return shared | {"rooms": [{"room_type": "double"}] * count}


def test_shared_defaults_count_for_every_room_that_does_not_say_otherwise() -> None:
    sent = rooms(1) | {"adults": 1}
    sent["rooms"] = [{"room_type": "double"}, {"room_type": "suite", "adults": 2, "check_out": "2026-12-28"}]
    made = BookRooms.model_validate(sent, context=hotels()).rooms
    assert [(room.room_type, room.adults, str(room.check_out)) for room in made] == [
        ("double", 1, "2026-12-26"),
        ("suite", 2, "2026-12-28"),
    ]
    assert {room.guest.name for room in made} == {"Ada Byron"}


def test_a_room_given_alone_is_the_same_stay_as_one_in_a_batch() -> None:
    (made,) = BookRooms.model_validate(rooms(1), context=hotels()).rooms
    assert made.model_dump() == stay().model_dump()


def test_the_callers_own_arguments_are_left_alone() -> None:
    sent = rooms(2)
    BookRooms.model_validate(sent, context=hotels())
    assert sent == rooms(2)


@pytest.mark.parametrize("count", [1, MAX_ROOMS])
def test_a_batch_may_have_up_to_a_thousand_rooms(count: int) -> None:
    assert len(BookRooms.model_validate(rooms(count), context=hotels()).rooms) == count


@pytest.mark.parametrize("count", [0, MAX_ROOMS + 1])
def test_no_room_and_more_than_a_thousand_are_refused(count: int) -> None:
    assert refused(BookRooms, rooms(count)).startswith("rooms: List should have at")


@pytest.mark.parametrize("sent", [{}, {"rooms": None}, {"rooms": {}}, {"rooms": ["double"]}, {"rooms": [None]}, [], 7])
def test_a_batch_of_another_shape_is_refused(sent: Any) -> None:
    assert refused(BookRooms, sent)


def test_a_wrong_room_is_named_by_its_place() -> None:
    sent = rooms(2)
    sent["rooms"] = [{"room_type": "double"}, {"room_type": "double", "check_in": "2026-12-27"}]
    assert refused(BookRooms, sent).startswith("rooms.1: Value error, check_out: must be after check_in")


def test_a_misspelt_shared_default_is_a_mistake() -> None:
    assert "checkin: Extra inputs are not permitted" in refused(BookRooms, rooms(1) | {"checkin": "2026-12-24"})


@pytest.mark.parametrize("conversation", ["", "a b", "a\0", "c/7", "x" * 129, None, 7])
def test_a_conversation_id_fits_into_a_url(conversation: Any) -> None:
    body = {"tool": "create_booking", "arguments": {}, "conversation_id": "c-77"}
    assert Submit.model_validate(body).conversation_id == "c-77"
    assert refused(Submit, body | {"conversation_id": conversation}).startswith("conversation_id: ")
