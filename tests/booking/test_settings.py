from typing import Any

import pytest
from pydantic import ValidationError

from booking.settings import Mode, Property, Provider, Settings, TenantSettings

HOTEL = {"name": "Berlin", "time_zone": "Europe/Berlin", "currency": "EUR"}


def refused(sent: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate(sent)
    return "\n".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in caught.value.errors())


def test_without_any_setting_everything_has_a_careful_default() -> None:
    made = Settings()
    assert made.database_url is None
    assert made.api_host == "127.0.0.1"
    assert {name: one.kind for name, one in made.providers.items()} == {"pms": "reference", "mail": "smtp"}
    assert made.providers["pms"].mode is Mode.KEYED
    assert TenantSettings().guards.same_call_failures == 2


def test_secrets_are_not_shown() -> None:
    made = Settings.model_validate(
        {"database_url": "postgresql://u:geheim@h/d", "providers": {"pms": {"token": "geheim"}}}
    )
    assert "geheim" not in repr(made)
    assert "geheim" not in made.model_dump_json()


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"databse_url": "x"}, "databse_url: Extra inputs are not permitted"),
        ({"worker": {"thread": 1}}, "worker.thread: Extra inputs are not permitted"),
        ({"worker": {"threads": 0}}, "worker.threads: "),
        ({"api_port": 65536}, "api_port: "),
        ({"expires_after": 0}, "expires_after: "),
        ({"providers": {"pms": {"url": "ftp://pms"}}}, "providers.pms.url: Value error, must start with http"),
        ({"providers": {"pms": {"mode": "magic"}}}, "providers.pms.mode: Input should be 'keyed', 'lookup-only' or"),
        ({"providers": {"pms": {"kind": "opera"}}}, "providers.pms.kind: "),
        ({"providers": {"a b": {}}}, "providers.a b"),
        ({"properties": {"BER": HOTEL | {"provider": "oracle"}}}, "must be one of pms"),
        ({"properties": {"BER": HOTEL | {"currency": "Euro"}}}, "properties.BER.currency: "),
        ({"properties": {"BER": HOTEL | {"language": "german"}}}, "properties.BER.language: "),
    ],
)
def test_a_mistake_is_told_by_its_name(sent: dict[str, Any], told: str) -> None:
    assert told in refused(sent)


@pytest.mark.parametrize("field", ["write_deadline", "read_deadline", "settle_time", "idle_timeout"])
@pytest.mark.parametrize("value", [0, -1, 3601, "nan", "inf", "soon"])
def test_a_time_is_a_positive_number_of_seconds_up_to_an_hour(field: str, value: Any) -> None:
    assert f"providers.pms.{field}: " in refused({"providers": {"pms": {field: value}}})


@pytest.mark.parametrize("zone", ["", "Berlin", "Europe", "Europe/Berlin/x", "../etc", "/etc/passwd", "a" * 300, "E\0"])
def test_a_time_zone_must_exist(zone: str) -> None:
    assert "must be a time zone name such as Europe/Berlin" in refused(
        {"properties": {"BER": HOTEL | {"time_zone": zone}}}
    )


def test_a_hotel_knows_its_zone() -> None:
    assert Property.model_validate(HOTEL).zone.key == "Europe/Berlin"


def test_a_slash_at_the_end_of_a_providers_address_makes_no_difference() -> None:
    assert Provider(url="https://pms.example/api/").url == "https://pms.example/api"
