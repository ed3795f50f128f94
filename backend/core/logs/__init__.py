"""Log lines: their form, the ids on them, and counts."""
