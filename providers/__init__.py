"""The outside systems: ports, capabilities, one adapter each, limits, and the PMS simulator."""
