"""The mail catcher: a mail server of its own process that delivers nothing, with a ledger, faults and pages to look."""
