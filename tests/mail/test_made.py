"""Which adapter a provider gets."""

import pytest
from pydantic import SecretStr

from booking.settings import Provider, ProviderKind, Settings
from providers.made import Unusable, made, url_of
from providers.reference import ReferencePms
from providers.smtp import SmtpMail
from providers.stripe_payments import StripePayments
from workers.assemble import Incomplete, providers

MAIL = Provider(kind=ProviderKind.SMTP)
CARDS = Provider(kind=ProviderKind.STRIPE, token=SecretStr("sk_test_x"))


def test_each_kind_has_its_adapter() -> None:
    settings = Settings(
        pms_url="http://pms.example", smtp_url="smtp://mx.example", providers={"p": Provider(), "m": MAIL, "c": CARDS}
    )
    adapters = {name: type(port) for name, port in providers(settings).items()}
    assert adapters == {"p": ReferencePms, "m": SmtpMail, "c": StripePayments}


def test_a_mail_server_that_nobody_names_is_left_out() -> None:
    settings = Settings(pms_url="http://pms.example", providers={"p": Provider(), "m": MAIL})
    assert made(MAIL, "m", settings) is None
    assert list(providers(settings)) == ["p"]


def test_a_url_of_its_own_comes_first() -> None:
    settings = Settings(pms_url="http://pms.example", smtp_url="smtp://mx.example")
    own = {"url": "smtps://own.example"}
    assert url_of(MAIL.model_copy(update=own), settings) == "smtps://own.example"
    assert url_of(MAIL, settings) == "smtp://mx.example"
    assert url_of(Provider(), settings) == "http://pms.example"
    assert url_of(CARDS, settings) is None


@pytest.mark.parametrize(
    ("provider", "told"),
    [
        (Provider(), "providers.x.url: is not set, nor is ROOMKEY_PMS_URL; name one, or run `roomkey up`"),
        (
            Provider(url="smtp://mx.example/inbox", kind=ProviderKind.SMTP),
            "providers.x: a mail server's url must be smtp(s)://host[:port]; correct its settings",
        ),
        (Provider(url="http://pms.example", token=SecretStr("a b ")), "providers.x: the provider's token must be"),
        (Provider(kind=ProviderKind.STRIPE), "providers.x: Stripe needs a secret key as its token"),
    ],
)
def test_what_can_not_be_used_is_told_with_its_place(provider: Provider, told: str) -> None:
    settings = Settings(providers={"x": provider})
    with pytest.raises(Unusable) as caught:
        made(provider, "x", settings)
    assert str(caught.value).startswith(told)
    with pytest.raises(Incomplete) as stopped:
        providers(settings)
    assert str(stopped.value) == str(caught.value)
