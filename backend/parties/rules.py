"""What may be decided about a party, and what is taken as a document of one. Pure."""

from backend.errors import BadRequest, Conflict, Invalid, UnsupportedMediaType
from backend.parties.schemas import DocumentKind, PartyStatus

MAGIC = {"application/pdf": b"%PDF-", "image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
"""How a content of each type begins."""
ENDINGS = {"application/pdf": (".pdf",), "image/png": (".png",), "image/jpeg": (".jpg", ".jpeg")}
"""How the name of a file of each type ends; the first is added to one that ends otherwise."""
UNTYPED = "application/octet-stream"


def check_verify(status: PartyStatus, reason: str | None) -> None:
    """A rejected party is verified only by somebody who says why; any other at any time, to change its level too."""
    if status is PartyStatus.REJECTED and reason is None:
        raise BadRequest("This party was rejected; verifying it now takes a reason.", pointer="/reason")


def check_reject(status: PartyStatus) -> None:
    """A rejected party stays as it is."""
    if status is PartyStatus.REJECTED:
        raise Conflict("This party is rejected already.")


def after_upload(status: PartyStatus) -> PartyStatus:
    """The first document begins a review; a party under review, or decided about, stays what it is."""
    return PartyStatus.VERIFYING if status is PartyStatus.CREATED else status


def media_type(content: bytes, declared: str) -> str:
    """What a content is by how it begins; 415 where that is none of the three, or not what it was sent as."""
    if not content:
        raise Invalid([{"pointer": "/", "detail": "is empty; send the file itself as the body"}])
    found = next((kind for kind, start in MAGIC.items() if content.startswith(start)), None)
    if found is None:
        raise UnsupportedMediaType("A document is a PDF, PNG or JPEG file; this is none by how it begins.")
    if declared not in (found, UNTYPED):
        raise UnsupportedMediaType(f"The file is {found} by how it begins, but was sent as {declared or 'nothing'}.")
    return found


def file_name(name: str | None, kind: DocumentKind, media_type: str) -> str:
    """The name a document is kept and downloaded under: no folders in it, and an ending that tells what it is."""
    plain = (name or kind).replace("\\", "/").rpartition("/")[2].strip(". ") or str(kind)
    endings = ENDINGS[media_type]
    return plain if plain.lower().endswith(endings) else plain + endings[0]
