"""Which schemas this version of Signum starts with, and migrates."""

from collections.abc import Sequence
from dataclasses import dataclass

SHOWN = 5
"""How many differences a refusal names."""


@dataclass(frozen=True)
class State:
    """The schema's version, or None in an empty database, and how its objects differ from those that the migration
    left. None where that is unknown: another major version of PostgreSQL, or another query, may show definitions
    otherwise, and an interrupted migration has left none."""

    version: str | None
    drift: list[str] | None
    is_known: bool = True
    """False in a database whose schema is older than the first revision's."""


def refusal(
    found: State, known: Sequence[str], *, must_be_newest: bool = False, accepts_drift: bool = False
) -> str | None:
    """Return why a database's schema is refused and what to do, in one line; None if it is accepted.

    `known` are this version's revisions, oldest first. Without `must_be_newest` an older schema is accepted, as it is
    migrated next.
    """
    if found.version is not None and found.version > known[-1]:
        return (
            f"The database's schema {found.version} is newer than this version of Signum, which knows the schemas up "
            f"to {known[-1]}. Start the version that migrated it, or a newer one."
        )
    if must_be_newest and found.version != known[-1]:
        have = f"is {found.version}, not {known[-1]}" if found.version else "is missing"
        return f"The database's schema {have}. Run `signum migrate` as its owner."
    if not found.is_known or found.version not in (None, *known):
        return (
            "The database was created by version 0.1.0 or an earlier one, whose schema cannot be migrated. Set "
            "SIGNUM_HOME to a new data folder or delete this one, or set DATABASE_URL to a new database."
        )
    if found.drift and not accepts_drift:
        return (
            f"The database's schema differs from what the migration left: {_named(found.drift)}. Undo these changes, "
            "or accept them with `signum migrate --accept-drift`."
        )
    return None


def _named(drift: Sequence[str]) -> str:
    more = len(drift) - SHOWN
    return ", ".join(drift[:SHOWN]) + (f", and {more} more" if more > 0 else "")
