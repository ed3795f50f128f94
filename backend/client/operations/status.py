"""Status. Made by `make client` from backend/openapi.json."""

from backend.client.connection import Connection, path
from backend.status.schemas import ErrorType, Health, Ready


class StatusOperations(Connection):
    """Status."""

    async def get_health(self) -> Health:
        """The process answers."""
        return await self._send(Health, "GET", "/health")

    async def get_readiness(self) -> Ready:
        """Whether migrations, chains, contracts and demo data are done; 503 until then."""
        return await self._send(Ready, "GET", "/ready")

    async def explain_error(self, slug: str) -> ErrorType:
        """An error type in words."""
        return await self._send(ErrorType, "GET", path("/errors/{}", slug))
