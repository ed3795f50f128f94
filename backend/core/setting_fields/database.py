"""Settings of an external database."""

from typing import Self

from pydantic import AliasChoices, Field, model_validator
from pydantic_settings import BaseSettings

from backend.core.setting_fields.urls import PostgresUrl


class DatabaseSettings(BaseSettings):
    """URLs of an external PostgreSQL and its roles; without them the embedded server is used."""

    database_url: PostgresUrl | None = Field(None, validation_alias=AliasChoices("DATABASE_URL", "database_url"))
    """The owner's URL (`postgresql://…`); None starts the embedded server."""

    database_url_web: PostgresUrl | None = None
    """URL of a login role in `signum_app`; with None, migrations create one. `SIGNUM_DATABASE_URL_WEB`."""

    database_url_worker: PostgresUrl | None = None
    """URL of a login role in `signum_worker`; with None, migrations create one. `SIGNUM_DATABASE_URL_WORKER`."""

    database_url_replica: PostgresUrl | None = None
    """URL of a streaming replica for large reads, with the user of `database_url_web`, or without that one of
    `database_url`; None reads from the primary. `SIGNUM_DATABASE_URL_REPLICA`."""

    database_connections: int = Field(92, ge=40)
    """Most connections that a process opens to PostgreSQL, and to a replica. `SIGNUM_DATABASE_CONNECTIONS`."""

    @model_validator(mode="after")
    def _roles_are_set_together(self) -> Self:
        if (self.database_url_web is None) != (self.database_url_worker is None):
            raise ValueError("SIGNUM_DATABASE_URL_WEB and SIGNUM_DATABASE_URL_WORKER must be set together")
        return self

    @model_validator(mode="after")
    def _replica_has_a_primary(self) -> Self:
        if self.database_url_replica is not None and self.outside_database is None:
            raise ValueError("SIGNUM_DATABASE_URL_REPLICA requires DATABASE_URL, the primary that it follows")
        return self

    @property
    def outside_database(self) -> str | None:
        """Return the URL of an external database: the owner's, else a login role's.

        None where the database is embedded.
        """
        return self.database_url or self.database_url_web
