"""Approval by a second person, for the actions that an organization chooses."""
