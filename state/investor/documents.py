"""The investor's documents: statements, what they uploaded, and what the organization did."""

import asyncio
from dataclasses import dataclass

import reflex as rx

from backend.client import ApiProblem
from backend.investor_records.schemas import InvestorDocument
from backend.investors.schemas import InvestorParty, InvestorStatement
from state.core.api import Loads
from state.core.arguments import one_of
from state.core.dates import stamp
from state.investor import words
from state.parties.document import KINDS, size_of


@dataclass
class StatementView:
    """A month with a statement."""

    title: str
    csv: str
    pdf: str
    is_complete: bool


@dataclass
class OwnDocument:
    """A document of one of the investor's parties."""

    id: str
    name: str
    kind: str
    size: str
    by: str
    at: str
    href: str
    party: str
    """Its party, where the investor has several."""


class InvestorDocuments(Loads, rx.State):
    """The page Documents."""

    organization: str = ""
    parties: list[dict[str, str]] = []
    party: str = ""
    """The party that an upload is for."""
    documents: list[OwnDocument] = []
    statements: list[StatementView] = []

    @rx.event
    async def load(self) -> None:
        """Read the page."""
        membership, api = self._in_path("membership_id"), self._api
        try:
            person, documents, statements = await asyncio.gather(
                api.get_investor(membership),
                api.get_investor_documents(membership),
                api.get_investor_statements(membership),
            )
        except ApiProblem as problem:
            self._failed(problem)
            return
        self.organization = person.organization_name
        self.parties = [{"value": str(one.id), "label": one.name} for one in person.parties]
        self.party = one_of(self.party, [one["value"] for one in self.parties], _first(person.parties))
        self._show(documents.documents)
        self.statements = [_statement(membership, one) for one in statements.statements]
        self._loaded()

    def _show(self, documents: list[InvestorDocument]) -> None:
        names = {one["value"]: one["label"] for one in self.parties} if len(self.parties) > 1 else {}
        membership = self._in_path("membership_id")
        self.documents = [_document(membership, one, self.organization, names) for one in documents]

    @rx.event
    def pick_party(self, party: str) -> None:
        """Select the party that an upload is for."""
        self.party = one_of(party, [one["value"] for one in self.parties], self.party)

    @rx.event
    async def uploaded(self) -> None:
        """Read the documents again after an upload."""
        try:
            found = await self._api.get_investor_documents(self._in_path("membership_id"))
        except ApiProblem as problem:
            await self._lacks("Your documents", problem)
            return
        self._show(found.documents)
        await self._notify("Document uploaded", f"{self.organization} can read it now.")


def _first(parties: list[InvestorParty]) -> str:
    return str(parties[0].id) if parties else ""


def _document(membership: str, one: InvestorDocument, organization: str, parties: dict[str, str]) -> OwnDocument:
    return OwnDocument(
        id=str(one.id),
        name=one.name,
        kind=KINDS.get(one.kind, one.kind),
        size=size_of(one.size),
        by="Uploaded by you" if one.is_from_investor else f"Added by {organization}",
        at=stamp(one.created_at),
        href=f"/v1/investor/{membership}/documents/{one.id}",
        party=parties.get(str(one.party_id), ""),
    )


def _statement(membership: str, one: InvestorStatement) -> StatementView:
    file = f"/v1/investor/{membership}/statements.%s?month={one.month}"
    return StatementView(words.month(one.month), file % "csv", file % "pdf", one.is_complete)
