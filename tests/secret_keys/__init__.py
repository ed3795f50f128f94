"""Keys in the database."""
