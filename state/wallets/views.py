"""Wallets and balances as pages show them."""

from dataclasses import dataclass, field

from backend.wallets.schemas import Balance, Wallet, WalletKind
from state.core.dates import stamp
from state.core.units import shortened


@dataclass
class WalletView:
    """A wallet; `is_ours` if we hold its key."""

    id: str = ""
    label: str = ""
    address: str = ""
    kind: str = ""
    is_ours: bool = False
    is_default: bool = False
    created_at: str = ""


@dataclass
class BalanceView:
    """An amount in base units."""

    id: str
    symbol: str
    decimals: int
    amount: str
    is_native: bool
    escrowed: str = "0"
    """What markets hold for the wallet's open sell orders, in addition to the amount."""


@dataclass
class ChainBalancesView:
    """A wallet's balances on one chain."""

    eid: int
    chain: str
    url: str
    balances: list[BalanceView] = field(default_factory=list)


def wallet_view(wallet: Wallet) -> WalletView:
    """Convert the API's wallet."""
    is_ours = wallet.kind is WalletKind.SERVER
    return WalletView(
        id=str(wallet.id),
        label=wallet.label,
        address=wallet.address,
        kind="Server wallet" if is_ours else "Linked",
        is_ours=is_ours,
        is_default=wallet.is_default,
        created_at=stamp(wallet.created_at),
    )


def balance_view(balance: Balance, escrowed: str = "0") -> BalanceView:
    """Convert the API's balance, with what markets hold for open orders."""
    return BalanceView(
        id=f"{balance.chain_eid}:{balance.asset_id or balance.symbol}",
        symbol=balance.symbol,
        decimals=balance.decimals,
        amount=balance.amount,
        is_native=balance.is_native,
        escrowed=escrowed,
    )


def wallet_option(wallet: Wallet) -> dict[str, str]:
    """Return a wallet as a select's option."""
    return {"value": str(wallet.id), "label": f"{wallet.label}, {shortened(wallet.address)}"}
