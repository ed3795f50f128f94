"""A faucet of native currency, on embedded chains only."""

from sqlalchemy.dialects.postgresql import insert

from backend.chain.models import SignerRow
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import connect
from backend.core import db
from backend.core.errors import BadRequest

FAUCET = 1_000 * 10**18
"""The default amount of `fund`, wei."""


async def fund(eid: int, address: str, wei: int = FAUCET) -> None:
    """Set an account's balance on an embedded chain, and record that it was funded. Raises BadRequest on any other
    chain.

    A balance is not a transaction, so a killed chain loses it: `recover` funds the accounts in `signers` again.
    """
    if not node_urls.is_embedded(eid):
        raise BadRequest("There is no faucet on this chain. Send native currency to the wallet.")
    await (await connect(eid)).request("anvil_setBalance", address, hex(wei))
    row = SignerRow(chain_eid=eid, address=address)
    async with db.worker() as session:
        await session.execute(insert(SignerRow).values(**row.model_dump()).on_conflict_do_nothing())
