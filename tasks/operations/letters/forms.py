"""The two forms of a letter. Both say the same in the same order."""

from collections.abc import Mapping
from html import escape

from babel import Locale

from tasks.operations.letters.foreign import isolated

#: The values that the table shows, from top to bottom.
ROWS = ("hotel", "arrival", "departure", "room", "number")

_TEXT = """\
{greeting}

{opening}

{rows}

{change}

{farewell}

{regards}
{signed}
"""

# No colours of ours, so that each mail program shows its own, in the dark too. Language and direction are named twice
# because many webmails drop <html> and <body>.
_HTML = """\
<!DOCTYPE html>
<html lang="{language}" dir="{direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{subject}</title>
</head>
<body>
<div lang="{language}" dir="{direction}" style="{style}">
<p>{greeting}</p>
<p>{opening}</p>
<table style="border-spacing:0">
{rows}
</table>
<p>{change}</p>
<p>{farewell}</p>
<p>{regards}<br><strong>{signed}</strong></p>
</div>
</body>
</html>
"""
_STYLE = (
    "max-width:36em;margin:0 auto;padding:1em;font-family:system-ui,sans-serif;font-size:16px;line-height:1.5;"
    "overflow-wrap:anywhere"
)
_ROW = (
    '<tr><td style="padding:0.2em 1em 0.2em 0;vertical-align:top">{label}</td>'
    '<td style="padding:0.2em 0;vertical-align:top"><strong>{value}</strong></td></tr>'
)


def text(words: Mapping[str, str], values: Mapping[str, str]) -> str:
    """The letter as plain text, its paragraphs unbroken.

    Only what stands inside a sentence is isolated. A row ends with its value, so nothing is there to be turned, and a
    number that is copied from it brings nothing invisible along.
    """
    said = _said(words, {name: isolated(value) for name, value in values.items()})
    rows = "\n".join(f"{words[row]} {values[row]}" for row in ROWS)
    return _TEXT.format(rows=rows, signed=values["hotel"], **said)


def html(words: Mapping[str, str], values: Mapping[str, str], subject: str, locale: Locale) -> str:
    """The letter as a page of its own that loads nothing."""
    marked = {name: f"<bdi>{escape(value)}</bdi>" for name, value in values.items()}
    escaped = {name: escape(sentence) for name, sentence in words.items()}
    rows = "\n".join(_ROW.format(label=escaped[row], value=marked[row]) for row in ROWS)
    return _HTML.format(
        language=str(locale).replace("_", "-"),
        direction=locale.text_direction,
        style=_STYLE,
        subject=escape(subject),
        rows=rows,
        signed=marked["hotel"],
        **_said(escaped, marked),
    )


def _said(words: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    """The paragraphs with their values in place; values are never read as sentences."""
    paragraphs = ("greeting", "opening", "change", "farewell", "regards")
    return {name: words[name].format(**values) for name in paragraphs}
