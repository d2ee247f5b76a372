"""The PMS simulator: a hotel system of its own process, with a ledger of every call and faults on request.

The contract's calls are in app.py; what steers them, in control.py: faults (faults.py and troubles.py), the front desk
and seeded bookings (desk.py), inventory, prices, modes and the ledger.
"""
