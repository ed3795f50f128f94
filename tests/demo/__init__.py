"""The demo: what it creates, and its reset."""
