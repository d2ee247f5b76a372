"""Tenants and their bearer keys. A key is shown once, when made; only its hash is stored."""

import secrets
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Engine, Row, text

from booking import keys
from booking.settings import TenantSettings


class Scope(StrEnum):
    """What a bearer key may do."""

    AGENT = "agent"
    HOST = "host"
    OPS = "ops"


@dataclass(frozen=True)
class Caller:
    """Who calls: the tenant, its HMAC secret and settings, and the scope of the key used."""

    tenant_id: str
    scope: Scope
    secret: bytes
    settings: TenantSettings


@dataclass(frozen=True)
class ApiKey:
    """A bearer key as listed: never the key itself."""

    id: str
    tenant_id: str
    scope: Scope
    revoked: bool


_CREATE_TENANT = text("""
INSERT INTO tenants (id, secret, settings) VALUES (:id, :secret, CAST(:settings AS jsonb))
ON CONFLICT (id) DO NOTHING RETURNING id
""")

_TENANTS = text("SELECT id FROM tenants ORDER BY id")

_CREATE_KEY = text("""
INSERT INTO api_keys (id, tenant_id, scope, hash)
SELECT :id, id, :scope, :hash FROM tenants WHERE id = :tenant_id RETURNING id
""")

_REVOKE = text("UPDATE api_keys SET revoked_at = now() WHERE id = :id AND revoked_at IS NULL RETURNING id")

_KEYS = text("SELECT id, tenant_id, scope, revoked_at IS NOT NULL AS revoked FROM api_keys ORDER BY created_at")

_CALLER = text("""
SELECT k.tenant_id, k.scope, t.secret, t.settings FROM api_keys k JOIN tenants t ON t.id = k.tenant_id
WHERE k.hash = :hash AND k.revoked_at IS NULL
""")

# For what the calendar asks for: nobody calls, so there is no bearer key.
_TENANT = text("SELECT id, secret, settings FROM tenants WHERE id = :id")


def create_tenant(engine: Engine, tenant_id: str, settings: TenantSettings) -> bool:
    """Make a tenant with a fresh HMAC secret; False where it exists already (nothing is changed then)."""
    values = {"id": tenant_id, "secret": secrets.token_bytes(32), "settings": settings.model_dump_json()}
    with engine.connect() as connection:
        return connection.execute(_CREATE_TENANT, values).first() is not None


def list_tenants(engine: Engine) -> list[str]:
    """The ids of all tenants."""
    with engine.connect() as connection:
        return list(connection.execute(_TENANTS).scalars())


def create_key(engine: Engine, tenant_id: str, scope: Scope) -> tuple[str, str] | None:
    """Make a bearer key: (its id, the key to be shown once). None where there is no such tenant."""
    key_id, bearer = keys.new_id("key"), keys.new_bearer()
    values = {"id": key_id, "tenant_id": tenant_id, "scope": scope.value, "hash": keys.bearer_hash(bearer)}
    with engine.connect() as connection:
        return (key_id, bearer) if connection.execute(_CREATE_KEY, values).first() else None


def revoke_key(engine: Engine, key_id: str) -> bool:
    """Revoke a bearer key; False where there is none in force with this id."""
    with engine.connect() as connection:
        return connection.execute(_REVOKE, {"id": key_id}).first() is not None


def list_keys(engine: Engine) -> list[ApiKey]:
    """All bearer keys, oldest first."""
    with engine.connect() as connection:
        return [ApiKey(row.id, row.tenant_id, Scope(row.scope), row.revoked) for row in connection.execute(_KEYS)]


def find_caller(engine: Engine, bearer: str) -> Caller | None:
    """Whom a bearer key speaks for; None for an unknown or revoked one."""
    with engine.connect() as connection:
        row = connection.execute(_CALLER, {"hash": keys.bearer_hash(bearer)}).first()
    return None if row is None else _caller(row.tenant_id, Scope(row.scope), row)


def find_tenant(engine: Engine, tenant_id: str) -> Caller | None:
    """A tenant, as its agent would call; None for an unknown one."""
    with engine.connect() as connection:
        row = connection.execute(_TENANT, {"id": tenant_id}).first()
    return None if row is None else _caller(row.id, Scope.AGENT, row)


def _caller(tenant_id: str, scope: Scope, row: Row[Any]) -> Caller:
    # Written by a newer release, they may hold names that this one doesn't know. `create_tenant` takes known ones only.
    settings = TenantSettings.model_validate(row.settings, extra="ignore")
    return Caller(tenant_id, scope, bytes(row.secret), settings)
