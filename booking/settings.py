"""Settings: what roomkey.toml and the environment may say. Reading them is the cli's job."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    BaseModel,
    ConfigDict,
    EmailStr,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from booking.text import Name


class Section(BaseModel):
    """A part of the settings: unknown names are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Mode(StrEnum):
    """What a provider of the reference contract can do about repeats."""

    KEYED = "keyed"
    LOOKUP_ONLY = "lookup-only"
    BLIND = "blind"


Seconds = Annotated[float, Field(gt=0, le=3600)]


class ProviderKind(StrEnum):
    """Which adapter speaks to a provider."""

    REFERENCE = "reference"  # a hotel system of the reference contract; it also refunds
    STRIPE = "stripe"
    SMTP = "smtp"


#: kind -> how its URL may begin. smtps: TLS from the first byte; smtp: STARTTLS where the server offers it.
_SCHEMES = {
    ProviderKind.REFERENCE: ("http://", "https://"),
    ProviderKind.STRIPE: ("http://", "https://"),
    ProviderKind.SMTP: ("smtp://", "smtps://"),
}


class Provider(Section):
    """An outside system. `url` may be left out where `roomkey up` starts a simulator or a mail catcher."""

    kind: ProviderKind = ProviderKind.REFERENCE
    url: str | None = None
    token: SecretStr | None = None
    #: SMTP only: whom we log in as (the token is the password), and whom mails are from.
    username: str | None = None
    sender: EmailStr = "stay@hotel-demo.com"
    mode: Mode = Mode.KEYED
    write_deadline: Seconds = 10.0
    read_deadline: Seconds = 2.5
    settle_time: Seconds = 30.0
    idle_timeout: Seconds = 10.0
    #: Whether a look-up that finds nothing proves anything; None: as its kind usually is (Stripe no, others yes).
    absence_provable: bool | None = None
    key_life: timedelta = timedelta(hours=24)
    #: Calls at once and calls a second that it bears, over all our processes; None: nothing declared.
    max_concurrent: Annotated[int | None, Field(ge=1, le=10_000)] = None
    max_per_second: Annotated[int | None, Field(ge=1, le=10_000)] = None

    @field_validator("url")
    @classmethod
    def _scheme(cls, value: str | None, info: ValidationInfo) -> str | None:
        schemes = _SCHEMES[info.data.get("kind", ProviderKind.REFERENCE)]
        if value is not None and not value.startswith(schemes):
            raise ValueError(f"must start with {' or '.join(schemes)}")
        return value.rstrip("/") if value else value


class Reminders(Section):
    """When a hotel's guests are reminded without anybody asking: daily, for those who arrive `days_ahead` later."""

    #: Whose intents these are.
    tenant: Name
    #: The hotel's local time, full hours.
    hour: Annotated[int, Field(ge=0, le=23)] = 10
    days_ahead: Annotated[int, Field(ge=0, le=60)] = 1


class Property(Section):
    """A hotel. Its dates are local dates in `time_zone` and stay so."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    provider: Name = "pms"
    #: Who refunds; the hotel system itself where not set.
    payments: Name | None = None
    #: Who sends its mails.
    mail: Name = "mail"
    reminders: Reminders | None = None
    time_zone: str
    language: Annotated[str, Field(pattern="^[a-z]{2}(-[A-Z]{2})?$")] = "en"
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]

    @field_validator("time_zone")
    @classmethod
    def _zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: a folder of zones, or a name too long for one
            raise ValueError("must be a time zone name such as Europe/Berlin") from None
        return value

    @property
    def refunds_at(self) -> str:
        """The provider that refunds."""
        return self.payments or self.provider

    @property
    def zone(self) -> ZoneInfo:
        """The hotel's time zone."""
        return ZoneInfo(self.time_zone)


class Worker(Section):
    """One worker process."""

    threads: Annotated[int, Field(ge=1, le=512)] = 64
    #: Of the process that `roomkey up` starts for batches: mails are many, and no guest waits for one.
    batch_threads: Annotated[int, Field(ge=1, le=512)] = 4


class Settings(Section):
    """Everything a Roomkey process may be told. URLs that are None are started embedded by `roomkey up`."""

    database_url: SecretStr | None = None
    broker_url: SecretStr | None = None
    #: Limits and wake-ups; the broker's server where not set.
    redis_url: SecretStr | None = None
    pms_url: str | None = None
    #: For mail servers without a url of their own. None: no mail can be sent, unless `roomkey up` starts a catcher.
    smtp_url: str | None = None
    api_host: str = "127.0.0.1"
    api_port: Annotated[int, Field(ge=0, le=65535)] = 8080
    #: How long an interactive intent may wait to be written, seconds.
    expires_after: Seconds = 600.0
    worker: Worker = Worker()
    providers: dict[Name, Provider] = Field(
        default_factory=lambda: {"pms": Provider(), "mail": Provider(kind=ProviderKind.SMTP)}
    )
    properties: dict[Name, Property] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _providers_exist(self) -> Self:
        for name, hotel in self.properties.items():
            self._check(f"properties.{name}.provider", hotel.provider, ProviderKind.REFERENCE)
            if hotel.payments is not None:
                self._check(f"properties.{name}.payments", hotel.payments, ProviderKind.REFERENCE, ProviderKind.STRIPE)
            if hotel.mail in self.providers or hotel.mail != "mail":  # without one, no mail can be sent
                self._check(f"properties.{name}.mail", hotel.mail, ProviderKind.SMTP)
        return self

    def _check(self, place: str, provider: str, *kinds: ProviderKind) -> None:
        fit = [name for name, one in self.providers.items() if one.kind in kinds]
        if provider not in fit:
            raise ValueError(f"{place}: must be one of {', '.join(fit) or f'providers of kind {kinds[0]}'}")


class Guards(Section):
    """When a conversation is stopped."""

    same_call_failures: Annotated[int, Field(ge=1, le=100)] = 2
    unavailable: Annotated[int, Field(ge=1, le=100)] = 3


class TenantSettings(Section):
    """What a tenant may set. Amounts are in the property's currency."""

    guards: Guards = Guards()
    #: Of one payment, all refunds together; above it a person must do it.
    max_refund: Annotated[int, Field(ge=0)] = 500
    #: The same guest, room type and dates in another conversation within ten minutes: refused, not only told.
    refuse_duplicates: bool = False
