"""API keys. Made by `make client` from backend/openapi.json."""

from backend.api_keys.schemas import ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyList
from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key


class APIKeysOperations(Connection):
    """API keys."""

    def list_keys(
        self, org_id: Id, *, limit: int | None = None, cursor: str | None = None
    ) -> Pages[ApiKeyList, ApiKey]:
        """Keys, newest first, revoked and expired ones too; never their text.

        Scope: `api-keys:read`.
        """
        return self._pages(
            ApiKeyList, "api_keys", path("/orgs/{}/api-keys", org_id), {"limit": limit, "cursor": cursor}
        )

    async def create_key(self, org_id: Id, body: ApiKeyCreate, *, idempotency_key: str | None = None) -> ApiKeyCreated:
        """Make a key. It has no scope that the caller lacks; made by a key or an application, it ends with that one
        at the latest. `key` is shown in this answer only.

        `allowed_ip_ranges` are the IP addresses and CIDR ranges the key works from, at most 100; the
        organization's ranges hold too. A key made by a key has ranges within those of its maker, and the same
        ones where it names none.

        Scope: `api-keys:write`.
        """
        return await self._send(
            ApiKeyCreated, "POST", path("/orgs/{}/api-keys", org_id), body=body, key=idempotency_key or new_key()
        )

    async def revoke_key(self, org_id: Id, key_id: Id) -> None:
        """Revoke a key and every key made with it; they stop working at once.

        Scope: `api-keys:write`.
        """
        await self._do("DELETE", path("/orgs/{}/api-keys/{}", org_id, key_id))

    def list_keys_csv(self, org_id: Id) -> Download:
        """`/orgs/{orgId}/api-keys` as CSV: every record that its filters leave, in one stream.

        Scope: `api-keys:read`.
        """
        return self._download(path("/orgs/{}/api-keys.csv", org_id))
