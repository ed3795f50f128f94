"""State of drafts."""
