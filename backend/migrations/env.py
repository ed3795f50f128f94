"""Alembic's environment: migrations run as the database's owner, over the caller's connection."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, version_table="schema_version")
with context.begin_transaction():
    context.run_migrations()
