"""Native currency out of nothing, on embedded chains only."""

from sqlalchemy.dialects.postgresql import insert

from backend import db
from backend.chain import endpoints
from backend.chain.models import SignerRow
from backend.chain.rpc import connect
from backend.errors import BadRequest

FAUCET = 1_000 * 10**18
"""What `fund` gives where nothing else is asked for, wei."""


async def fund(eid: int, address: str, wei: int = FAUCET) -> None:
    """Set an account's balance on an embedded chain, and remember that it was funded. BadRequest on any other.

    A balance is no transaction, so a killed chain forgets it: `recover` funds again whoever is in `signers`.
    """
    if not endpoints.is_embedded(eid):
        raise BadRequest("There is no faucet on this chain; send native currency to the wallet.")
    await (await connect(eid)).request("anvil_setBalance", address, hex(wei))
    row = SignerRow(chain_eid=eid, address=address)
    async with db.worker() as session:
        await session.execute(insert(SignerRow).values(**row.model_dump()).on_conflict_do_nothing())
