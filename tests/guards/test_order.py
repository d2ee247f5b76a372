"""Who stops several conversations takes their tenants' locks in one order: two of them can't lock each other."""

from dataclasses import replace

from booking.settings import Guards, TenantSettings
from dedupe.admit import admit
from dedupe.engine import Engine
from dedupe.guards import note_intents
from dedupe.tenants import create_tenant
from tests.api.work import refuse
from tests.dedupe.rows import asking, rows

TENANTS = [f"t-{letter}" for letter in "hcagbfed"]


def test_conversations_are_stopped_in_the_order_of_their_tenants(engine: Engine) -> None:
    intents = []
    for tenant in TENANTS:
        create_tenant(engine, tenant, TenantSettings(guards=Guards(same_call_failures=1)))
        admitted = admit(engine, replace(asking(), tenant_id=tenant))
        [(item, _)] = admitted.publish
        refuse(engine, item)
        intents.append(admitted.intent_id)
    note_intents(engine, intents)
    # An event is numbered when its tenant's lock is taken.
    assert [row.tenant_id for row in rows(engine, "SELECT tenant_id FROM events ORDER BY id")] == sorted(TENANTS)
