"""Pages for people. Everything of a mail is escaped, and its HTML is shown in a frame that can't do anything."""

from collections.abc import Iterable
from html import escape

from starlette.responses import HTMLResponse, Response

from providers.catcher.mails import Mail

#: Mails on the list; the newest count.
MOST_LISTED = 500

_STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
ul { list-style: none; padding: 0; }
li { border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .75rem 0; }
h1, h2, li, dd, pre { overflow-wrap: anywhere; }
small, dt { color: color-mix(in srgb, currentColor 70%, transparent); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
dd { margin: 0; }
pre { white-space: pre-wrap; font: inherit; border-left: .25rem solid; padding-left: 1rem; }
iframe { width: 100%; height: 70vh; border: 1px solid; background: #fff; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head><body>{body}</body></html>"""
_GUARDS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}
_OURS = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'none'"
#: `sandbox`: also when opened by itself the part has no scripts, no forms and no origin.
_THEIRS = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'"


def list_page(mails: list[Mail]) -> Response:
    """The newest mails, newest first."""
    shown = mails[: -MOST_LISTED - 1 : -1]
    older = f"<p>{len(mails) - len(shown)} older ones are not listed.</p>" if len(mails) > len(shown) else ""
    rows = "".join(map(_row, shown)) or "<li>None yet. Nothing that is sent here is delivered to anybody.</li>"
    return _page("Caught mail", f"<h1>Caught mail</h1><ul>{rows}</ul>{older}")


def mail_page(mail: Mail) -> Response:
    """Headers, plain text, and the HTML in a frame."""
    title = mail.subject or "(no subject)"
    envelope = [("To (envelope)", ", ".join(mail.recipients)), ("Received", mail.received_at)]
    text = "<p>There is none.</p>" if mail.text is None else f'<pre dir="auto">{escape(mail.text)}</pre>'
    frame = f'<iframe sandbox title="HTML" src="/mails/{escape(mail.id)}/html"></iframe>'
    return _page(
        title,
        f'<p><a href="/">Caught mail</a></p><h1 dir="auto">{escape(title)}</h1>'
        f"<dl>{_terms([*envelope, *mail.headers])}</dl>"
        f"<h2>Plain text</h2>{text}<h2>HTML</h2>{'<p>There is none.</p>' if mail.html is None else frame}",
    )


def html_part(mail: Mail) -> Response:
    """The mail's own HTML, harmless wherever it is opened."""
    return HTMLResponse(mail.html or "", headers={**_GUARDS, "Content-Security-Policy": _THEIRS})


def _row(mail: Mail) -> str:
    return (
        f'<li><a dir="auto" href="/mails/{escape(mail.id)}/view">{escape(mail.subject or "(no subject)")}</a><br>'
        f"to <bdi>{escape(', '.join(mail.recipients))}</bdi><br>"
        f"<small>from <bdi>{escape(mail.sender)}</bdi>, {escape(mail.received_at)}</small></li>"
    )


def _terms(pairs: Iterable[tuple[str, str]]) -> str:
    return "".join(f'<dt>{escape(name)}</dt><dd dir="auto">{escape(value)}</dd>' for name, value in pairs)


def _page(title: str, body: str) -> Response:
    html = _PAGE.format(title=escape(title), style=_STYLE, body=body)
    return HTMLResponse(html, headers={**_GUARDS, "Content-Security-Policy": _OURS})
