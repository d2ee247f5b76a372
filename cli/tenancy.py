"""The tenant that `roomkey up` makes, so that a first booking needs no preparation."""

from pathlib import Path

from booking.settings import Settings, TenantSettings
from cli.state import Keys, read_keys, write_keys

TENANT = "demo"


def demo_keys(settings: Settings, data: Path) -> dict[str, str]:
    """Migrate, and return the tenant's keys by scope: the kept ones as far as this database knows them."""
    from cli.database import opened
    from dedupe import tenants
    from dedupe.migrate import migrate

    kept = read_keys(data)
    keys = dict(kept.keys) if kept else {}
    with opened(settings, migrated=False) as engine:
        migrate(engine)
        tenants.create_tenant(engine, TENANT, TenantSettings())
        for scope in tenants.Scope:
            caller = tenants.find_caller(engine, keys[scope]) if scope in keys else None
            if caller is None or caller.scope is not scope:
                made = tenants.create_key(engine, TENANT, scope)
                assert made is not None, "the tenant was made above"
                keys[scope.value] = made[1]
    write_keys(data, Keys(tenant=TENANT, keys=keys))
    return keys
