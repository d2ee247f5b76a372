import json
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from booking.settings import Settings
from cli.config import DEMO_HOTELS, dump_settings, load_settings
from cli.exits import Trouble
from providers.simulator.rooms import properties

BERLIN = 'name = "B"\ntime_zone = "Europe/Berlin"\ncurrency = "EUR"\n'
HERE = Path(__file__).parents[2]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`roomkey.toml` as the current folder has it."""
    monkeypatch.chdir(tmp_path)
    return Path("roomkey.toml")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("api_port = ", "roomkey.toml: Invalid value (at end of document)"),
        ("api_prot = 1", "roomkey.toml: api_prot: is not a setting; did you mean api_port?"),
        ("api_port = '8080x'", "roomkey.toml: api_port: must be a whole number"),
        ("api_host = 3", "roomkey.toml: api_host: must be text in quotes"),
        ("database_url = 'mysql://x'", "roomkey.toml: database_url: must start with postgresql://"),
        ("worker = 3", "roomkey.toml: worker: must be a table"),
        ("[worker]\nthreads = 0", "roomkey.toml: worker.threads: must be greater than or equal to 1"),
        ("[providers.pms]\nmode = 'x'", "roomkey.toml: providers.pms.mode: must be 'keyed', 'lookup-only' or 'blind'"),
        ("[providers.pms]\nkind = 'x'", "roomkey.toml: providers.pms.kind: must be reference, stripe or smtp"),
        ("[providers.pms]\ntokn = 'x'", "roomkey.toml: providers.pms.tokn: is not a setting; did you mean token?"),
        ("[providers.pms]\nurl = 'ftp://x'", "roomkey.toml: providers.pms.url: must start with http:// or https://"),
        ("[providers.x]", "roomkey.toml: properties: name at least one hotel, or a provider called pms"),
        (
            "[properties.BER]\n" + BERLIN.replace("Europe/Berlin", "Berlin"),
            "roomkey.toml: properties.BER.time_zone: must be a time zone name such as Europe/Berlin",
        ),
        (
            "[properties.BER]\n" + BERLIN.replace("EUR", "euro"),
            "roomkey.toml: properties.BER.currency: must be a currency code such as EUR",
        ),
        ("[properties.BER]\ncurrency = 'EUR'\nname = 'B'", "roomkey.toml: properties.BER.time_zone: is missing"),
        (
            "[properties.BER]\nprovider = 'x'\n" + BERLIN,
            "roomkey.toml: properties.BER.provider: must be one of pms",
        ),
        (
            "[properties.'B R']\n" + BERLIN,
            "roomkey.toml: properties.B R: must be a short name: letters, digits and . _ ~ @ : -",
        ),
        ("api_port = -1\napi_host = 3", "roomkey.toml: api_host: must be text in quotes (and 1 more)"),
    ],
)
def test_a_mistake_in_the_file_is_one_line_with_its_place(file: Path, text: str, line: str) -> None:
    file.write_text(text)
    with pytest.raises(Trouble) as trouble:
        load_settings(file, {})
    assert str(trouble.value) == line
    assert trouble.value.exit_code == 4


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("ROOMKEY_API_PORT", "x", "ROOMKEY_API_PORT: must be a whole number"),
        ("ROOMKEY_API_PORT", "70000", "ROOMKEY_API_PORT: must be less than or equal to 65535"),
        ("ROOMKEY_EXPIRES_AFTER", "0", "ROOMKEY_EXPIRES_AFTER: must be greater than 0"),
        ("ROOMKEY_WORKER_THREADS", "many", "ROOMKEY_WORKER_THREADS: must be a whole number"),
        ("ROOMKEY_PMS_URL", "pms", "ROOMKEY_PMS_URL: must start with http:// or https://"),
        ("ROOMKEY_SMTP_URL", "mx.example:25", "ROOMKEY_SMTP_URL: must start with smtp:// or smtps://"),
        ("ROOMKEY_REDIS_URL", "amqp://x", "ROOMKEY_REDIS_URL: must start with redis:// or rediss://"),
        ("ROOMKEY_DATABSE_URL", "x", "ROOMKEY_DATABSE_URL: is not a setting; did you mean ROOMKEY_DATABASE_URL?"),
    ],
)
def test_a_mistake_in_the_environment_names_the_variable(name: str, value: str, line: str) -> None:
    with pytest.raises(Trouble) as trouble:
        load_settings(None, {name: value})
    assert str(trouble.value) == line


def test_a_password_is_not_repeated_in_the_error() -> None:
    with pytest.raises(Trouble) as trouble:
        load_settings(None, {"ROOMKEY_DATABASE_URL": "mysql://me:hush@x"})
    assert "hush" not in str(trouble.value)


def test_the_environment_wins_and_an_empty_variable_counts_as_unset(file: Path) -> None:
    file.write_text("api_port = 1\napi_host = '::1'\n[worker]\nthreads = 2")
    given = {"ROOMKEY_API_PORT": "3", "ROOMKEY_API_HOST": "", "ROOMKEY_WORKER_THREADS": "4", "OTHER": "x"}
    settings = load_settings(file, given)
    assert (settings.api_port, settings.api_host, settings.worker.threads) == (3, "::1", 4)


def test_the_token_of_the_environment_is_for_hotel_systems_without_one(file: Path) -> None:
    others = "[providers.mail]\nkind = 'smtp'\n[providers.cards]\nkind = 'stripe'"
    file.write_text(f"[providers.pms]\n[providers.other]\ntoken = 'own'\n{others}")
    tokens = {name: p.token for name, p in load_settings(file, {"ROOMKEY_PMS_TOKEN": "t"}).providers.items()}
    assert tokens == {"pms": SecretStr("t"), "other": SecretStr("own"), "mail": None, "cards": None}


def test_without_properties_the_hotels_are_the_simulators() -> None:
    simulated = {hotel.id: (hotel.name, hotel.time_zone, hotel.currency) for hotel in properties().values()}
    assert {id: (h.name, h.time_zone, h.currency) for id, h in DEMO_HOTELS.items()} == simulated
    assert load_settings(None, {}).properties == DEMO_HOTELS


def test_what_is_handed_to_a_process_reads_back_whole(tmp_path: Path) -> None:
    given = {"ROOMKEY_DATABASE_URL": "postgresql://me:hush@x/y", "ROOMKEY_PMS_TOKEN": "t"}
    given["ROOMKEY_SMTP_URL"] = "smtps://mx.example"
    settings = load_settings(None, given)
    file = tmp_path / "settings.json"
    file.write_text(dump_settings(settings))
    assert load_settings(file, {}) == settings
    assert json.loads(file.read_text())["providers"]["pms"]["key_life"] == timedelta(hours=24).total_seconds()


def test_the_example_says_the_defaults() -> None:
    example = load_settings(HERE / "roomkey.toml.example", {})
    assert example == Settings(properties=DEMO_HOTELS)
