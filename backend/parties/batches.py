"""Batches of decisions about parties: each is a decision of its own."""

from fastapi import Request
from pydantic import BaseModel

from backend.auth.batches import Batch, refusal, repeats
from backend.auth.calls import Call
from backend.auth.principal import Context
from backend.core.errors import Conflict, SignumError
from backend.parties import service
from backend.parties.schemas import Party, PartyBatch, PartyBatchResult, PartyBatchVerified, PartyVerification


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
    results = [_result(context, item, result) for item, result in zip(body.items, found, strict=True)]
    refused = sum(result.problem is not None for result in results)
    return PartyBatchVerified(verified=len(results) - refused, refused=refused, results=results)


def _result(context: Context, item: PartyVerification, result: BaseModel | SignumError) -> PartyBatchResult:
    made = PartyBatchResult(party_id=item.party_id)
    if isinstance(result, SignumError):
        made.problem = refusal(context, result)
    elif isinstance(result, Party):
        made.party = result
    return made
