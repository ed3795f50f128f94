"""Components for invitations."""
