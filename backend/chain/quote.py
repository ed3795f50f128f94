"""The quote currency: any plain ERC-20; on embedded chains play money of ours."""

from backend.chain.calls import Call, call
from backend.chain.rpc import connect

NAME = "TestUSD"


def mint(at: str, to: str, amount: int) -> Call:
    """Make play money; by the operator, on embedded chains."""
    return call(NAME, at, "mint", to, amount)


def approve(at: str, spender: str, amount: int) -> Call:
    """Let a market take quote of the signer."""
    return call(NAME, at, "approve", spender, amount)


def transfer(at: str, to: str, amount: int) -> Call:
    """Send quote of the signer."""
    return call(NAME, at, "transfer", to, amount)


async def balance_of(eid: int, at: str, account: str) -> int:
    """What an account holds, base units."""
    return int(await (await connect(eid)).read(NAME, at, "balanceOf", account))


async def allowance(eid: int, at: str, owner: str, spender: str) -> int:
    """How much a spender may take."""
    return int(await (await connect(eid)).read(NAME, at, "allowance", owner, spender))


async def details(eid: int, at: str) -> tuple[str, int]:
    """Symbol and decimals."""
    symbol, decimals = await (await connect(eid)).read_many([(NAME, at, "symbol"), (NAME, at, "decimals")])
    return str(symbol), int(decimals)
