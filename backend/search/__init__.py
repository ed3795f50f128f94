"""Search over everything a reader of an organization may see."""
