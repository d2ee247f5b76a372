"""HTTP: hand in an intent, poll for its answer, ask what a guest owns."""
