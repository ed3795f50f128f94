"""A process that signs: `python -m tests.secret_keys.signer [ADDRESS…]`.

Prints a JSON object: the operator's address, and the addresses that have signed. Without addresses, it creates two.
"""

import asyncio
import json
import sys

from eth_account import Account
from eth_account.messages import encode_defunct

from backend.chain.signing.wallet_provider import keystore
from backend.core.settings import settings
from backend.server import schema


async def sign(addresses: list[str]) -> dict[str, object]:
    """Return the result."""
    store = keystore()
    addresses = addresses or [(await store.create()).address for _ in range(2)]
    message = encode_defunct(text="hello")
    signed = [Account.recover_message(message, signature=await store.sign_message(one, "hello")) for one in addresses]
    operator = await store.operator()
    assert await store.has(operator)
    return {"operator": operator, "signed": signed}


if __name__ == "__main__":
    schema.open_keys(settings(), str(settings().database_url))
    print(json.dumps(asyncio.run(sign(sys.argv[1:]))))  # noqa: T201 - the result
