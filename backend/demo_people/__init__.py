"""Signing in as a person of the demo, on the machine of an embedded installation."""
