"""Golden vectors: a release that changes a key changes this file, and would book again what is booked already."""

import datetime as dt
import hashlib
import hmac
import re
import unicodedata
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking import keys
from booking.arguments import BookRooms, Stay
from tests.booking.build import arguments, hotels, stay

SECRET = b"golden secret, 32 bytes in length"


def named(name: str) -> dict[str, Any]:
    return {"guest": {"name": name, "email": "ada@example.com"}}


#: changes to the plain stay, base key, item key of the first one, its reference, fingerprint of the stay
GOLDEN: list[tuple[dict[str, Any], str, str, str, str]] = [
    (
        {},
        "343d3451960e79ea2ae91e05dcb21949",
        "c-77:booking:9ad91cac4bed7bef686a4709a522a196:0",
        "rk5ydklaiu6sihztpp77",
        "a0ec65847cfd942124e0711d734edb85",
    ),
    (
        named("Jörg Müller-Straße"),
        "9d0354492eeee17141f2b208aa140f49",
        "c-77:booking:3db593ce4bb02ae0f0834956af886a08:0",
        "rkfarolb54mntdr7crlz",
        "7d503d6f206bfbf2c79c52b2fcb08123",
    ),
    (
        named("\U0001f469\u200d\U0001f680 Ada"),
        "b4d130d44bc339cbae20778a128b5b34",
        "c-77:booking:cd4005109d327058ef968fa11d311d14:0",
        "rkejlzrg6e6avc3yeizx",
        "2c0872749bc801795ba02582bbfc0a23",
    ),
    (
        named("أحمد علي"),
        "2985fea8d343a9c1b43e8def24d1fc38",
        "c-77:booking:aa50d478a898af31d7699a1896773f37:0",
        "rklm2ydjlmw2iu47op7l",
        "7886f149ad629805ff4eda11ee010fe9",
    ),
    (
        named("李小龍"),
        "97feb5b25cb38d0638fbe95d3b186751",
        "c-77:booking:d41075988e7eb00ca5c0a17cc89bdb2e:0",
        "rkifiut7huvuj4c466r2",
        "0315e2af2606960c18f32bed95957f6e",
    ),
    (
        {"room_type": "suite"},
        "cf7d6f920f71e2f35191f22fcb3b896f",
        "c-77:booking:e57429ad4ff273231751ef0c41532a89:0",
        "rkak6hwcj35aiozti5xd",
        "eb8ddaced2000fd33630dc3a2cdd8808",
    ),
    (
        {"property": "AKL"},
        "c5301c5d278bad7bcad4f7e1951f57fa",
        "c-77:booking:a49ac64f329db9bb6bbd6f44e4f8437a:0",
        "rkaq2wtc2vi3jka6g35x",
        "cf6d5ba172e055e16b2c9a06be982896",
    ),
    (
        {"check_out": "2026-12-27"},
        "b483bbff759c9936b06efab78d08b91f",
        "c-77:booking:25a7b56bc177f2be8ab0af5704b7819a:0",
        "rkujktmgm3z7suis32dy",
        "c1c906f29cb223f3a3da7f9e18f17056",
    ),
]


def base_of(asked: Stay) -> str:
    return keys.base_key(SECRET, "c-77", "booking", keys.booking_identity(asked))


def first_key(asked: Stay) -> str:
    return keys.item_key(SECRET, "c-77", "booking", base_of(asked), 0, 0)


@pytest.mark.parametrize(("changes", "base", "key", "reference", "fingerprint"), GOLDEN)
def test_keys_are_what_they_were(
    changes: dict[str, Any], base: str, key: str, reference: str, fingerprint: str
) -> None:
    asked = stay(**changes)
    assert base_of(asked) == base
    assert first_key(asked) == key
    assert keys.reference_of(SECRET, key) == reference
    assert keys.fingerprint(SECRET, keys.booking_values(asked)) == fingerprint


@pytest.mark.parametrize(
    ("k", "epoch", "key", "reference"),
    [
        (0, 0, "c-77:booking:9ad91cac4bed7bef686a4709a522a196:0", "rk5ydklaiu6sihztpp77"),
        (1, 0, "c-77:booking:b709089bf23b2525dce24697865dc45a:0", "rk3xolu3q4ygajk4wazq"),
        (0, 1, "c-77:booking:9ad91cac4bed7bef686a4709a522a196:1", "rknlbsqidlu3zbkrwo72"),
        (999, 12, "c-77:booking:0c865fb3a54cf32a6e72fd0d032f5926:12", "rkxsu7bw2lj2raguo74o"),
    ],
)
def test_each_identical_room_and_each_epoch_has_its_own_key(k: int, epoch: int, key: str, reference: str) -> None:
    assert keys.item_key(SECRET, "c-77", "booking", base_of(stay()), k, epoch) == key
    assert keys.reference_of(SECRET, key) == reference


def test_intent_keys_are_what_they_were() -> None:
    one, two = keys.booking_identity(stay()), keys.booking_identity(stay(room_type="suite"))
    single = "c-77:create_booking:b8083ee68b7c9c3de39fbd8382b374c5"
    assert keys.intent_key(SECRET, "c-77", "create_booking", [one]) == single
    batch = "c-77:book_rooms:8b2fec6815b5fc30a23237bfb36e7b50"
    assert keys.intent_key(SECRET, "c-77", "book_rooms", [one, two]) == batch


def test_a_fingerprint_covers_every_argument() -> None:
    price = {"amount": "180.50", "currency": "EUR"}
    full = {"adults": 1, "children": 2, "quote_id": "q-1", "rate_plan": "flex", "max_price": price, "notes": "late"}
    assert keys.fingerprint(SECRET, stay(**full)) == "a8057b1bc68284bcd7cb3a0ce66a44c3"
    prints = {keys.fingerprint(SECRET, stay(**{field: value})) for field, value in full.items()}
    assert len(prints | {keys.fingerprint(SECRET, stay())}) == len(full) + 1


def test_a_vector_made_by_hand() -> None:
    """The recipe, spelled out: HMAC-SHA256 over purpose, NUL and RFC 8785 JSON."""
    said = (
        b'base\0["c-77","booking",{"check_in":"2026-12-24","check_out":"2026-12-26","guest":"ada byron",'
        b'"property":"BER","room_type":"double"}]'
    )
    assert base_of(stay()) == hmac.new(SECRET, said, hashlib.sha256).hexdigest()[:32]


@pytest.mark.parametrize("name", ["JÖRG MÜLLER-STRASSE", "jörg müller-straße", "  Jörg Müller-Straße "])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_case_blanks_and_unicode_form_of_the_name_make_no_other_booking(name: str, form: Any) -> None:
    assert base_of(stay(**named(unicodedata.normalize(form, name)))) == GOLDEN[1][1]


@pytest.mark.parametrize(
    "change",
    [
        {"adults": 1},
        {"children": 2},
        {"notes": "late"},
        {"rate_plan": "flex"},
        {"quote_id": "q-1"},
        {"max_price": {"amount": 1, "currency": "EUR"}},
        {"guest": {"name": "Ada Byron", "email": "other@example.com", "phone": "+49 30 1234"}},
    ],
)
def test_price_rate_notes_and_address_are_no_part_of_what_makes_it_the_same_booking(change: dict[str, Any]) -> None:
    assert base_of(stay(**change)) == base_of(stay())


@pytest.mark.parametrize(
    "change", [{"check_in": "2026-12-23"}, {"check_out": "2026-12-25"}, named("Ada Byroni"), {"property": "HNL"}]
)
def test_another_stay_hotel_or_guest_is_another_booking(change: dict[str, Any]) -> None:
    assert base_of(stay(**change)) != base_of(stay())


def test_another_tenant_conversation_or_effect_is_another_key() -> None:
    identity = keys.booking_identity(stay())
    made = {
        keys.base_key(secret, scope, effect, identity)
        for secret in (SECRET, b"another")
        for scope in ("c-77", "c-78")
        for effect in ("booking", "refund")
    }
    assert len(made) == 8


def test_one_room_is_the_same_effect_in_either_tool() -> None:
    batch = BookRooms.model_validate({**arguments(), "rooms": [{}]}, context=hotels())
    (room,) = batch.rooms
    assert (first_key(room), keys.fingerprint(SECRET, room)) == (first_key(stay()), keys.fingerprint(SECRET, stay()))


# References.


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40).filter(lambda text: not any(0xD800 <= ord(char) < 0xE000 for char in text)))
def test_a_reference_is_always_twenty_characters_any_system_takes(key: str) -> None:
    assert re.fullmatch("rk[a-z2-7]{18}", keys.reference_of(SECRET, key))


def test_no_reference_is_the_beginning_of_another() -> None:
    made = {keys.reference_of(SECRET, f"c-{n}:booking:x:{epoch}") for n in range(500) for epoch in (0, 1, 10)}
    assert len(made) == 1500
    assert {len(reference) for reference in made} == {20}


# Canonical JSON.


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": 1e0}, {"a": 1}),
        ({"a": None}, {}),
        ({"a": Decimal("10.10")}, {"a": Decimal("10.1")}),
        ({"a": Decimal(100)}, {"a": Decimal("1E+2")}),
        ({"a": Decimal("-0.00")}, {"a": Decimal(0)}),
        ({"a": dt.date(2026, 12, 24)}, {"a": "2026-12-24"}),
        ([1, (2, 3)], (1, [2, 3])),
    ],
)
def test_what_means_the_same_is_the_same(one: Any, other: Any) -> None:
    assert keys.canonical(one) == keys.canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": "1"}),
        ({"a": True}, {"a": 1}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": ""}, {}),
        ({"a": "10.10"}, {"a": "10.1"}),
        ({"a": "ü"}, {"a": "u\u0308"}),
    ],
)
def test_what_means_another_thing_is_another(one: Any, other: Any) -> None:
    assert keys.canonical(one) != keys.canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"adults": 2}, {}),
        ({"adults": 2}, {"adults": 2.0}),
        ({"adults": 2}, {"adults": "2"}),
        ({"notes": None}, {}),
        ({"max_price": {"amount": "10.10", "currency": "EUR"}}, {"max_price": {"currency": "EUR", "amount": 10.1}}),
        ({"max_price": {"amount": "10", "currency": "EUR"}}, {"max_price": {"amount": "1e1", "currency": "EUR"}}),
        (named("M\u00fcller"), named("Mu\u0308ller ")),
    ],
)
def test_arguments_that_mean_the_same_have_one_fingerprint(one: dict[str, Any], other: dict[str, Any]) -> None:
    reordered = dict(reversed(arguments(**other).items()))
    assert keys.fingerprint(SECRET, stay(**one)) == keys.fingerprint(SECRET, stay(**reordered))


# Bearers and ids.


def test_only_the_hash_of_a_bearer_is_kept() -> None:
    digest = "14ae315d80feaf35ddfa4664ed44b0875bc0697ea2f215e2413eaaee7cdedcdf"
    assert keys.bearer_hash("rk_x").hex() == digest
    assert len({keys.new_bearer() for _ in range(100)}) == 100


def test_fresh_ids_are_unlike_and_ordered_by_time() -> None:
    made = [keys.new_id("int") for _ in range(200)]
    assert len(set(made)) == 200
    assert [one[:16] for one in made] == sorted(one[:16] for one in made)
    assert all(re.fullmatch("int_[0-9a-f]{28}", one) for one in made)


@pytest.mark.parametrize(
    "name",
    ["ada b", "ADA B", "Ada  B", "Ada\u00a0B", "Ada\u2003B", "\uff21da B", "\ufeffAda B", "Ada\u200b B", " Ada B "],
)
def test_a_name_typed_again_is_the_same_guest(name: str) -> None:
    plain, again = stay(**named("Ada B")), stay(**named(name))
    assert base_of(again) == base_of(plain)
    assert keys.booking_values(again) == keys.booking_values(plain)


def test_another_name_is_another_guest() -> None:
    assert len({base_of(stay(**named(name))) for name in ("Ada B", "AdaB", "Ada C", "Ada B.")}) == 4
