"""Wallets and balances as pages show them."""

from dataclasses import dataclass, field, replace

from backend.wallets.schemas import Balance, Holding, ListedWallet, Wallet, WalletKind
from state.core.dates import stamp
from state.core.units import shortened


@dataclass
class HoldingView:
    """What a wallet has of an asset on all chains, in base units."""

    symbol: str = ""
    decimals: int = 18
    amount: str = "0"


@dataclass
class WalletView:
    """A wallet; `is_ours` if we hold its key. `holdings` and the party are those of a list's rows."""

    id: str = ""
    label: str = ""
    address: str = ""
    kind: str = ""
    is_ours: bool = False
    is_default: bool = False
    created_at: str = ""
    party_id: str = ""
    party: str = ""
    holdings: list[HoldingView] = field(default_factory=list)


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
        kind="Server wallet" if is_ours else "Linked wallet",
        is_ours=is_ours,
        is_default=wallet.is_default,
        created_at=stamp(wallet.created_at),
    )


def listed_wallet(wallet: ListedWallet) -> WalletView:
    """Convert a wallet of the API's list."""
    return replace(
        wallet_view(wallet),
        party_id=str(wallet.party_id or ""),
        party=wallet.party_name or "",
        holdings=[_holding(held) for held in wallet.holdings],
    )


def _holding(held: Holding) -> HoldingView:
    return HoldingView(held.symbol, held.decimals, held.amount)


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
