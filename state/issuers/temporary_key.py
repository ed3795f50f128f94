"""Registering an issuer requires two credentials; this creates the second one temporarily."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from backend.api_keys.schemas import ApiKeyCreate, PendingRequests
from backend.auth.scopes import Scope
from backend.client import ApiProblem
from backend.issuers.schemas import IssuerRegister
from state.core.api import Api

LIFETIME = timedelta(minutes=5)
KEY_NAME = "Console, to register the issuer"


class RegistersIssuer(Api, mixin=True):
    """Mixin of a state that registers the organization as an issuer, once the user has agreed to the key."""

    async def _register_issuer(self, terms: IssuerRegister) -> str:
        """Register with a key that is valid for 5 minutes, and always revoke it; return the request's id, or "".

        Raises ApiProblem with the API's problem. The key never leaves the server.
        """
        expires_at = datetime.now(UTC) + LIFETIME
        key = await self._api.create_key(
            self._org_id(), ApiKeyCreate(name=KEY_NAME, scopes=[Scope.ATTESTATIONS_WRITE], expires_at=expires_at)
        )
        try:
            await self._client_with(key.key or "").register_issuer(self._org_id(), terms)
        finally:
            await self._revoke(key.id)
        return str((await self._api.get_issuer(self._org_id())).request_id or "")

    async def _revoke(self, key_id: UUID) -> None:
        """Revoke the key, not its request. Report a failure, because the key is then valid for up to 5 minutes."""
        try:
            await self._api.revoke_key(self._org_id(), key_id, requests=PendingRequests.CONTINUE)
        except ApiProblem as problem:
            words = f"{problem.detail} It expires within 5 minutes."
            await self._notify("The console's key could not be revoked", words, "warn")
