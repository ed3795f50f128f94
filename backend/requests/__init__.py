"""Requests: accepted operations and how far they are."""
