"""The database's schema, by Alembic."""
