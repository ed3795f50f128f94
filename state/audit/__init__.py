"""State of the pages for the audit log."""
