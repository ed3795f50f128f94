"""Attempts to break Signum."""
