"""Names in any script, and names that are none: they stay text, on their line, in their direction."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from providers.ports import Letter
from tasks.operations.letters.foreign import isolated, on_one_line
from tasks.operations.letters.sentences import SENTENCES
from tests.letters.build import Page, letter, read

FSI, PDI = "\u2068", "\u2069"
#: What is nasty in HTML, headers, format strings, and for the direction of a line.
NASTY = [
    *("<script>alert(1)</script>", "</bdi>", "</title>", "<!--", "-->", "<![CDATA[", "&lt;", "&#60;", "&", "<", '"'),
    *("'", "{guest}", "{0}", "{", "}", "%s", "\r\n", "\r\nBcc: x@y.de", "\n", "\0", "\x85", "\u2028", "\u2029"),
    *("\u202e", "\u2066", "\u2067", FSI, PDI, "\u200f", "\ud800", "u\u0308", "\u0308"),
    *("👩\u200d👧", "أحمد", "שרה", "李"),
]
anything = st.lists(st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=()), max_size=6), max_size=6).map(
    "".join
)
languages = st.sampled_from(sorted(SENTENCES))


def shape(page: Page) -> tuple[object, ...]:
    return page.elements, page.ends, page.other, page.rest


def outside(line: str) -> str:
    """`line` without what is isolated in it. Fails where an isolate is not closed, or closed twice."""
    before, *parts = line.split(FSI)
    for part in parts:
        _, closing, after = part.partition(PDI)
        assert closing
        before += after
    assert PDI not in before
    return before


def runs_left_to_right(line: str) -> bool:
    return not {unicodedata.bidirectional(char) for char in line} & {
        *("R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "PDF"),
    }


@settings(max_examples=300, deadline=None)
@given(languages, anything, anything, anything, anything)
def test_any_text_is_text_and_changes_nothing_but_its_own_place(
    language: str, guest: str, hotel: str, room: str, number: str
) -> None:
    made = letter(language, guest, hotel, room_type=room, booking_id=number)
    page, usual = read(made.html), read(letter(language).html)
    assert shape(page) == shape(usual)
    shown_hotel = on_one_line(hotel)
    _, _, arrival, departure, *_ = usual.values
    assert page.values == [
        *(on_one_line(guest), shown_hotel, arrival, departure, on_one_line(room), on_one_line(number), shown_hotel),
    ]
    assert page.title == made.subject


@settings(max_examples=300, deadline=None)
@given(languages, anything, anything, anything, anything)
def test_whatever_a_name_holds_lines_stay_lines_and_run_as_our_languages_do(
    language: str, guest: str, hotel: str, room: str, number: str
) -> None:
    made = letter(language, guest, hotel, room_type=room, booking_id=number)
    assert len(f"{made.subject}.".splitlines()) == 1
    usual = letter(language).text
    assert len(made.text.splitlines()) == len(usual.splitlines())
    for line in (made.subject, made.text.splitlines()[0]):
        assert runs_left_to_right(outside(line)), line
    for whole in (made.subject, made.text, made.html):
        assert not {char for char in whole if unicodedata.category(char) in ("Cc", "Cs")} - {"\n"}
        assert whole.encode()


@settings(max_examples=300, deadline=None)
@given(anything)
def test_a_name_that_was_put_on_one_line_is_not_changed_again(text: str) -> None:
    once = on_one_line(text)
    assert on_one_line(once) == once
    assert unicodedata.is_normalized("NFC", once)


@pytest.mark.parametrize(
    "name",
    [
        *("Ada Lovelace", "O'Brien-Łukasiewicz", "李小龍", "山田\u3000太郎", "José \U0001f3e8", "👩\u200d👧"),
        *("علی\u200cرضی", "שרה כהן", "Anna\u00a0Bel"),
    ],
)
def test_names_of_the_whole_world_are_kept_as_they_are(name: str) -> None:
    assert on_one_line(name) == name
    made = letter(guest=name)
    assert read(made.html).values[0] == name
    assert name in made.text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Mu\u0308ller", "M\u00fcller"),
        (" Ada\r\nBcc: x@y.de\n", "Ada Bcc: x@y.de"),
        ("Ada\0\x1b[31m", "Ada [31m"),
        ("Ada\u2028Love\x85lace", "Ada Love lace"),
        ("\u202eecalevoL", "ecalevoL"),
        ("Ada\u2069\u2067", "Ada"),
        ("Mu\u202e\u0308ller", "M\u00fcller"),  # what was kept apart comes together
        ("Ada\ud83d", "Ada\ufffd"),
    ],
)
def test_what_would_spoil_the_lines_around_it_is_taken_out_of_a_name(name: str, shown: str) -> None:
    made = letter(guest=name)
    assert read(made.html).values[0] == shown
    assert made.text.startswith(f"Dear {shown},\n")


@pytest.mark.parametrize("name", ["<script>alert('x')</script>", 'Ada "the" <b>', "Tom & Jerry &lt;", "{hotel}{0}"])
def test_markup_in_a_name_is_shown_and_not_obeyed(name: str) -> None:
    made = letter(guest=name, hotel=name)
    page = read(made.html)
    assert page.values.count(name) == 3
    assert page.title.startswith(f"{name}: your arrival on ")
    assert made.text.startswith(f"Dear {name},\n")
    assert "script" not in [tag for tag, _ in page.elements]


def first_lines(made: Letter) -> tuple[str, str]:
    return made.text.splitlines()[0], made.subject


def test_a_name_from_right_to_left_turns_only_itself() -> None:
    greeting, subject = first_lines(letter(guest="أحمد علي", hotel="مَلِك"))
    assert greeting == f"Dear {FSI}أحمد علي{PDI},"
    assert subject == f"{FSI}مَلِك{PDI}: your arrival on Saturday, March 28, 2026"


@pytest.mark.parametrize("name", ["שרה", "علي", "\u0664\u0662", "Ada\u200f"])  # the third: Arabic digits
def test_every_kind_of_right_to_left_is_isolated(name: str) -> None:
    assert isolated(name) == f"{FSI}{name}{PDI}"


def test_nothing_invisible_is_put_where_nothing_can_turn() -> None:
    for name in ("Ada", "Müller", "李小龍", "👩\u200d👧"):
        assert isolated(name) == name
        assert first_lines(letter(guest=name))[0] == f"Dear {name},"


def test_a_number_can_be_copied_from_its_row_without_anything_invisible() -> None:
    made = letter(booking_id="حجز-7", guest="أحمد")
    assert "Reservation number: حجز-7\n" in made.text
