"""What happens to a message: publish, write; attempt, decide; relay, prune; operations."""
