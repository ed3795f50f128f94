"""Rules of decisions about a party, and of its documents. Pure functions."""

from backend.core.content_rules import MAGIC, UNTYPED
from backend.core.errors import BadRequest, Conflict, Invalid, UnsupportedMediaType
from backend.parties.schemas import DocumentKind, PartyStatus

ENDINGS = {"application/pdf": (".pdf",), "image/png": (".png",), "image/jpeg": (".jpg", ".jpeg")}
"""File extensions of each type; the first is appended to a name that has none of them."""


def check_verify(status: PartyStatus, reason: str | None) -> None:
    """Check a verification: a rejected party needs a reason; any other can be verified at any time, also to change its
    level."""
    if status is PartyStatus.REJECTED and reason is None:
        raise BadRequest("This party was rejected. Give a reason to verify it now.", pointer="/reason")


def check_expected(status: PartyStatus, expected: PartyStatus | None) -> None:
    """Raise 409 if a decision was made for a party with another status: another person has decided in the meantime."""
    if expected is not None and status is not expected:
        raise Conflict(f"The party is {status} by now, not {expected}. Read it again, then decide.")


def check_reject(status: PartyStatus) -> None:
    """Check a rejection: a rejected party cannot be rejected again."""
    if status is PartyStatus.REJECTED:
        raise Conflict("This party is already rejected.")


def after_upload(status: PartyStatus) -> PartyStatus:
    """Return the status after an upload: the first document starts a review; a party under review or decided keeps its
    status."""
    return PartyStatus.VERIFYING if status is PartyStatus.CREATED else status


def media_type(content: bytes, declared: str) -> str:
    """Return the media type detected from the first bytes; 415 if it is not supported, or differs from the declared
    one."""
    if not content:
        raise Invalid([{"pointer": "/", "detail": "is empty; send the file itself as the body"}])
    found = next((kind for kind, start in MAGIC.items() if content.startswith(start)), None)
    if found is None:
        raise UnsupportedMediaType("A document must be a PDF, PNG or JPEG file. The first bytes match none of them.")
    if declared not in (found, UNTYPED):
        raise UnsupportedMediaType(f"The file's first bytes say {found}, but it was sent as {declared or 'nothing'}.")
    return found


def file_name(name: str | None, kind: DocumentKind, media_type: str) -> str:
    """Return the name a document is stored and downloaded under: without folders, with a matching extension."""
    plain = (name or kind).replace("\\", "/").rpartition("/")[2].strip(". ") or str(kind)
    endings = ENDINGS[media_type]
    return plain if plain.lower().endswith(endings) else plain + endings[0]
