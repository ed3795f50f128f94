"""The client of a command: by SIGNUM_API_KEY, or as whoever is signed in."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from backend.client import SignumClient
from backend.commands import keeping
from backend.commands.ending import CannotRun
from backend.commands.keeping import Kept

DEFAULT_URL = "http://localhost:8000"


class KeptClient(SignumClient):
    """Acts as the person whose sign-in is kept, and keeps what it renews."""

    def __init__(self, kept: Kept) -> None:
        super().__init__(kept.url, token=kept.access_token, refresh_token=kept.refresh_token, on_tokens=self._write)
        self._kept = kept

    async def _renew(self) -> None:
        with keeping.held():
            now = keeping.read()
            if now is not None and now.access_token != self._token and now.url == self._kept.url:
                self._token, self._refresh_token, self._kept = now.access_token, now.refresh_token, now
                return
            await super()._renew()

    def _write(self, token: str, refresh_token: str) -> None:
        self._kept = replace(self._kept, access_token=token, refresh_token=refresh_token)
        keeping.write(self._kept)


@asynccontextmanager
async def connected() -> AsyncIterator[SignumClient]:
    """A client that acts for somebody. Raises CannotRun where nobody is signed in."""
    async with _client() as client:
        yield client


def _client() -> SignumClient:
    url, key = os.environ.get("SIGNUM_URL"), os.environ.get("SIGNUM_API_KEY")
    if key:
        return SignumClient(url or DEFAULT_URL, api_key=key)
    kept = keeping.read()
    if kept is None or (url and url.rstrip("/") != kept.url):
        raise CannotRun("Nobody is signed in here. Sign in with `signum login`, or set SIGNUM_API_KEY.")
    return KeptClient(kept)


async def organization(client: SignumClient, named: str | None) -> str:
    """The organization a command is about: the one that is named, the key's, or the one that was signed in to."""
    if named:
        return named
    kept = None if os.environ.get("SIGNUM_API_KEY") else keeping.read()
    if kept is not None and kept.org_id:
        return kept.org_id
    found = (await client.list_organizations(limit=2)).organizations
    if len(found) != 1:
        raise CannotRun("Say which organization with --org (`signum orgs tree` lists them).")
    return str(found[0].id)
