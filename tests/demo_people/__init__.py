"""Signing in as a person of the demo."""
