"""The check-in reminder: what it says, and in which language."""

import re
from string import Formatter
from zoneinfo import ZoneInfo

import pytest
from babel import Locale

from tasks.operations.letters import TEMPLATE
from tasks.operations.letters.forms import ROWS, html
from tasks.operations.letters.sentences import SENTENCES
from tests.letters.build import letter, read

LANGUAGES = sorted(SENTENCES)

#: Days on which clocks are changed in Europe, and a turn of the year, as each language writes them.
DATES = {
    "en": ("Sunday, March 29, 2026", "Sunday, October 25, 2026", "Thursday, December 31, 2026"),
    "en-GB": ("Sunday, 29 March 2026", "Sunday, 25 October 2026", "Thursday, 31 December 2026"),
    "de": ("Sonntag, 29. März 2026", "Sonntag, 25. Oktober 2026", "Donnerstag, 31. Dezember 2026"),
    "fr": ("dimanche 29 mars 2026", "dimanche 25 octobre 2026", "jeudi 31 décembre 2026"),
    "es": ("domingo, 29 de marzo de 2026", "domingo, 25 de octubre de 2026", "jueves, 31 de diciembre de 2026"),
    "it": ("domenica 29 marzo 2026", "domenica 25 ottobre 2026", "giovedì 31 dicembre 2026"),
}
DAYS = ("2026-03-29", "2026-10-25", "2026-12-31")


def test_the_template_has_the_name_that_the_tool_knows() -> None:
    assert TEMPLATE == "check-in"


def test_five_languages_are_spoken() -> None:
    assert {"en", "de", "fr", "es", "it"} <= set(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_sentence_with_the_same_values_in_it(language: str) -> None:
    def values(sentence: str) -> list[str]:
        return sorted(name for _, name, _, _ in Formatter().parse(sentence) if name)

    ours, english = SENTENCES[language], SENTENCES["en"]
    assert list(ours) == list(english)
    assert all(sentence.strip() == sentence and sentence for sentence in ours.values())
    assert {name: values(ours[name]) for name in ours} == {name: values(english[name]) for name in english}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_language_speaks_another_ones_words(language: str) -> None:
    """Copied and not translated; some words are the same in several languages."""
    same = {"hotel"}
    others = {
        (name, words) for other in LANGUAGES if other != language for name, words in SENTENCES[other].items()
    } & set(SENTENCES[language].items())
    assert {name for name, _ in others} <= same


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_languages_run_from_left_to_right(language: str) -> None:
    """`foreign.isolated` and the order of the table's columns count on it."""
    assert Locale(language).text_direction == "ltr"


def test_the_whole_letter_in_english() -> None:
    made = letter()
    assert made.to == "ada@lovelace.org"
    assert made.language == "en"
    assert made.subject == "Seeblick: your arrival on Saturday, March 28, 2026"
    assert made.text == (
        "Dear Ada Lovelace,\n"
        "\n"
        "Your stay is coming up, and we look forward to welcoming you. Here it is at a glance:\n"
        "\n"
        "Hotel: Seeblick\n"
        "Arrival: Saturday, March 28, 2026\n"
        "Departure: Sunday, March 29, 2026\n"
        "Room: double\n"
        "Reservation number: B-1001\n"
        "\n"
        "If anything has changed, please let us know as soon as you can and mention your reservation number.\n"
        "\n"
        "Have a safe journey, and see you soon!\n"
        "\n"
        "Kind regards\n"
        "Seeblick\n"
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_both_forms_say_the_same(language: str) -> None:
    made = letter(language)
    page = made.html.split("<body>")[1]
    lines = re.sub(r"</td><td[^>]*>", " ", page).replace("<br>", "\n")
    said = [line.strip() for line in re.sub(r"<[^>]+>", "", lines).replace("&#x27;", "'").splitlines()]
    assert [line for line in said if line] == [line for line in made.text.splitlines() if line]


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Berlin", "America/Santiago"])
@pytest.mark.parametrize("language", DATES)
def test_dates_are_written_out_as_they_stand_in_the_reservation(language: str, zone: str) -> None:
    assert ZoneInfo(zone)
    for day, written in zip(DAYS, DATES[language], strict=True):
        arriving = letter(language, zone=zone, check_in=day, check_out="2027-01-02")
        assert arriving.subject.endswith(written)
        leaving = letter(language, zone=zone, check_in="2026-01-02", check_out=day)
        for made, row in ((arriving, "arrival"), (leaving, "departure")):
            assert f"{SENTENCES[language[:2]][row]} {written}\n" in made.text
            assert written in read(made.html).values


def test_what_is_no_date_makes_no_letter() -> None:
    with pytest.raises(ValueError, match="day is out of range"):
        letter(check_in="2026-02-30")


@pytest.mark.parametrize(
    ("language", "sentences", "tag"),
    [
        ("de", "de", "de"),
        ("de-AT", "de", "de-AT"),
        ("en-GB", "en", "en-GB"),
        ("de-XX", "de", "de"),  # where nobody is known to speak it
        ("pt-BR", "en", "en"),
        ("ar", "en", "en"),
        ("xx", "en", "en"),
    ],
)
def test_the_language_is_chosen_by_its_first_part(language: str, sentences: str, tag: str) -> None:
    made = letter(language)
    assert SENTENCES[sentences]["opening"] in made.text
    assert made.language == tag
    named = [attributes for _, attributes in read(made.html).elements if "lang" in attributes]
    assert [(one["lang"], one["dir"]) for one in named] == [(tag, "ltr"), (tag, "ltr")]


def test_a_letter_goes_to_a_checked_address_alone() -> None:
    assert letter(guest_email=" Ada@LOVELACE.org").to == "Ada@lovelace.org"
    for bad, why in (("", "is missing"), ("?", "is not a mail address"), ("a@b.de\r\nBcc: c@d.de", "line break")):
        with pytest.raises(ValueError, match=why):
            letter(guest_email=bad)


def test_the_page_loads_nothing_and_has_no_colours_of_its_own() -> None:
    page = read(letter().html)
    allowed = {"lang", "dir", "style", "charset", "name", "content"}
    assert {name for _, attributes in page.elements for name in attributes} <= allowed
    styles = " ".join(attributes.get("style") or "" for _, attributes in page.elements)
    assert not re.search(r"url|color|background|import", styles)


def test_a_sentence_may_hold_what_html_reads_as_markup() -> None:
    values = dict.fromkeys(("guest", *ROWS), "")
    words = SENTENCES["en"] | {"farewell": "Rooms & more: 1 < 2 <b>", "room": "<i>Room</i>:"}
    page = read(html(words, values, "", Locale("en")))
    assert "Rooms & more: 1 < 2 <b>" in page.rest
    assert "<i>Room</i>:" in page.rest


def test_the_page_is_made_for_phones_and_for_the_dark() -> None:
    named = {a.get("name"): a.get("content") for tag, a in read(letter().html).elements if tag == "meta"}
    assert named["viewport"] == "width=device-width, initial-scale=1"
    assert named["color-scheme"] == "light dark"
