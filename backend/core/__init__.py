"""Foundations of the backend: settings, database, errors, fields. No module here depends on a vertical."""
