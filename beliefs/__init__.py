"""The rules, pure: from text to claims, from evidence to beliefs. No clock, no randomness, no I/O."""
