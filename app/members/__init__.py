"""Pages of members, invitations and their emails."""
