"""Which language a hotel's letters are in."""

from collections.abc import Mapping

from babel import Locale, UnknownLocaleError

from tasks.operations.letters.sentences import SENTENCES

#: For hotels whose language has no sentences.
OTHERWISE = "en"


def spoken(language: str) -> tuple[Mapping[str, str], Locale]:
    """The sentences for a language such as "de" or "de-AT", and how dates are written where it is spoken."""
    primary = language.split("-")[0]
    if primary not in SENTENCES:
        return SENTENCES[OTHERWISE], Locale(OTHERWISE)
    try:
        return SENTENCES[primary], Locale.parse(language, sep="-")
    except UnknownLocaleError:  # a region where nobody is known to speak it
        return SENTENCES[primary], Locale(primary)
