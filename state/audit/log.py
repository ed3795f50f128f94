"""The audit log: its entries in pages, one of them in the drawer, and the verification of the hash chain."""

from dataclasses import replace
from datetime import date, timedelta, tzinfo
from typing import ClassVar
from urllib.parse import urlencode

import reflex as rx

from backend.audit.schemas import AuditVerification
from backend.client import ApiProblem
from state.audit.differences import KINDS
from state.audit.views import AuditAction, AuditEntryView, actions, entry_view, rest_of
from state.core.address import Addressed, Param, choice, identifier, opened
from state.core.api import Api
from state.core.arguments import id_of, number, one_of
from state.core.dates import start_of
from state.core.events import Events
from state.core.paging import Pages
from state.core.references import References

FIRST_DAY, LAST_DAY = "0001-01-02", "9999-12-30"
"""Days beyond which a time zone may have no moment."""
FOLLOWING = 20
"""Entries of the next page that are read to complete the actions of this one."""


class AuditState(References, Pages, rx.State):
    """The log, newest first, in the API's pages; the entries of one action are one row."""

    rows: list[AuditAction] = []
    """The page's entries by action."""
    _entries: list[AuditEntryView] = []
    _shown: dict[str, list[int]] = {}
    """By cursor, the entries that the page before it shows with an action which ends there."""
    _sorts: ClassVar[tuple[str, ...]] = ("seq",)
    people: list[dict[str, str]] = []
    people_problem: str = ""
    kind: str = ""
    person: str = ""
    first_day: str = ""
    last_day: str = ""
    _in_url: ClassVar[dict[str, Param]] = {
        "kind": choice("kind", KINDS),
        "who": identifier("person"),
        "from": Param("first_day", lambda _, text: _day(text)),
        "until": Param("last_day", lambda _, text: _day(text)),
    }
    query: str = ""
    """The filters as the API's query, for the CSV; empty without filters."""

    async def _fetch(self, cursor: str) -> str | None:
        since, until = await self._days()
        query = {
            "action": self.kind or None,
            "actor": self.person or None,
            "since": since or None,
            "until": until or None,
            **self._order(),
        }
        page = await self._api.list_audit(self._org_id(), cursor=cursor or None, **query)
        entries = [entry_view(entry, self._known) for entry in page.audit]
        if not cursor:
            self._shown = {}  # of other filters, or of before an entry was added
        if page.nextCursor:
            following = await self._api.list_audit(self._org_id(), cursor=page.nextCursor, limit=FOLLOWING, **query)
            rest = rest_of(entries, [entry_view(entry, self._known) for entry in following.audit])
            self._shown = {**self._shown, page.nextCursor: [entry.seq for entry in rest]}
            entries += rest
        shown = self._shown.get(cursor, [])
        self._entries = [entry for entry in entries if entry.seq not in shown]
        self.rows = actions(self._entries)
        return page.nextCursor

    async def _days(self) -> tuple[str, str]:
        """Return the first moment of the days, and that after them, in the user's time zone; empty without a day."""
        zone = await self._zone()
        return _start(self.first_day, zone), _end(self.last_day, zone)

    async def _filter(self) -> None:
        """Read the first page with the current filters."""
        since, until = await self._days()
        filters = {"action": self.kind, "actor": self.person, "since": since, "until": until}
        given = {name: value for name, value in filters.items() if value}
        self.query = "?" + urlencode(given) if given else ""
        await self._restart()

    @rx.event
    async def load(self) -> Events:
        """Read the first page, and the people to filter by; `?entry=` opens an entry, also one of another page."""
        (await self.get_state(Verification))._forget()  # first: a person may verify while the page still loads
        self._read_url()
        await self._read_known()
        await self._read_accounts()
        await self._filter()
        await (await self.get_state(OneEntry))._open(number(self._query("entry")))
        yield AuditState.read_people

    async def _read_accounts(self) -> None:
        """Read the names of the organization's wallets and parties; without them, addresses are shown alone."""
        found = await self._found("accounts", self._api.search_accounts(self._org_id(), limit=100))
        names = {account.address: account.name for account in found.accounts if account.name} if found else {}
        self._known = replace(self._known, accounts=names)

    @rx.event
    async def read_people(self) -> None:
        """Read the people to filter by; empty if the user may not see them (403)."""
        found, self.people_problem = [], ""
        try:
            found = (await self._api.list_access(self._org_id(), limit=100)).access
        except ApiProblem as problem:
            self.people_problem = "" if problem.status == 403 else problem.detail or problem.title
        names = {str(access.user_id): access.display_name or access.email or "" for access in found}
        self.people = [{"value": id_, "label": name} for id_, name in names.items()]

    @rx.event(supersedes=True)
    async def pick_kind(self, kind: str) -> None:
        """Show changes of one kind, or all."""
        self.kind = one_of(kind, KINDS)
        await self._filter()

    @rx.event(supersedes=True)
    async def pick_person(self, person: str) -> None:
        """Show the changes of one person, or of everyone."""
        self.person = id_of(person)
        await self._filter()

    @rx.event(supersedes=True)
    async def pick_day(self, which: str, day: str) -> None:
        """Show changes from the first day on, or up to the last."""
        if which == "first":
            self.first_day = _day(day)
        elif which == "last":
            self.last_day = _day(day)
        await self._filter()


class OneEntry(Addressed, rx.State):
    """The entry in the drawer."""

    entry: AuditEntryView = AuditEntryView()
    _in_url: ClassVar[dict[str, Param]] = {"entry": opened("entry.seq")}

    @rx.event
    async def show(self, seq: int) -> None:
        """Open an entry."""
        await self._open(number(seq))

    async def _open(self, seq: int) -> None:
        """Show a listed entry, or read it; without one, close the drawer. The list stays as it is."""
        log = await self.get_state(AuditState)
        self.entry = next((one for one in log._entries if one.seq == seq), AuditEntryView())
        if not seq or self.entry.seq:
            return
        try:
            found = (await self._api.list_audit(self._org_id(), seq=seq)).audit
        except ApiProblem as problem:
            await self._notify(f"Entry {seq} could not be read", problem.detail or problem.title, "bad")
            return
        if found:
            self.entry = entry_view(found[0], log._known)
        else:
            await self._notify(f"Entry {seq} does not exist", "This organization's log ends before it.", "warn")

    @rx.event
    def leave(self) -> None:
        """Close the drawer."""
        self.entry = AuditEntryView()


class Verification(Api, rx.State):
    """The result of the verification; `said` is whole, broken or problem, and empty before it runs."""

    said: str = ""
    words: str = ""
    last_hash: str = ""
    busy: bool = False

    @rx.event
    async def verify(self) -> Events:
        """Recompute every hash."""
        if self.busy:
            return
        self.busy = True
        yield
        try:
            found = await self._api.verify_audit(self._org_id())
        except ApiProblem as problem:
            self.said, self.words, self.last_hash = "problem", problem.detail or problem.title, ""
        else:
            self.said = "whole" if found.whole else "broken"
            self.words, self.last_hash = _verdict(found), found.last_hash or ""
        self.busy = False

    def _forget(self) -> None:
        """Clear the verdict, which may be outdated or about another organization."""
        self.said = self.words = self.last_hash = ""


def _verdict(found: AuditVerification) -> str:
    if found.broken:
        return f"Entry {found.broken.seq:,} is the first invalid one. {found.broken.reason}"
    if not found.length:
        return "There are no entries yet."
    count = "1 entry matches" if found.length == 1 else f"All {found.length:,} entries match"
    erased = f" Personal data was erased from {found.erased:,} of them." if found.erased else ""
    return f"{count} the recorded hashes.{erased}"


def _day(text: str) -> str:
    try:
        return date.fromisoformat(str(text)[:10]).isoformat()
    except ValueError:
        return ""


def _start(day: str, zone: tzinfo) -> str:
    return start_of(date.fromisoformat(day), zone) if day and day > FIRST_DAY else ""


def _end(day: str, zone: tzinfo) -> str:
    """Return the first moment after a day."""
    if not day or day >= LAST_DAY:
        return ""
    return start_of(date.fromisoformat(day) + timedelta(days=1), zone)
