"""Table of the executors' leases."""

from datetime import datetime

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from backend.core.columns import time_field


class ExecutorLeaseRow(SQLModel, table=True):
    """The lease of a process that runs workflows. Times are the database's."""

    __tablename__ = "executor_leases"

    id: str = Field(primary_key=True)
    """The executor's name."""
    epoch: int = 1
    """How often the process has joined: 1 at its start, and one more each time it returns after it lost its lease."""
    progress: int = Field(default=0, sa_type=sa.BigInteger)
    """How often the lease was renewed."""
    joined_at: datetime = time_field()
    renewed_at: datetime = time_field(index=True)
