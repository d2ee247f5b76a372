"""Tenants and their bearer keys."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from cli.exits import Code, Trouble
from cli.options import Config, Data, Json, settings_of
from cli.state import FOLDER

if TYPE_CHECKING:
    from booking.settings import TenantSettings

tenants = typer.Typer(help="Tenants: make and list them.", no_args_is_help=True)
keys = typer.Typer(help="Bearer keys: make, list and revoke them.", no_args_is_help=True)

_SCOPES = ("agent", "host", "ops")
#: As `booking.text.Name`.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~@:-]{0,127}")


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.add_typer(tenants, name="tenants", rich_help_panel="Access")
    app.add_typer(keys, name="keys", rich_help_panel="Access")


@tenants.command("create")
def create_tenant(
    name: str,
    settings: Annotated[str, typer.Option(help='As JSON, e.g. {"max_refund": 200}.')] = "{}",
    config: Config = None,
    data: Data = FOLDER,
    as_json: Json = False,
) -> None:
    """Make a tenant."""
    from cli.database import opened
    from cli.screen import out, print_json
    from dedupe import tenants as store

    chosen = _checked(name, settings)
    with opened(settings_of(config, data)) as engine:
        made = store.create_tenant(engine, name, chosen)
    if not made:
        raise Trouble(Code.NOT_SUCCESS, f"the tenant {name} exists already; nothing was changed")
    if as_json:
        print_json({"tenant": name, "settings": chosen.model_dump(mode="json")})
    else:
        out.print(f"made the tenant {name}; now: roomkey keys create --tenant {name} --scope agent", markup=False)


def _checked(name: str, settings: str) -> "TenantSettings":
    from pydantic import ValidationError

    from booking.settings import TenantSettings
    from cli.config import problem

    if not _NAME.fullmatch(name):
        raise Trouble(Code.USAGE, "NAME: must be a short name: letters, digits and . _ ~ @ : -")
    try:
        return TenantSettings.model_validate_json(settings)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ": ".join(["--settings", *filter(None, [".".join(map(str, first["loc"]))])])
        raise Trouble(Code.USAGE, f"{place}: {problem(first)}") from None


@tenants.command("list")
def list_tenants(config: Config = None, data: Data = FOLDER, as_json: Json = False) -> None:
    """List all tenants."""
    from cli.database import opened
    from cli.screen import out, print_json
    from dedupe import tenants as store

    with opened(settings_of(config, data)) as engine:
        names = store.list_tenants(engine)
    if as_json:
        print_json(names)
    else:
        out.print("\n".join(names) or "there is no tenant yet; make one: roomkey tenants create NAME", markup=False)


@keys.command("create")
def create_key(
    tenant: Annotated[str, typer.Option(help="Whose key.")],
    scope: Annotated[str, typer.Option(help="agent: submit, poll, read. host: the host application. ops: operations.")],
    config: Config = None,
    data: Data = FOLDER,
    as_json: Json = False,
) -> None:
    """Make a bearer key. It is printed once and can't be shown again."""
    if scope not in _SCOPES:
        raise Trouble(Code.USAGE, f"--scope: must be one of {', '.join(_SCOPES)}")
    from cli.database import opened
    from cli.screen import err, print_json
    from dedupe import tenants as store

    with opened(settings_of(config, data)) as engine:
        made = store.create_key(engine, tenant, store.Scope(scope))
    if made is None:
        raise Trouble(Code.NOT_SUCCESS, f"there is no tenant {tenant}; make it: roomkey tenants create {tenant}")
    key_id, bearer = made
    if as_json:
        print_json({"id": key_id, "tenant": tenant, "scope": scope, "key": bearer})
    else:
        err.print(f"{key_id}, scope {scope} of {tenant}. Keep the key: it can't be shown again.", markup=False)
        typer.echo(bearer)


@keys.command("list")
def list_keys(config: Config = None, data: Data = FOLDER, as_json: Json = False) -> None:
    """List all keys, never the keys themselves."""
    from rich.table import Table

    from cli.database import opened
    from cli.screen import out, print_json
    from dedupe import tenants as store

    with opened(settings_of(config, data)) as engine:
        found = store.list_keys(engine)
    if as_json:
        print_json([{"id": k.id, "tenant": k.tenant_id, "scope": k.scope, "revoked": k.revoked} for k in found])
        return
    table = Table("id", "tenant", "scope", "in force")
    for key in found:
        table.add_row(key.id, key.tenant_id, key.scope, "[red]revoked[/red]" if key.revoked else "yes")
    out.print(table)


@keys.command("revoke")
def revoke_key(
    id: Annotated[str, typer.Argument(help="The key's id, as `keys list` shows it.")],
    config: Config = None,
    data: Data = FOLDER,
    as_json: Json = False,
) -> None:
    """Revoke a key: it is refused within a few seconds."""
    from cli.database import opened
    from cli.screen import out, print_json
    from dedupe import tenants as store

    with opened(settings_of(config, data)) as engine:
        revoked = store.revoke_key(engine, id)
    if not revoked:
        raise Trouble(Code.NOT_SUCCESS, f"no key {id} is in force; see: roomkey keys list")
    if as_json:
        print_json({"id": id, "revoked": True})
    else:
        out.print(f"revoked {id}", markup=False)
