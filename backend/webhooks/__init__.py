"""Webhooks: notifications of changes."""
