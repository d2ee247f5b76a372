"""The catcher's pages: for people, with nothing of a mail let loose."""

import re
import smtplib
from html.parser import HTMLParser

import pytest

from tests.mail.catching import Caught
from tests.mail.sending import ADA, adapter, send

EVIL = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'


class Tags(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def only_id(catcher: Caught) -> str:
    (caught,) = catcher.mails()
    return str(caught["id"])


@pytest.fixture
def evil(catcher: Caught) -> Caught:
    """One mail is caught in which everything is hostile."""
    host, _, port = catcher.smtp_url.removeprefix("smtp://").partition(":")
    content = f"From: {EVIL}\r\nSubject: {EVIL}\r\nX-<script>: {EVIL}\r\nMIME-Version: 1.0\r\n"
    content += f"Content-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\n\r\n{EVIL}\r\n"
    content += f"--x\r\nContent-Type: text/html\r\n\r\n{EVIL}\r\n--x--\r\n"
    with smtplib.SMTP(host, int(port), timeout=10) as smtp:
        smtp.sendmail("eve@evil.org", [ADA], content.encode())
    return catcher


def test_the_list_shows_the_newest_first_and_links_to_each(catcher: Caught) -> None:
    for subject in ("first", "second"):
        send(adapter(catcher.smtp_url), subject=subject)
    page = catcher.get("/").text
    assert page.index("second") < page.index("first")
    links = [attributes["href"] for tag, attributes in Tags(page).found if tag == "a"]
    assert links == [f"/mails/{one['id']}/view" for one in reversed(catcher.mails())]
    assert all(catcher.get(str(link)).status_code == 200 for link in links)


def test_an_empty_list_says_what_this_is(catcher: Caught) -> None:
    assert "None yet. Nothing that is sent here is delivered" in catcher.get("/").text


def test_a_mail_is_shown_with_headers_text_and_html(catcher: Caught) -> None:
    send(adapter(catcher.smtp_url), subject="Grüße 世界", text="a < b & c\n", html="<p>rich</p>")
    page = catcher.get(f"/mails/{only_id(catcher)}/view")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for part in (
        "Grüße 世界",
        "a &lt; b &amp; c",
        ADA,
        "Auto-Submitted",
        "&lt;rkabcdefghijklmnopqr@hotel-demo.com&gt;",
    ):
        assert part in page.text
    assert "<p>rich</p>" not in page.text
    assert catcher.get(f"/mails/{only_id(catcher)}/html").text == "<p>rich</p>\r\n"


def test_nothing_of_a_mail_becomes_part_of_a_page(evil: Caught) -> None:
    for path in ("/", f"/mails/{only_id(evil)}/view"):
        page = evil.get(path).text
        assert "alert(1)" in page, "it is shown"
        tags = {tag for tag, _ in Tags(page).found}
        assert not tags & {"script", "img"}
        assert not [name for _, attributes in Tags(page).found for name in attributes if name.startswith("on")]


def test_the_mails_own_html_is_framed_where_it_can_do_nothing(evil: Caught) -> None:
    path = f"/mails/{only_id(evil)}"
    frames = [attributes for tag, attributes in Tags(evil.get(f"{path}/view").text).found if tag == "iframe"]
    assert frames == [{"sandbox": None, "title": "HTML", "src": f"{path}/html"}]
    part = evil.get(f"{path}/html")
    rules = part.headers["content-security-policy"].split("; ")
    assert {"sandbox", "default-src 'none'"} <= set(rules)
    assert not [rule for rule in rules if "script-src" in rule or "http" in rule or "*" in rule]


def test_pages_load_nothing_from_elsewhere_and_run_no_scripts(evil: Caught) -> None:
    for path in ("/", f"/mails/{only_id(evil)}/view"):
        page = evil.get(path)
        assert page.headers["content-security-policy"].startswith(
            "default-src 'none'; style-src 'unsafe-inline'; frame"
        )
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["referrer-policy"] == "no-referrer"
        assert not re.search(r"(?:src|href)=\"(?!/)", page.text)
        assert "url(" not in page.text


def test_pages_suit_a_phone_and_a_dark_room(catcher: Caught) -> None:
    page = catcher.get("/").text
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page
    assert "color-scheme: light dark" in page


@pytest.mark.parametrize("path", ["/mails/m-999999/view", "/mails/m-999999/html", "/nowhere"])
def test_what_is_not_there_is_404(catcher: Caught, path: str) -> None:
    assert catcher.get(path).status_code == 404
