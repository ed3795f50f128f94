"""Response bodies of the demo's sign-in."""

from pydantic import BaseModel, Field

from backend.users.schemas import Role


class DemoPerson(BaseModel):
    """A person of the demo, as whom a browser on this machine can sign in without a password."""

    role: Role
    name: str
    task: str = Field(description="What they are about to do.", examples=["Reviews two investors"])


class Demo(BaseModel):
    """The demo of this installation. It has no people until it has been created."""

    is_ready: bool
    doing: str = Field(description="What is being created; empty when the demo is ready.", examples=["March 2026"])
    percent: int = Field(ge=0, le=100, description="How much of the demo has been created.")
    people: list[DemoPerson]
    start_over_path: str | None = Field(
        description="The console's page that resets the demo; null where this process cannot be reset."
    )
