"""Drafts: what a person has entered in a form and not sent yet."""
