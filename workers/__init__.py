"""The processes: worker, caretaker, signals."""
