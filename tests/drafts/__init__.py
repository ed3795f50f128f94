"""Drafts of forms."""
