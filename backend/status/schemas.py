"""API schemas of status routes that need no credential."""

from typing import Literal

from pydantic import BaseModel


class Health(BaseModel):
    """The process responds."""

    status: Literal["ok"] = "ok"


class Ready(BaseModel):
    """What is still being prepared; `failure` is why preparation cannot finish, `faults` list what currently prevents
    work (database, disk, workflow engine), `notes` degraded operation."""

    ready: bool
    waiting: list[str]
    failure: str | None
    faults: list[str] = []
    notes: list[str] = []


class ErrorType(BaseModel):
    """Explanation of an error type."""

    slug: str
    title: str
    status: int
    explanation: str
    resolution: str
