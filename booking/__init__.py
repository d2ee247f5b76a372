"""The words: tools and arguments, keys, states, outcomes, errors, results, settings. No I/O."""
