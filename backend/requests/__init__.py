"""Requests: accepted operations and their progress."""
