"""The wallets that can place an order, with what they hold, and the one that is offered first."""

from collections.abc import Sequence

from backend.accounts.schemas import Account
from backend.wallets.schemas import Wallet
from state.core.units import cost, grouped, rounded
from state.markets.detail import MarketDetail
from state.wallets.views import wallet_option

BPS = 10_000


def first_choice(side: str, accounts: Sequence[Account], treasury_id: str) -> str:
    """Return the ID of the wallet to offer: the treasury if it may trade, else the organization's wallet last used on
    this market, for a buy one with money; or an empty string. A party's wallet is never offered: it holds the party's
    money."""
    ours = [one for one in accounts if one.wallet_id and one.party_id is None]
    if treasury_id and all(one.eligible is not False for one in ours if str(one.wallet_id) == treasury_id):
        return treasury_id
    able = [one for one in ours if one.eligible is not False]
    used = [one for one in able if one.last_used_at]
    if used:
        return str(max(used, key=lambda one: one.last_used_at or 0).wallet_id)
    funded = [one for one in able if side == "sell" or int(one.quote_balance or 0) > 0]
    return str((funded or able)[0].wallet_id) if able else ""


def options_of(wallets: Sequence[Wallet], accounts: Sequence[Account]) -> list[dict[str, str]]:
    """Return the wallets as a select's options, the most likely first; those that may not trade follow, and say so."""
    by_id = {str(wallet.id): wallet for wallet in wallets}
    known = [one for one in accounts if str(one.wallet_id) in by_id]
    first = [_option(by_id[str(one.wallet_id)], one) for one in sorted(known, key=lambda one: one.eligible is False)]
    shown = {option["value"] for option in first}
    return first + [wallet_option(wallet) for wallet in wallets if str(wallet.id) not in shown]


def _option(wallet: Wallet, account: Account) -> dict[str, str]:
    option = wallet_option(wallet)
    return {**option, "label": f"{option['label']}, not eligible"} if account.eligible is False else option


def facts_of(account: Account, market: MarketDetail) -> str:
    """Return what a wallet holds of the market's two currencies, and that it may not trade."""
    amounts = (
        (account.quote_balance, market.quote_decimals, market.quote),
        (account.balance, market.decimals, market.symbol),
    )
    holds = [f"{rounded(amount, decimals, 2)} {symbol}" for amount, decimals, symbol in amounts if amount is not None]
    return ", ".join(holds + (["not eligible"] if account.eligible is False else []))


def total_of(side: str, price: str, amount: str, market: MarketDetail) -> tuple[str, str]:
    """Return an order's value, and the most that is paid or the least that is received: with the higher of the market's
    two fees; empty without a fee. Price and amount in base units."""
    worth = cost(price, amount, market.decimals)
    fee = -(-worth * market.fee_bps // BPS)
    after = worth + fee if side == "buy" else max(worth - fee, 0)
    most, end = ("at most", "with fees") if side == "buy" else ("at least", "after fees")
    written = f"{grouped(worth, market.quote_decimals)} {market.quote}"
    return written, f"{most} {grouped(after, market.quote_decimals)} {market.quote} {end}" if fee else ""
