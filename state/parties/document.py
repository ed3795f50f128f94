"""A party's document as the drawer shows it."""

from dataclasses import dataclass

from backend.parties.schemas import Document
from state.core.dates import stamp

KINDS = {
    "passport": "Passport",
    "id_card": "Identity card",
    "proof_of_address": "Proof of address",
    "company_register": "Register extract",
    "source_of_funds": "Source of funds",
    "other": "Other",
}
EXTENSIONS = (".pdf", ".png", ".jpg", ".jpeg")
MAX_BYTES = 10_485_760
"""Maximum bytes of a document."""


@dataclass
class DocumentView:
    """A document; `href` downloads it with the user's own session."""

    id: str
    name: str
    kind: str
    size: str
    by: str
    at: str
    href: str


def document_view(document: Document) -> DocumentView:
    """Convert the API's document."""
    path = f"/v1/identity/parties/{document.party_id}/documents/{document.id}"
    return DocumentView(
        id=str(document.id),
        name=document.name,
        kind=KINDS.get(document.kind, document.kind),
        size=size_of(document.size),
        by=_by(document),
        at=stamp(document.created_at),
        href=f"{path}?organization_id={document.organization_id}",
    )


def _by(document: Document) -> str:
    if not document.uploaded_by_name:
        return ""
    return f"by {document.uploaded_by_name}{', the investor' if document.is_from_investor else ''}"


def size_of(count: int) -> str:
    """Format a number of bytes."""
    if count < 1_024:
        return f"{count} B"
    return f"{count / 1_024:.0f} KB" if count < 1_048_576 else f"{count / 1_048_576:.1f} MB"
