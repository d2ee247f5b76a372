"""The PMS simulator: a hotel system of its own process, with a ledger of every call and faults on request."""
