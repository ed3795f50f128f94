"""State of saved views."""
