"""Compliance. Made by `make client` from backend/openapi.json."""

from backend.client.connection import Connection
from backend.client.content import Download
from backend.compliance.schemas import PresetList


class ComplianceOperations(Connection):
    """Compliance."""

    async def list_presets(self) -> PresetList:
        """What each framework enforces here, what it leaves to the issuer, and the values it starts from.

        Configuration, not legal advice.
        """
        return await self._send(PresetList, "GET", "/compliance/presets")

    def list_presets_csv(self) -> Download:
        """`/compliance/presets` as CSV: every record that its filters leave, in one stream."""
        return self._download("/compliance/presets.csv")
