"""What may be decided about a party. Pure."""

from backend.errors import BadRequest, Conflict
from backend.parties.schemas import PartyStatus


def check_verify(status: PartyStatus, reason: str | None) -> None:
    """A rejected party is verified only by somebody who says why; any other at any time, to change its level too."""
    if status is PartyStatus.REJECTED and reason is None:
        raise BadRequest("This party was rejected; verifying it now takes a reason.", pointer="/reason")


def check_reject(status: PartyStatus) -> None:
    """A rejected party stays as it is."""
    if status is PartyStatus.REJECTED:
        raise Conflict("This party is rejected already.")
