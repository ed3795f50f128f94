"""What tells other programs that something has changed."""
