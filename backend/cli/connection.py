"""The client of a command: with SIGNUM_API_KEY, or as the signed-in person."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from backend.cli import credentials
from backend.cli.credentials import Kept
from backend.cli.exit import CannotRun
from backend.client import SignumClient

DEFAULT_URL = "http://localhost:8000"


class KeptClient(SignumClient):
    """Acts as the person whose sign-in is stored, and stores renewed tokens."""

    def __init__(self, kept: Kept) -> None:
        super().__init__(kept.url, token=kept.access_token, refresh_token=kept.refresh_token, on_tokens=self._write)
        self._kept = kept

    async def _renew(self) -> None:
        with credentials.held():
            now = credentials.read()
            if now is not None and now.access_token != self._token and now.url == self._kept.url:
                self._token, self._refresh_token, self._kept = now.access_token, now.refresh_token, now
                return
            await super()._renew()

    def _write(self, token: str, refresh_token: str) -> None:
        self._kept = replace(self._kept, access_token=token, refresh_token=refresh_token)
        credentials.write(self._kept)


@asynccontextmanager
async def connected() -> AsyncIterator[SignumClient]:
    """Open an authenticated client. Raises CannotRun where there is neither a key nor a sign-in."""
    async with _client() as client:
        yield client


def _client() -> SignumClient:
    url, key = os.environ.get("SIGNUM_URL"), os.environ.get("SIGNUM_API_KEY")
    if key:
        return SignumClient(url or DEFAULT_URL, api_key=key)
    kept = credentials.read()
    if kept is None or (url and url.rstrip("/") != kept.url):
        raise CannotRun("You are not signed in. Sign in with `signum login`, or set SIGNUM_API_KEY.")
    return KeptClient(kept)


def check_signed_in(reason: str) -> None:
    """Raise CannotRun where an API key would act: the command needs a person."""
    if os.environ.get("SIGNUM_API_KEY"):
        raise CannotRun(f"{reason} Sign in with `signum login`, and unset SIGNUM_API_KEY.")


async def organization(client: SignumClient, named: str | None) -> str:
    """Return the organization of a command: the named one, the key's, or that of the sign-in."""
    if named:
        return named
    kept = None if os.environ.get("SIGNUM_API_KEY") else credentials.read()
    if kept is not None and kept.org_id:
        return kept.org_id
    found = (await client.list_organizations(limit=2)).organizations
    if len(found) != 1:
        raise CannotRun("Name the organization with --org (`signum orgs tree` lists them).")
    return str(found[0].id)
