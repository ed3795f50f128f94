"""Undo of changed names and texts of an organization."""

from backend.client import body
from backend.organizations.schemas import Organization, OrganizationUpdate
from state.core.api import Api
from state.core.events import Next

TEXTS = ("name", "org_type", "email", "website", "jurisdiction", "description")
"""Fields whose change has no effect on what anyone may do."""


class Renames(Api, mixin=True):
    """Mixin of a form that changes an organization. Implement `_restored`."""

    async def _restored(self, organization: Organization) -> Next:
        """Show the organization with its earlier values, and return the event that does the rest."""
        raise NotImplementedError

    async def _saved(self, org_id: str, title: str, was: dict[str, str], now: dict[str, str]) -> None:
        """Report saved values, empty for null; texts can be undone."""
        if not now.keys() <= {*TEXTS}:
            await self._notify(title)
            return
        facts = {f"was.{name}": was[name] for name in now} | {f"now.{name}": text for name, text in now.items()}
        await self._notify_undoable(title, facts | {"org": org_id})

    async def _undo(self, facts: dict[str, str]) -> Next:
        was, now = _given(facts, "was."), _given(facts, "now.")
        with self._api.response_headers() as headers:
            current = await self._api.get_organization(facts["org"])
        if any((getattr(current, name) or "") != text for name, text in now.items()):
            await self._notify("This cannot be undone", f"{current.name} has changed since.", "bad")
            return await self._restored(current)
        update = body(OrganizationUpdate, {name: text or None for name, text in was.items()})
        restored = await self._api.update_organization(facts["org"], update, if_match=headers["etag"])
        await self._notify(f"{restored.name} has its earlier values again")
        return await self._restored(restored)


def _given(facts: dict[str, str], start: str) -> dict[str, str]:
    return {name.removeprefix(start): text for name, text in facts.items() if name.startswith(start)}
