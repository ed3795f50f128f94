"""Organizations and their hierarchy."""
