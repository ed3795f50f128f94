"""The audit log: its entries by page, one of them in the drawer, and whether the chain is whole."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

import reflex as rx

from backend.client import ApiProblem
from state.api import Api
from state.differences import KINDS, Change, action_words, changes, summary
from state.given import id_of, number, one_of
from state.paging import Pages
from state.record_values import Known
from state.references import References

CREDENTIALS = {"session": "in the browser", "token": "by a program", "none": "without a sign-in"}
NAMES = {"system": "Signum", "operator": "The operator"}
"""Who it was where it was nobody in particular, by the credential."""


@dataclass
class AuditEntry:
    """An entry. `who` is a name, or Signum itself; `by` how they were known."""

    seq: int = 0
    at: str = ""
    who: str = ""
    by: str = ""
    action: str = ""
    what: str = ""
    subject_type: str = ""
    subject_id: str = ""
    subject: str = ""
    line: str = ""
    differences: list[Change] = field(default_factory=list)
    is_new: bool = False
    withheld: bool = False
    request_id: str = ""
    address: str = ""
    previous_hash: str = ""
    hash: str = ""


class AuditState(References, Pages, rx.State):
    """The log, newest first, by the API's pages."""

    rows: list[AuditEntry] = []
    people: list[dict[str, str]] = []
    people_problem: str = ""
    kind: str = ""
    person: str = ""
    first_day: str = ""
    last_day: str = ""
    query: str = ""
    """The filters as the API's query, for the CSV; empty where there are none."""

    def _wanted(self) -> dict[str, str]:
        asked = {
            "action": self.kind,
            "actor": self.person,
            "since": _start(self.first_day),
            "until": _end(self.last_day),
        }
        return {name: value for name, value in asked.items() if value}

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api("GET", "/orgs/{org}/audit", params={**self._wanted(), "cursor": cursor})
        self.rows = [_entry(row, self._known) for row in page["audit"]]
        return page["nextCursor"]

    async def _again(self) -> None:
        wanted = self._wanted()
        self.query = "?" + urlencode(wanted) if wanted else ""
        await self._restart()

    @rx.event
    async def load(self):
        """Read the first page, and who there is to choose from."""
        self.kind = self.person = self.first_day = self.last_day = ""
        await self._read_known()
        await self._again()
        yield [AuditState.read_people, OneEntry.leave, Verification.forget]

    @rx.event
    async def read_people(self):
        """Read who there is to choose from; nobody where the person may not see that (403)."""
        found, self.people_problem = [], ""
        try:
            found = (await self._api("GET", "/orgs/{org}/access", params={"limit": 100}))["access"]
        except ApiProblem as problem:
            self.people_problem = "" if problem.status == 403 else problem.detail or problem.title
        names = {p["user_id"]: p["display_name"] or p["email"] or "" for p in found}
        self.people = [{"value": id_, "label": name} for id_, name in names.items()]

    @rx.event(supersedes=True)
    async def pick_kind(self, kind: str):
        """Show changes of one kind, or all."""
        self.kind = one_of(kind, KINDS)
        await self._again()

    @rx.event(supersedes=True)
    async def pick_person(self, person: str):
        """Show what one person did, or everybody."""
        self.person = id_of(person)
        await self._again()

    @rx.event(supersedes=True)
    async def pick_day(self, which: str, day: str):
        """Show what happened from the first day on, or until the last."""
        if which == "first":
            self.first_day = _day(day)
        elif which == "last":
            self.last_day = _day(day)
        await self._again()


class OneEntry(rx.State):
    """The entry in the drawer."""

    entry: AuditEntry = AuditEntry()

    @rx.event
    async def show(self, seq: int):
        """Open one of the listed entries."""
        rows = (await self.get_state(AuditState)).rows
        self.entry = next((row for row in rows if row.seq == number(seq)), AuditEntry())

    @rx.event
    def leave(self):
        """Close the drawer."""
        self.entry = AuditEntry()


class Verification(Api, rx.State):
    """Whether every entry is as it was written; `said` is whole, broken or problem, and empty before it was asked."""

    said: str = ""
    words: str = ""
    last_hash: str = ""
    busy: bool = False

    @rx.event
    async def verify(self):
        """Compute every hash again."""
        if self.busy:
            return
        self.busy = True
        yield
        try:
            found = await self._api("GET", "/orgs/{org}/audit/verify")
        except ApiProblem as problem:
            self.said, self.words, self.last_hash = "problem", problem.detail or problem.title, ""
        else:
            self.said = "whole" if found["whole"] else "broken"
            self.words, self.last_hash = _verdict(found), found["last_hash"] or ""
        self.busy = False

    @rx.event
    def forget(self):
        """Take the verdict away: it was of another time, or of another organization."""
        self.said = self.words = self.last_hash = ""


def _verdict(found: dict[str, Any]) -> str:
    if found["broken"]:
        return f"Entry {found['broken']['seq']:,} is the first that is wrong. {found['broken']['reason']}"
    count = "1 entry is" if found["length"] == 1 else f"All {found['length']:,} entries are"
    return f"{count} as written." if found["length"] else "There are no entries yet."


def _entry(row: dict[str, Any], known: Known) -> AuditEntry:
    values = known.about(row["subject"], {**(row["before"] or {}), **(row["after"] or {})})
    found = changes(row["before"], row["after"], values)
    by = "by an API key" if row["credential"].startswith("key:") else CREDENTIALS.get(row["credential"], "")
    return AuditEntry(
        seq=row["seq"],
        at=row["at"],
        who=row["actor_name"] or NAMES.get(row["credential"], "Somebody"),
        by=by,
        action=row["action"],
        what=action_words(row["action"], (row["after"] or {}).get("control")),
        subject_type=row["subject"]["type"],
        subject_id=row["subject"]["id"],
        subject=row["subject_name"] or "",
        line="Not shown to your role" if row["withheld"] else summary(found),
        differences=found,
        is_new=row["before"] is None,
        withheld=row["withheld"],
        request_id=row["request_id"] or "",
        address=row["address"] or "",
        previous_hash=row["previous_hash"],
        hash=row["hash"],
    )


def _day(text: str) -> str:
    try:
        return date.fromisoformat(str(text)[:10]).isoformat()
    except ValueError:
        return ""


def _start(day: str) -> str:
    return f"{day}T00:00:00Z" if day else ""


def _end(day: str) -> str:
    """The first moment that is not of the day any more."""
    if not day or day == date.max.isoformat():
        return ""
    return _start((date.fromisoformat(day) + timedelta(days=1)).isoformat())
