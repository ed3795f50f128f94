"""Browser tests of organizations, members and invitations."""
