"""Addresses as they count here: who writes one in capitals, or its domain in Unicode, means the same one."""

import unicodedata

import idna


def folded(address: str) -> str:
    """The address in lower case, its domain as the name service knows it. Anything else only in lower case."""
    local, at, domain = unicodedata.normalize("NFC", address).lower().rpartition("@")
    try:
        return f"{local}{at}{idna.encode(domain, uts46=True).decode()}"
    except idna.IDNAError:
        return f"{local}{at}{domain}"
