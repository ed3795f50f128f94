"""State of notifications."""
