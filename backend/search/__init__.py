"""Search over everything an organization's reader may see."""
