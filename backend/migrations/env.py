"""Alembic's environment: migrations run as the database's owner, over the caller's connection."""

from typing import Any

from alembic import context

VERSION: dict[str, Any] = {"version_table": "schema_version", "transaction_per_migration": True}
config = context.config
if context.is_offline_mode():
    context.configure(
        dialect_name=config.attributes["dialect"],
        # Other styles double every percent sign of the output.
        dialect_opts={"paramstyle": "named"},
        literal_binds=True,
        output_buffer=config.output_buffer,
        **VERSION,
    )
else:
    context.configure(connection=config.attributes["connection"], **VERSION)
with context.begin_transaction():
    context.run_migrations()
