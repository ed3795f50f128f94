"""Registering an issuer wants two credentials; this makes the second one for a moment."""

from datetime import UTC, datetime, timedelta
from typing import Any

from backend.client import ApiProblem, client
from state.api import Api, SignedOut

LIFETIME = timedelta(minutes=5)
KEY_NAME = "Console, to register the issuer"


class RegistersIssuer(Api, mixin=True):
    """Mixin of a state that registers the organization as an issuer, once the person has agreed to the key."""

    async def _register_issuer(self, body: dict[str, Any]) -> str:
        """Register with a key of five minutes, and revoke it whatever happens; the id of the request, or "".

        Raises ApiProblem with the API's words. The key never leaves the server.
        """
        ends = datetime.now(UTC) + LIFETIME
        asked = {"name": KEY_NAME, "scopes": ["attestations:write"], "expires_at": ends.isoformat()}
        made = await self._api("POST", "/orgs/{org}/api-keys", json=asked)
        try:
            await self._register_with(made["key"], body)
        finally:
            await self._take_back(made["id"])
        return str((await self._api("GET", "/orgs/{org}/issuer"))["request_id"] or "")

    async def _register_with(self, key: str, body: dict[str, Any]) -> None:
        path, cookie = f"/orgs/{self.org_id}/issuer/register", self.router.headers.cookie
        try:
            await client.call("POST", path, cookie=cookie, json=body, headers={"x-api-key": key, **self._origin()})
        except ApiProblem as problem:
            if problem.status == 401:
                raise SignedOut(self._here()) from problem
            raise

    async def _take_back(self, key_id: str) -> None:
        """Revoke the key. Where that fails it says so, for then it lives on for minutes."""
        try:
            await self._api("DELETE", f"/orgs/{{org}}/api-keys/{key_id}")
        except ApiProblem as problem:
            words = f"{problem.detail} It ends by itself within five minutes."
            await self._notify("The console's key could not be revoked", words, "warn")
