"""State of the pages for compliance rules."""
