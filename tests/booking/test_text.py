import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking.text import clean, folded, one_line


def test_text_is_kept_in_one_unicode_form_and_without_outer_blanks() -> None:
    assert clean("  Mu\u0308ller \n") == "M\u00fcller"


@pytest.mark.parametrize("text", ["\U0001f3e8 am See", "أحمد علي", "שרה כהן", "李小龍", "O'Brien-Łukasiewicz"])
def test_names_of_the_whole_world_are_kept(text: str) -> None:
    assert one_line(text) == text


@pytest.mark.parametrize("bad", ["\0", "\x1b[31m", "\x7f", "\x85", "\ud800", "a\rb"])
def test_control_characters_and_lone_surrogates_are_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="must"):
        clean(f"a{bad}b")


@pytest.mark.parametrize("bad", ["", " ", "\n\t\n", "\u3000"])
def test_nothing_but_blanks_is_empty(bad: str) -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        clean(bad)


@pytest.mark.parametrize("bad", ["a\nb", "a\n", "\na", "a\r\nb", "a\tb", "a\u2028b", "a\u2029b"])
def test_every_line_end_of_unicode_breaks_a_line(bad: str) -> None:
    with pytest.raises(ValueError, match="must be one line"):
        one_line(bad)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Müller", "mu\u0308LLER"),
        ("STRASSE", "Straße"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("ﬁnn", "FINN"),
        ("Å", "\u212b"),
    ],
)
def test_case_and_unicode_form_make_no_difference_to_identity(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(("one", "other"), [("Müller", "Mueller"), ("Ada", "Ade"), ("Łukasz", "Lukasz")])
def test_other_letters_are_another_name(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=20))
def test_folding_again_changes_nothing_and_neither_does_the_form_it_came_in(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert folded(unicodedata.normalize("NFD", text)) == folded(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize("name", ["\u200b", "\u00ad\u200d", "\ufeff \u200b"])
def test_a_name_that_nobody_can_see_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="seen"):
        one_line(name)
