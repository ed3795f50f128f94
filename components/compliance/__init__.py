"""Components for compliance rules."""
