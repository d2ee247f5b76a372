"""Letters for tests, and what a mail program would read in them."""

from dataclasses import dataclass, field, replace
from html.parser import HTMLParser

from booking.outcomes import Reservation
from booking.settings import Property
from providers.ports import Letter
from tasks.operations.letters import reminder

HOTEL = Property(name="Seeblick", time_zone="Europe/Berlin", currency="EUR")
STAY = Reservation(
    booking_id="B-1001",
    reference="rkaaaaaaaaaaaaaaaaaa",
    status="confirmed",
    property="BER",
    room_type="double",
    check_in="2026-03-28",
    check_out="2026-03-29",
    guest_name="Ada Lovelace",
    guest_email="ada@lovelace.org",
)


def letter(
    language: str = "en", guest: str = "Ada Lovelace", hotel: str = "Seeblick", zone: str = "Europe/Berlin", **stay: str
) -> Letter:
    """The reminder with these values and otherwise the usual ones."""
    made = HOTEL.model_copy(update={"language": language, "name": hotel, "time_zone": zone})
    return reminder(made, replace(STAY, guest_name=guest, **stay))  # type: ignore[arg-type]  # all given are text


@dataclass
class Page:
    """An HTML text as read: its elements with their attributes, and its text, apart from that in <bdi>."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    title: str = ""
    rest: str = ""
    other: list[str] = field(default_factory=list)  # comments, declarations, instructions


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.within: str = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.page.elements.append((tag, dict(attrs)))
        self.within = tag
        if tag == "bdi":
            self.page.values.append("")

    def handle_endtag(self, tag: str) -> None:
        self.page.ends.append(tag)
        self.within = ""

    def handle_data(self, data: str) -> None:
        if self.within == "bdi":
            self.page.values[-1] += data
        elif self.within == "title":
            self.page.title += data
        else:
            self.page.rest += data

    def handle_comment(self, data: str) -> None:
        self.page.other.append(data)

    def handle_decl(self, decl: str) -> None:
        self.page.other.append(decl)

    def handle_pi(self, data: str) -> None:
        self.page.other.append(data)

    def unknown_decl(self, data: str) -> None:
        self.page.other.append(data)


def read(html: str) -> Page:
    """The page as a parser understands it."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.page
