"""Batches of decisions about parties: each is a decision of its own."""

from fastapi import Request

from backend.auth.batches import Batch, repeats, response
from backend.auth.calls import Call
from backend.auth.principal import Context
from backend.core.errors import Conflict
from backend.parties import service
from backend.parties.schemas import Party, PartyBatch, PartyBatchResult, PartyBatchVerified


async def verify(context: Context, request: Request, body: PartyBatch) -> PartyBatchVerified:
    """Verify each party, as if its decision had been sent alone."""
    calls = [
        Call("verify_party", {"partyId": str(item.party_id)}, item.model_dump(mode="json", exclude_unset=True))
        for item in body.items
    ]

    again = repeats([item.party_id for item in body.items])

    async def one(own: Context, index: int) -> Party:
        if index in again:
            raise Conflict(f"Item {again[index] + 1} verifies the same party.")
        return await service.verify(own, body.items[index].party_id, body.items[index])

    found = await Batch(request, context, calls).run(Party, one)
    fields = response(context, body.items, found, PartyBatchResult, "party", "party_id")
    return PartyBatchVerified(verified=fields.pop("accepted"), **fields)
