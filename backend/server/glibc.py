"""Check of the C library: the embedded PostgreSQL and chains are built for the GNU C library."""

import os
import sys

from backend.core.errors import CannotStart
from backend.core.settings import Settings

Version = tuple[int, int]
POSTGRESQL: Version = (2, 27)
CHAINS: Version = (2, 35)
"""The oldest glibc that each is linked against (`objdump -T … | grep GLIBC_`)."""


def installed() -> Version | None:
    """Return the machine's glibc version; None with another C library, such as Alpine's musl."""
    try:
        name, _, number = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except (ValueError, OSError):
        return None
    if name != "glibc":
        return None
    major, minor = number.split(".")[:2]
    return int(major), int(minor)


def check(settings: Settings) -> None:
    """Raise CannotStart, with the alternative setting, where an embedded program cannot run."""
    if not sys.platform.startswith("linux"):
        return
    if settings.embedded_chains and "SIGNUM_ANVIL" not in os.environ:
        _need("EVM chains", CHAINS, "SIGNUM_RPC_URLS or SIGNUM_ANVIL")
    if settings.outside_database is None:
        _need("PostgreSQL", POSTGRESQL, "DATABASE_URL")


def _need(part: str, oldest: Version, instead: str) -> None:
    here = installed()
    if here is not None and here >= oldest:
        return
    found = f"this machine has {_text(here)}" if here else "this machine has a different C library, such as musl"
    raise CannotStart(
        f"The embedded {part} need glibc {_text(oldest)} or newer; {found}. Alternatively, set {instead}."
    )


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
