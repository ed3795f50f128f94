"""The label of this process: part of its executor's name, and the application name of its database connections."""

import os
import secrets
import socket
from dataclasses import dataclass, field

from backend.core.runtime import runtime


@dataclass
class Label:
    """Distinguishes this process from earlier ones with the same process id."""

    text: str = field(default_factory=lambda: f"{os.getpid()}-{secrets.token_hex(3)}")


def application_name() -> str:
    """Return the application name of this process's connections."""
    return f"signum-{runtime.part(Label).text}"


def executor_name(role: str) -> str:
    """Return the name of this process's executor."""
    return f"{role}-{socket.gethostname()}-{runtime.part(Label).text}"


def of_executor(name: str) -> str:
    """Return the application name of an executor's connections."""
    return "-".join(["signum", *name.split("-")[-2:]])
