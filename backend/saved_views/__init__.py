"""Saved views: filters of a list that a person keeps under a name."""
