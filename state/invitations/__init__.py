"""State of the pages for invitations."""
