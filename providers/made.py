"""Which adapter speaks to which provider: the one place that knows all kinds."""

from booking.settings import Provider, ProviderKind, Settings
from providers.ports import Port
from providers.reference import reference_pms
from providers.smtp import smtp_mail


class Unusable(ValueError):
    """A provider's settings lead to no adapter; the message names the place and the mend."""


def url_of(provider: Provider, settings: Settings) -> str | None:
    """Where the provider is, as far as the settings say. A Stripe without a url is at Stripe's own address."""
    match provider.kind:
        case ProviderKind.REFERENCE:
            return provider.url or settings.pms_url
        case ProviderKind.SMTP:
            return provider.url or settings.smtp_url
        case ProviderKind.STRIPE:
            return provider.url


def made(provider: Provider, name: str, settings: Settings) -> Port | None:
    """The adapter of `provider`, or Unusable. Nothing is connected yet.

    None: a mail server whose address nobody has named. No mail can be sent then, which is no error.
    """
    url = url_of(provider, settings)
    try:
        match provider.kind:
            case ProviderKind.SMTP:
                return smtp_mail(provider, url) if url is not None else None
            case ProviderKind.STRIPE:
                from providers.stripe_payments import stripe_payments  # its library takes long to import

                return stripe_payments(provider)
            case ProviderKind.REFERENCE if url is not None:
                return reference_pms(provider, url)
    except ValueError as error:
        raise Unusable(f"providers.{name}: {error}; correct its settings") from None
    raise Unusable(f"providers.{name}.url: is not set, nor is ROOMKEY_PMS_URL; name one, or run `roomkey up`")
