"""Devnet. Made by `make client` from backend/openapi.json."""

from backend.client.connection import Connection
from backend.client.repeating import new_key
from backend.devnet.schemas import ClockMove, Devnet, FaultBegin, ResetBegun


class DevnetOperations(Connection):
    """Devnet."""

    async def get_devnet(self) -> Devnet:
        """The embedded chains, their clock and their faults. For admins of the operator's organization, the first
        one of the installation; 404 on public chains.
        """
        return await self._send(Devnet, "GET", "/devnet")

    async def move_clock(self, body: ClockMove, *, idempotency_key: str | None = None) -> Devnet:
        """Move the time of all embedded chains forward: lockups end, attestations expire. It cannot go back."""
        return await self._send(Devnet, "POST", "/devnet/clock", body=body, key=idempotency_key or new_key())

    async def begin_fault(self, body: FaultBegin, *, idempotency_key: str | None = None) -> Devnet:
        """Make a chain slow, stop it, have it refuse packets, drop transactions or reorganize; `none` ends that.

        What was on its way waits, fails with the reason, or is sent again, as it would on a public chain.
        """
        return await self._send(Devnet, "POST", "/devnet/faults", body=body, key=idempotency_key or new_key())

    async def reset_devnet(self, *, idempotency_key: str | None = None) -> ResetBegun:
        """Begin again from nothing, chains and database together: the demo is made anew, and its people keep their
        passwords. Every session and key ends. The server restarts for it; 409 where it cannot.
        """
        return await self._send(ResetBegun, "POST", "/devnet/reset", key=idempotency_key or new_key())
