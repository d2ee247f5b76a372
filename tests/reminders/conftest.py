"""An office at a real hotel system with a real mail server."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from booking.settings import Mode, Provider, ProviderKind
from dedupe.engine import Engine
from providers.limiter import Limiter
from providers.reference import ReferencePms, capabilities_of
from providers.smtp import smtp_mail
from tasks.runtime import Runtime
from tasks.wake import Waker, redis_client
from tests.api.serving import Api, settings_for
from tests.conftest import Tenant
from tests.mail.catching import Caught, start_catcher
from tests.pms import Pms
from tests.reminders.office import Office


@pytest.fixture(scope="session")
def catcher() -> Iterator[Caught]:
    with start_catcher() as caught:
        yield caught


@pytest.fixture
def office(
    database_url: str, redis_url: str, tenant: Tenant, engine: Engine, pms: Pms, catcher: Caught
) -> Iterator[Office]:
    catcher.clear()
    redis = redis_client(redis_url)
    # Generous, so that a busy machine makes no timeouts that no test asked for.
    declared = replace(capabilities_of(Provider(mode=Mode.KEYED, url=pms.url)), read_deadline=10.0, send_window=10.0)
    mail = Provider(kind=ProviderKind.SMTP, url=catcher.smtp_url)
    providers = {"pms": ReferencePms(pms.url, declared, {}), "mail": smtp_mail(mail, catcher.smtp_url)}
    runtime = Runtime(engine, providers, Limiter(redis, {}), Waker(redis))
    named = {"pms": {"url": pms.url}, "mail": {"kind": "smtp", "url": catcher.smtp_url}}
    with Api.started(settings_for(database_url, redis_url, providers=named), tenant, engine) as api:
        yield Office(api, engine, runtime, pms, catcher, redis, redis_url)
