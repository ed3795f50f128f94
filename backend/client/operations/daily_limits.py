"""Daily limits. Made by `make client` from backend/openapi.json."""

from typing import Literal, overload

from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.repeating import new_key
from backend.daily_limits.schemas import DailyLimits, DailyLimitsAccepted, DailyLimitsPlan, DailyLimitsUpdate


class DailyLimitsOperations(Connection):
    """Daily limits."""

    async def get_daily_limits(self, org_id: Id, asset_id: Id) -> DailyLimits:
        """Return how much of an asset may be minted, transferred, burned and moved by force in 24 hours before a
        second person has to agree, and how much of that is left.

        Scope: `assets:read`.
        """
        return await self._send(DailyLimits, "GET", path("/orgs/{}/assets/{}/daily-limits", org_id, asset_id))

    @overload
    async def update_daily_limits(
        self,
        org_id: Id,
        asset_id: Id,
        body: DailyLimitsUpdate,
        *,
        dry_run: Literal[True],
        idempotency_key: str | None = None,
    ) -> DailyLimitsPlan: ...

    @overload
    async def update_daily_limits(
        self,
        org_id: Id,
        asset_id: Id,
        body: DailyLimitsUpdate,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> DailyLimitsAccepted: ...

    async def update_daily_limits(
        self,
        org_id: Id,
        asset_id: Id,
        body: DailyLimitsUpdate,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> DailyLimitsAccepted | DailyLimitsPlan:
        """Change the daily limits of an asset (JSON merge patch). A request above what is left of a limit waits for
        a second person. Lower and new limits apply at once; to raise or remove one, a second person has to
        agree.

        Scope: `orgs:write`.
        """
        return await self._send(
            DailyLimitsPlan if dry_run else DailyLimitsAccepted,
            "PATCH",
            path("/orgs/{}/assets/{}/daily-limits", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    def get_daily_limits_csv(self, org_id: Id, asset_id: Id) -> Download:
        """`/orgs/{orgId}/assets/{assetId}/daily-limits` as CSV: every record that its filters leave, in one stream.

        Scope: `assets:read`.
        """
        return self._download(path("/orgs/{}/assets/{}/daily-limits.csv", org_id, asset_id))
