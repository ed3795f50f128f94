"""The steps from an empty organization to its first market."""
