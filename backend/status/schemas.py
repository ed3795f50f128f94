"""What is told without a credential."""

from typing import Literal

from pydantic import BaseModel


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Ready(BaseModel):
    """What is still being prepared; `failure` is why it will not be, `notes` what works less well than it should."""

    ready: bool
    waiting: list[str]
    failure: str | None
    notes: list[str] = []


class ErrorType(BaseModel):
    """An error type in words."""

    slug: str
    title: str
    status: int
    explanation: str
    resolution: str
