"""Keys in the database: their creation at the first start, and their rotation."""
