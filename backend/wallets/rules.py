"""Rules of wallets and their deletion. Pure functions."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from backend.core.errors import BadRequest, Conflict
from backend.core.fields import Environment
from backend.core.problems.resolutions import call
from backend.core.problems.samples import LABEL
from backend.wallets.schemas import Balance, WalletKind


def kind_of(asked: WalletKind | None, address: str | None) -> WalletKind:
    """Return server or linked, from the request: an address means linked."""
    if asked is WalletKind.SERVER and address is not None:
        raise BadRequest("A server wallet gets its address from its key. Omit the address.", pointer="/address")
    if asked is WalletKind.LINKED and address is None:
        raise BadRequest("A linked wallet requires its address.", pointer="/address")
    return WalletKind.LINKED if address is not None else WalletKind.SERVER


def server_wallet_entry(organization_id: UUID, *, has_wallet: bool = False) -> dict[str, Any]:
    """Return the prerequisite `server_wallet_exists`, with the call that satisfies it (specification 2.7)."""
    lacking = "The organization has no default server wallet to own the token and pay for its transactions."
    return {
        "state": "server_wallet_exists",
        "satisfied": has_wallet,
        "detail": "The organization has a default server wallet." if has_wallet else f"{lacking} Create one first.",
        "resolution": server_wallet_call(organization_id),
    }


def server_wallet_call(organization_id: UUID) -> dict[str, Any]:
    """Return the call that creates the treasury."""
    return call("POST", f"/orgs/{organization_id}/wallets", "Create a server wallet.", label=LABEL)


FIRST = (
    "This is the organization's first server wallet, so it is now the default wallet, the treasury: it owns the tokens "
    'of assets and signs for the organization. To choose another one, create it, and send {{"is_default": true}} by '
    "PATCH /orgs/{organization}/wallets/{{walletId}} before the first token is deployed."
)


def creation_message(organization_id: UUID, is_default: bool) -> str | None:
    """Return what a creation has decided beside the wallet; None if nothing."""
    return FIRST.format(organization=organization_id) if is_default else None


def check_default(kind: WalletKind, is_default: bool, has_tokens: bool) -> None:
    """Check that a wallet can become the treasury: only a server wallet, and not once another wallet owns tokens."""
    if not is_default:
        raise BadRequest(
            ("There is always one default wallet. Make another wallet the default instead."), pointer="/is_default"
        )
    if kind is not WalletKind.SERVER:
        raise BadRequest("The treasury signs for the organization; a linked wallet cannot sign.", pointer="/is_default")
    if has_tokens:
        raise Conflict("The treasury owns deployed tokens; it can no longer be replaced.")


def check_deletable(kind: WalletKind, is_default: bool, is_issuer: bool, has_orders: bool) -> None:
    """Raise 409 if the wallet's key is still needed. Signum does not hold a linked wallet's key, so it can always be
    deleted."""
    if kind is WalletKind.LINKED:
        return
    if is_default:
        raise Conflict("This is the default wallet, the organization's treasury. It cannot be deleted.")
    if is_issuer:
        raise Conflict("The organization attests with this wallet. It cannot be deleted.")
    if has_orders:
        raise Conflict("This wallet has open orders. Cancel them first.")


def check_empty(balances: Sequence[Balance], environments: dict[int, Environment]) -> None:
    """Raise 409 if a wallet has a balance; gas from the embedded chains' faucet does not count."""
    for balance in balances:
        is_play_gas = balance.is_native and environments[balance.chain_eid] is Environment.DEVNET
        if int(balance.amount) > 0 and not is_play_gas:
            raise Conflict(f"This wallet holds {balance.symbol} on {balance.chain_name}. Transfer it first.")
