"""Friday 18:40, played on real parts: what goes wrong at a hotel system, and what the guest ends up with."""
