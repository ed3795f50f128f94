"""Invitations and their emails."""
