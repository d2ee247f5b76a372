"""The check-in reminder."""

from datetime import date

from babel.dates import format_date

from booking.addresses import usable_address
from booking.outcomes import Reservation
from booking.settings import Property
from providers.ports import Letter
from tasks.operations.letters.foreign import isolated, on_one_line
from tasks.operations.letters.forms import html, text
from tasks.operations.letters.languages import spoken

#: What the model calls it.
TEMPLATE = "check-in"


def reminder(hotel: Property, reservation: Reservation) -> Letter:
    """The letter that reminds a guest of a stay to come, in the hotel's language.

    Raises ValueError where the reservation has no usable mail address (see `usable_address`) or no ISO dates.
    """
    words, locale = spoken(hotel.language)

    def written(day: str) -> str:
        # A calendar date, never a moment: no time zone can shift it.
        return format_date(date.fromisoformat(day), format="full", locale=locale)

    values = {
        "guest": on_one_line(reservation.guest_name),
        "hotel": on_one_line(hotel.name),
        "arrival": written(reservation.check_in),
        "departure": written(reservation.check_out),
        "room": on_one_line(reservation.room_type),
        "number": on_one_line(reservation.booking_id),
    }
    subject = words["subject"].format(hotel=isolated(values["hotel"]), arrival=values["arrival"])
    return Letter(
        to=usable_address(reservation.guest_email),
        subject=subject,
        text=text(words, values),
        html=html(words, values, subject, locale),
        language=str(locale).replace("_", "-"),
    )
