"""The roomkey command: up, demo, submit, status, doctor, and every process."""
