"""What an investor's wallets can use, and what of it is frozen, in words. Pure functions."""

from collections.abc import Sequence

from backend.investor_trading.schemas import InvestorMarket, InvestorWallet
from backend.investors.schemas import InvestorAccount, InvestorHolding
from state.investor.amounts import tokens


def usable(wallets: Sequence[InvestorWallet], market: InvestorMarket) -> str:
    """Return what some wallets can use in a market; empty without wallets, or while the chain does not answer."""
    if not wallets or any(one.tokens is None or one.quote is None for one in wallets):
        return ""
    units, quote = (
        sum(int(text or 0) for text in texts) for texts in zip(*((w.tokens, w.quote) for w in wallets), strict=True)
    )
    held = f"{tokens(units, market.decimals)} {market.symbol}"
    return f"{held} and {tokens(quote, market.quote_decimals, 2)} {market.quote_symbol}"


def is_frozen(accounts: Sequence[InvestorAccount | InvestorWallet]) -> bool:
    """Return whether all of these accounts are wholly frozen."""
    return bool(accounts) and all(one.is_frozen for one in accounts)


def frozen_holding(one: InvestorHolding, organization: str) -> str:
    """Return what of a holding is frozen; empty if nothing is, or while it is unknown."""
    said = frozen(one.accounts, one.symbol, one.decimals, organization)
    return f"{said} Open orders stay open." if said and int(one.in_orders) else said


def frozen(accounts: Sequence[InvestorAccount | InvestorWallet], symbol: str, decimals: int, organization: str) -> str:
    """Return what of some accounts is frozen; empty if nothing is, or while it is unknown."""
    units = sum(int(one.frozen or 0) for one in accounts)
    if is_frozen(accounts):
        return (
            f"{organization} has frozen all your {symbol}. You cannot transfer or sell it, or any {symbol} that you "
            "receive later."
        )
    if not units:
        return ""
    return f"{organization} has frozen {tokens(units, decimals)} {symbol}. You cannot transfer or sell this part."
