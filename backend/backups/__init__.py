"""Backups of an installation, and their restoration."""
