"""Settings: what roomkey.toml and the environment may say. Reading them is the cli's job."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

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


class Provider(Section):
    """An outside system. `url` may be left out where `roomkey up` starts the simulator."""

    kind: Annotated[str, Field(pattern="^reference$")] = "reference"
    url: str | None = None
    token: SecretStr | None = None
    mode: Mode = Mode.KEYED
    write_deadline: Seconds = 10.0
    read_deadline: Seconds = 2.5
    settle_time: Seconds = 30.0
    idle_timeout: Seconds = 10.0
    absence_provable: bool = True
    key_life: timedelta = timedelta(hours=24)
    #: Calls at once and calls a second that it bears, over all our processes; None: nothing declared.
    max_concurrent: Annotated[int | None, Field(ge=1, le=10_000)] = None
    max_per_second: Annotated[int | None, Field(ge=1, le=10_000)] = None

    @field_validator("url")
    @classmethod
    def _http(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        return value.rstrip("/") if value else value


class Property(Section):
    """A hotel. Its dates are local dates in `time_zone` and stay so."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    provider: Name = "pms"
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
    def zone(self) -> ZoneInfo:
        """The hotel's time zone."""
        return ZoneInfo(self.time_zone)


class Worker(Section):
    """One worker process."""

    threads: Annotated[int, Field(ge=1, le=512)] = 64


class Settings(Section):
    """Everything a Roomkey process may be told. URLs that are None are started embedded by `roomkey up`."""

    database_url: SecretStr | None = None
    broker_url: SecretStr | None = None
    #: Limits and wake-ups; the broker's server where not set.
    redis_url: SecretStr | None = None
    pms_url: str | None = None
    api_host: str = "127.0.0.1"
    api_port: Annotated[int, Field(ge=0, le=65535)] = 8080
    #: How long an interactive intent may wait to be written, seconds.
    expires_after: Seconds = 600.0
    worker: Worker = Worker()
    providers: dict[Name, Provider] = Field(default_factory=lambda: {"pms": Provider()})
    properties: dict[Name, Property] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _providers_exist(self) -> Self:
        for name, hotel in self.properties.items():
            if hotel.provider not in self.providers:
                raise ValueError(f"properties.{name}.provider: must be one of {', '.join(self.providers)}")
        return self


class Guards(Section):
    """When a conversation is stopped."""

    same_call_failures: Annotated[int, Field(ge=1, le=100)] = 2
    unavailable: Annotated[int, Field(ge=1, le=100)] = 3


class TenantSettings(Section):
    """What a tenant may set. Amounts are in the property's currency."""

    guards: Guards = Guards()
    max_refund: Annotated[int, Field(ge=0)] = 500
