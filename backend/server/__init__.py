"""The processes `signum serve` and `signum worker`, with everything they start and stop."""
