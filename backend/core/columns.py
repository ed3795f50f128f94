"""Columns that tables share: amounts, times, statuses, JSON, and the owning organization."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import UUID as PgUuid
from sqlmodel import Field, SQLModel

from backend.core.db import new_id, now
from backend.core.recorded_time import recorded_now


class AmountType(sa.TypeDecorator[int]):
    """A token amount in base units: numeric(78, 0) in the database, int in Python, exact."""

    impl = sa.Numeric(78, 0)
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Any) -> int | None:
        """Convert numeric to int."""
        return None if value is None else int(value)


def amount_field(default: int | None = 0, **kwargs: Any) -> Any:
    """Return a column for a token amount in base units."""
    return Field(default=default, sa_type=AmountType, nullable=default is None, **kwargs)


def time_field(nullable: bool = False, **kwargs: Any) -> Any:
    """Return a column for an aware time. It defaults to now unless it is nullable."""
    if nullable:
        return Field(default=None, sa_type=sa.DateTime(timezone=True), nullable=True, **kwargs)
    return Field(default_factory=now, sa_type=sa.DateTime(timezone=True), nullable=False, **kwargs)


def status_field(
    values: type[StrEnum], default: StrEnum | None = None, *, nullable: bool = False, **kwargs: Any
) -> Any:
    """Return a column for a status: text, constrained in the database to the enum's values."""
    kind = sa.Enum(
        values,
        native_enum=False,
        create_constraint=True,
        length=32,
        name=values.__name__.lower(),
        values_callable=lambda e: [m.value for m in e],
    )
    return Field(default=default, sa_type=kind, nullable=nullable, **kwargs)


def json_field(default: Any = None, **kwargs: Any) -> Any:
    """Return a column for JSON."""
    return Field(default_factory=(default if callable(default) else lambda: default), sa_type=JSONB, **kwargs)


def organization_field() -> Any:
    """Return the column of the owning organization, on which row-level security depends."""
    return Field(sa_type=PgUuid(as_uuid=True), foreign_key="organizations.id", index=True, nullable=False)


def sort_indexes(table: str, *columns: str, by: str = "organization_id") -> tuple[sa.Index, ...]:
    """Return the indexes of a list's sorts: of the rows that `by` selects, in both directions.

    An expression such as `lower(name)` is a sort too.
    """
    return tuple(
        sa.Index(
            f"ix_{table}_by_{column.strip(')').rpartition('(')[2]}" + ("" if by == "organization_id" else f"_of_{by}"),
            by,
            sa.text(column) if "(" in column else column,
            "id",
        )
        for column in columns
    )


def filter_indexes(table: str, *columns: str, by: str = "organization_id") -> tuple[sa.Index, ...]:
    """Return the indexes of a list's filters: of the rows with a value, newest first, however rare the value is."""
    return tuple(sa.Index(f"ix_{table}_of_{column}", by, column, "created_at", "id") for column in columns)


def record_time_field(**kwargs: Any) -> Any:
    """Return a column for when something was recorded."""
    return Field(default_factory=recorded_now, sa_type=sa.DateTime(timezone=True), nullable=False, **kwargs)


class Row(SQLModel):
    """Columns that every table has."""

    id: UUID = Field(default_factory=new_id, primary_key=True)
    created_at: datetime = record_time_field()
    updated_at: datetime = record_time_field(sa_column_kwargs={"onupdate": recorded_now})


class SecurityRow(Row):
    """Columns of the tables of sign-in, credentials and limits, which follow the machine's clock."""

    created_at: datetime = time_field()
    updated_at: datetime = time_field(sa_column_kwargs={"onupdate": now})


NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
SQLModel.metadata.naming_convention = NAMING
