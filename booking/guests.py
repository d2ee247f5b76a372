"""Whose reservation is it? Decided before anything of a reservation is shown or changed. Pure."""

import hmac
import unicodedata
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, EmailStr, Field

from booking.outcomes import Reservation
from booking.settings import TenantSettings
from booking.text import Line, folded

Access = Literal["allowed", "denied", "not_found"]


class VerifiedGuest(BaseModel):
    """The guest whom the host application has identified, e.g. by a login. A model can't claim to be one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[Line, Field(description="Full name as in the passport.")]
    email: Annotated[EmailStr, Field(max_length=254)]


def access(
    reservation: Reservation, verified: VerifiedGuest | None, claimed_name: str | None, claimed_email: str | None
) -> Access:
    """Whether `reservation` may be shown to this conversation, or changed from it.

    With a verified guest, only the host's word counts, and what the model claims does not: the reservation is theirs
    if the mail addresses are the same. A name says so only where the hotel system gave no mail address: namesakes are
    many, and a second mail address is cheaper to explain than a stranger's booking. Anyone else's is "denied".

    Without one, whoever knows the number and either the name or the mail address is let in, as at a front desk. Every
    other claim is "not_found", which the caller must answer exactly like a number that doesn't exist.
    """
    if verified is not None:
        if reservation.guest_email:
            return "allowed" if _same_address(reservation.guest_email, verified.email) else "denied"
        return "allowed" if _same(folded(reservation.guest_name), folded(verified.name)) else "denied"
    # Both are compared always, so that the time taken tells nothing.
    by_name = _same(folded(reservation.guest_name), folded(claimed_name or ""))
    by_email = _same_address(reservation.guest_email, claimed_email or "")
    return "allowed" if by_name or by_email else "not_found"


def folded_address(email: str) -> str:
    """A mail address as it counts for identity: case, blanks and invisible characters make no difference.

    Less than for names: strasse.example and straße.example, or a ligature and its letters, are two people's.
    """
    seen = "".join(char for char in unicodedata.normalize("NFC", email) if unicodedata.category(char) != "Cf")
    return "".join(seen.lower().split())


def _same_address(theirs: str, said: str) -> bool:
    return _same(folded_address(theirs), folded_address(said))


def _same(theirs: str, said: str) -> bool:
    """Equal. What is empty equals nothing."""
    ours, other = (text.encode("utf-8", "surrogatepass") for text in (theirs, said))
    return hmac.compare_digest(ours, other) and ours != b""


def within_limit(amount: Decimal, settings: TenantSettings) -> bool:
    """Whether a refund of this amount may be made without a person; above it the model is told "not allowed"."""
    return amount <= settings.max_refund
