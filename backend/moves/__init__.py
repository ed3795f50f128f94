"""Moving an organization to another parent, in the database and on every chain."""
