"""A guest's mail address, checked before anything is sent to it."""

import unicodedata

from email_validator import EmailNotValidError, validate_email

#: RFC 5321 allows no longer path. The library counts UTF-8 bytes as well.
MAX_LENGTH = 254
#: And no longer name before the @, in UTF-8 bytes, which the library lets pass.
MAX_LOCAL_BYTES = 64
#: What people and forms leave around an address: blanks of three kinds. A tab or a line break is no blank here.
_BLANKS = " \u00a0\u3000"


def usable_address(text: str) -> str:
    """The one address to send to: NFC, the domain in lower case and in its own script.

    Raises ValueError whose message goes on after "the mail address": one short line without any of the address, as
    it may be shown to others. Nothing is looked up. Refused too: `Ann <a@b.de>`, quoted names, IP addresses, and the
    domains that the library knows never to have mail (.test, .invalid, .localhost and others, but not .example).
    """
    address = text.strip(_BLANKS)
    _check_form(address)
    try:
        # Each choice is named: the library's defaults can be changed for the whole process.
        checked = validate_email(
            address,
            allow_smtputf8=True,
            allow_empty_local=False,
            allow_quoted_local=False,
            allow_domain_literal=False,
            allow_display_name=False,
            check_deliverability=False,
            test_environment=False,
            globally_deliverable=True,
        )
    except EmailNotValidError as error:
        raise ValueError(f"is not a mail address: {_reason(error)}") from None  # its text repeats the address
    if len(checked.local_part.encode()) > MAX_LOCAL_BYTES:
        raise ValueError("is too long before the @-sign")
    return checked.normalized


def _check_form(address: str) -> None:
    """Refuse what can be said better, or more safely, than by the library. Raises ValueError."""
    if not address:
        raise ValueError("is missing")
    if len(address) > MAX_LENGTH:
        raise ValueError(f"is longer than {MAX_LENGTH} characters")
    if len(f"{address}.".splitlines()) > 1:  # all of Unicode's line ends: what could begin another header
        raise ValueError("has a line break")
    categories = {unicodedata.category(char) for char in address}
    if "Cc" in categories:
        raise ValueError("has control characters")
    if "Cs" in categories:
        raise ValueError("is not valid Unicode text")
    if "<" in address or ">" in address:
        raise ValueError("must be the address alone, without a name or angle brackets")
    if address.count("@") > 1:
        raise ValueError("must be one address, not several")


def _reason(error: EmailNotValidError) -> str:
    """The library's sentence, up to where it begins to name parts of the address."""
    sentence = str(error).split(":")[0].split(" (")[0].rstrip(".")
    return sentence[:1].lower() + sentence[1:]
