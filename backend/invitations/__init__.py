"""Invitations and the mails that carry them."""
