"""Text of others inside our sentences: it stays on its line, and its direction ends where it ends."""

import re
import unicodedata

_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
#: Embeddings, overrides and isolates. One that is not closed, or closed too often, would turn what follows it.
_TURNS = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_FIRST_STRONG_ISOLATE, _POP = "\u2068", "\u2069"
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})


def on_one_line(text: str) -> str:
    """`text` in NFC, as it looks: without line breaks, control characters and what turns the direction by force.

    All else stays, as names need it: joiners in Persian and in emoji, blanks of any width, marks of direction.
    """
    flat = _SURROGATES.sub("\ufffd", _BREAKS.sub(" ", _TURNS.sub("", text)))
    return unicodedata.normalize("NFC", flat).strip()


def isolated(text: str) -> str:
    """`text` for the middle of a sentence that runs from left to right, as those of all our languages do.

    What can't turn the sentence is left as it is: invisible characters would come along with every search and copy.
    """
    if any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in text):
        return f"{_FIRST_STRONG_ISOLATE}{text}{_POP}"
    return text
