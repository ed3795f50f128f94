"""Registrations of verticals: indexed event streams, and listeners to changes."""
