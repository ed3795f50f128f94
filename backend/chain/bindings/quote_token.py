"""The quote currency: any plain ERC-20; on embedded chains our test currency."""

from collections.abc import Sequence

from backend.chain.abi.calls import Call, call
from backend.chain.rpc.json_rpc import connect

NAME = "TestUSD"


def mint(at: str, to: str, amount: int) -> Call:
    """Mint test currency; the operator, on embedded chains."""
    return call(NAME, at, "mint", to, amount)


def approve(at: str, spender: str, amount: int) -> Call:
    """Approve a market to take quote of the signer."""
    return call(NAME, at, "approve", spender, amount)


def transfer(at: str, to: str, amount: int) -> Call:
    """Transfer quote of the signer."""
    return call(NAME, at, "transfer", to, amount)


async def balance_of(eid: int, at: str, account: str) -> int:
    """Return an account's balance, base units."""
    return int(await (await connect(eid)).read(NAME, at, "balanceOf", account))


async def balances_of(eid: int, at: str, accounts: Sequence[str]) -> list[int]:
    """Return the balances of some accounts, base units, in one round trip."""
    return [int(n) for n in await (await connect(eid)).read_many([(NAME, at, "balanceOf", a) for a in accounts])]


async def details(eid: int, at: str) -> tuple[str, int]:
    """Return symbol and decimals."""
    symbol, decimals = await (await connect(eid)).read_many([(NAME, at, "symbol"), (NAME, at, "decimals")])
    return str(symbol), int(decimals)


async def allowance(eid: int, at: str, owner: str, spender: str) -> int:
    """Return what a spender may take of an owner, base units; of any ERC-20, such as a token."""
    return int(await (await connect(eid)).read(NAME, at, "allowance", owner, spender))
