import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking.addresses import usable_address
from providers.smtp_message import mail_address


@pytest.mark.parametrize(
    ("given_text", "address"),
    [
        ("ada@lovelace.org", "ada@lovelace.org"),
        ("Ada.Lovelace+stay@LOVELACE.Org", "Ada.Lovelace+stay@lovelace.org"),
        ("  ada@lovelace.org\u00a0\u3000", "ada@lovelace.org"),
        ("ada@b\u00fccher.de", "ada@b\u00fccher.de"),
        ("ada@bu\u0308cher.de", "ada@b\u00fccher.de"),
        ("ada@xn--bcher-kva.de", "ada@b\u00fccher.de"),
        ("mu\u0308ller@lovelace.org", "m\u00fcller@lovelace.org"),
        ("李@例子.中国", "李@例子.中国"),
        ("o'brien@lovelace.org", "o'brien@lovelace.org"),
        ("ada@hotel.example", "ada@hotel.example"),  # the library's default; nobody can have it, nothing breaks
    ],
)
def test_an_address_is_given_back_in_one_form(given_text: str, address: str) -> None:
    assert usable_address(given_text) == address


@pytest.mark.parametrize("nothing", ["", " ", "\u3000 \u00a0"])
def test_nothing_is_missing(nothing: str) -> None:
    with pytest.raises(ValueError, match=r"^is missing$"):
        usable_address(nothing)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("form", ["a@b.de{}Bcc: x", "a@b.de{}", "{}a@b.de", "a{}@b.de", "a@b{}.de"])
def test_every_line_end_is_refused_wherever_it_stands(form: str, end: str) -> None:
    with pytest.raises(ValueError, match=r"^has a line break$"):
        usable_address(form.format(end))


@pytest.mark.parametrize("char", ["\0", "\t", "\x1b", "\x7f", "\x80"])
@pytest.mark.parametrize("form", ["a@b.de{}", "{}a@b.de", "a{}@b.de", "a@b{}.de"])
def test_control_characters_are_refused_wherever_they_stand(form: str, char: str) -> None:
    with pytest.raises(ValueError, match=r"^has control characters$"):
        usable_address(form.format(char))


@pytest.mark.parametrize("bad", ["\ud800a@b.de", "a@b.de\udfff", "a@\ud83d\ude00.de"])
def test_lone_surrogates_are_refused(bad: str) -> None:
    with pytest.raises(ValueError, match=r"^is not valid Unicode text$"):
        usable_address(bad)


@pytest.mark.parametrize("bad", ["Ann <a@b.de>", "<a@b.de>", '"Ann, B." <a@b.de>', "a@b.de>", "Ann <a@b.de>, <c@d.de>"])
def test_the_address_stands_alone_without_a_name(bad: str) -> None:
    with pytest.raises(ValueError, match=r"^must be the address alone, without a name or angle brackets$"):
        usable_address(bad)


@pytest.mark.parametrize("bad", ["a@b.de, c@d.de", "a@b.de;c@d.de", "a@b.de c@d.de", "a@b@c.de", '"a@b"@c.de'])
def test_several_addresses_are_refused(bad: str) -> None:
    with pytest.raises(ValueError, match=r"^must be one address, not several$"):
        usable_address(bad)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("ada", "must have an @-sign"),
        ("ada\uff20b.de", "full-width"),
        ("@b.de", "something before the @-sign"),
        ("ada@", "something after the @-sign"),
        ("ada@b", "should have a period"),
        ("ada@b.1", "valid top-level domain"),
        ("ada@-b.de", "hyphen"),
        ("ada@b..de", "two periods"),
        (".ada@b.de", "start with a period"),
        ("ada @b.de", "invalid characters before the @-sign"),
        ("ada@b.de,", "invalid characters"),
        ("mailto:ada@b.de", "invalid characters"),
        ("ada(comment)@b.de", "invalid characters"),
        ('"ada"@b.de', "quoting"),
        ("ada@[127.0.0.1]", "bracketed IP address"),
        ("ada@127.0.0.1", "valid top-level domain"),
        ("a\u202eda@b.de", "unsafe characters"),
        ("a\u200bda@b.de", "unsafe characters"),
        ("ada@xn--a.de", "IDNA"),
        ("ada@" + "b" * 64 + ".de", "so many characters"),
    ],
)
def test_what_is_not_a_mail_address_is_told_why(bad: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^is not a mail address: .*{why}"):
        usable_address(bad)


@pytest.mark.parametrize("domain", ["hotel.test", "a.invalid", "my.localhost", "printer.local", "x.onion"])
def test_a_domain_that_never_has_mail_is_refused_with_that_reason(domain: str) -> None:
    with pytest.raises(ValueError, match=r"special-use or reserved name that cannot be used with email$"):
        usable_address(f"ada@{domain}")


def test_addresses_are_bounded_in_characters_and_in_bytes() -> None:
    longest = "a" * 63 + "@" + ".".join(["b" * 46] * 4) + ".de"
    assert len(longest) == 254
    assert usable_address(longest) == longest
    with pytest.raises(ValueError, match=r"^is longer than 254 characters$"):
        usable_address(f"{longest}a")
    with pytest.raises(ValueError, match="the email address is too long"):
        usable_address("ä" * 130 + "@b.de")


def test_what_stands_before_the_at_sign_is_no_longer_than_mail_servers_take() -> None:
    for longest in ("a" * 64, "ä" * 32):
        assert mail_address(usable_address(f"{longest}@b.de"))
        with pytest.raises(ValueError, match=r"^is too long before the @-sign$"):
            usable_address(f"{longest}a@b.de")


#: Letters that stand in none of our reasons, so that one in a reason would have come from the address.
_THEIRS = "жщзийъ"
pieces = st.sampled_from(
    [
        *_THEIRS,
        *"@@@..,;:<>()[]\"' \t\r\n\0-+\\",
        *("\u202e", "\u0308", "\ud800", "\uff11", "\u3002"),
        *("xn--", ".de", ".test", "-."),
    ]
)
almost = st.lists(pieces, max_size=12).map("".join)


def attempt(text: str) -> tuple[str, ValueError | None]:
    try:
        return usable_address(text), None
    except ValueError as error:
        return "", error


@settings(max_examples=500, deadline=None)
@given(
    st.text(max_size=20) | almost | almost.map(lambda text: f"a@{text}.de") | almost.map(lambda text: f"{text}@b.de")
)
def test_any_text_is_an_address_or_has_a_short_reason_that_tells_nothing_of_it(text: str) -> None:
    address, error = attempt(text)
    if error is not None:
        reason = str(error)
        assert len(reason) <= 160
        assert len(f"{reason}.".splitlines()) == 1
        assert reason.isprintable()
        assert not set(reason) & set(_THEIRS)
        assert error.__cause__ is None
        assert error.__suppress_context__ or error.__context__ is None
    else:
        assert usable_address(address) == address
        assert mail_address(address) is not None
        assert address.count("@") == 1
        assert unicodedata.is_normalized("NFC", address)
        assert not any(unicodedata.category(char)[0] in "CZ" or char in "<>,;:" for char in address)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("ada(lovelace)@b.de", "the email address contains invalid characters before the @-sign"),
        ("ada@love~lace.de", "the part after the @-sign contains invalid characters"),
        ("ada@lovelace\u2603.de", "the part after the @-sign is invalid"),
        ("ada\u202e@b.de", "the email address contains unsafe characters"),
        ("ada@" + "lovelace" * 9 + ".de", "after the @-sign, periods cannot be separated by so many characters"),
    ],
)
def test_the_reason_ends_where_the_library_would_quote_the_address(address: str, reason: str) -> None:
    with pytest.raises(ValueError, match=r"^is not a mail address: ") as caught:
        usable_address(address)
    assert str(caught.value) == f"is not a mail address: {reason}"
