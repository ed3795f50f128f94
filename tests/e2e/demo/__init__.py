"""The demo with its year."""
