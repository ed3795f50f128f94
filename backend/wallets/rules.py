"""What wallets may be and when they may go. Pure."""

from collections.abc import Sequence

from backend.chains.schemas import Environment
from backend.errors import BadRequest, Conflict
from backend.wallets.schemas import Balance, WalletKind


def kind_of(asked: WalletKind | None, address: str | None) -> WalletKind:
    """Server or linked, from what was sent: an address alone makes a linked one."""
    if asked is WalletKind.SERVER and address is not None:
        raise BadRequest("A server wallet gets its address from its key; leave it out.", pointer="/address")
    if asked is WalletKind.LINKED and address is None:
        raise BadRequest("A linked wallet takes its address.", pointer="/address")
    return WalletKind.LINKED if address is not None else WalletKind.SERVER


def check_default(kind: WalletKind, is_default: bool, has_tokens: bool) -> None:
    """Only a server wallet becomes the treasury, and not any more once tokens are owned by another."""
    if not is_default:
        raise BadRequest("Make another wallet the default instead; there is always one.", pointer="/is_default")
    if kind is not WalletKind.SERVER:
        raise BadRequest("The treasury signs for the organization; a linked wallet cannot.", pointer="/is_default")
    if has_tokens:
        raise Conflict("The treasury owns tokens that are deployed; it cannot be exchanged any more.")


def check_deletable(kind: WalletKind, is_default: bool, is_issuer: bool, has_orders: bool) -> None:
    """409 where something still needs the wallet's key. A linked wallet's key is not ours, so it may always go."""
    if kind is WalletKind.LINKED:
        return
    if is_default:
        raise Conflict("This is the default wallet, the organization's treasury.")
    if is_issuer:
        raise Conflict("The organization attests with this wallet.")
    if has_orders:
        raise Conflict("This wallet has open orders; cancel them first.")


def check_empty(balances: Sequence[Balance], environments: dict[int, Environment]) -> None:
    """409 where a wallet holds anything; gas that the embedded chains' faucet gave is nothing."""
    for balance in balances:
        is_play_gas = balance.is_native and environments[balance.chain_eid] is Environment.DEVNET
        if int(balance.amount) > 0 and not is_play_gas:
            raise Conflict(f"This wallet holds {balance.symbol} on {balance.chain_name}; move it first.")
