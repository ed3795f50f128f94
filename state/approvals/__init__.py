"""State of the pages for approvals."""
