"""Measurements: one file a scenario. Each starts what it needs, in a temp folder, and stops it again."""
