"""The state of an organization's business on the overview."""
