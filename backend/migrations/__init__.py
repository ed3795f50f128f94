"""The database schema, managed with Alembic."""
