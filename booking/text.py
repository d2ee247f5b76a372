"""Text as it may enter: normalised, bounded, without what databases, logs or mail headers choke on."""

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field


def clean(value: str) -> str:
    """`value` in NFC without outer blanks. Raises ValueError for NUL, control characters and lone surrogates."""
    for char in value:
        category = unicodedata.category(char)
        if category == "Cs":
            raise ValueError("must be valid Unicode text without lone surrogates")
        if category == "Cc" and char not in "\t\n":
            raise ValueError("must not contain control characters such as NUL")
    value = unicodedata.normalize("NFC", value).strip()
    if not value:
        raise ValueError("must not be empty")
    return value


def one_line(value: str) -> str:
    """`clean`, and refuses line breaks and what can't be seen: for names and identifiers."""
    if "\t" in value or len(f"{value}.".splitlines()) > 1:  # all of Unicode's line ends
        raise ValueError("must be one line")
    if value.strip() and not folded(value):
        raise ValueError("must have characters that can be seen")
    return clean(value)


def folded(value: str) -> str:
    """`value` as it counts for identity: what a model changes when it types a name again makes no difference.

    That is case, the Unicode form (full width, ligatures), kinds and number of blanks, and invisible characters.
    """
    seen = "".join(char for char in unicodedata.normalize("NFKC", value) if unicodedata.category(char) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", seen.casefold()).split())


Line = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(one_line)]
Note = Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(clean)]
#: Ids that callers choose: short, printable, safe in a URL path segment.
Name = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9][A-Za-z0-9._~@:-]*$")]
