"""The next step after a refused order: what can be done about it in place, after which the order is sent."""

from dataclasses import dataclass

from backend.accounts.schemas import Account
from backend.auth.scopes import Scope
from backend.client import ApiProblem
from state.markets.detail import MarketDetail

ATTEST, FUNDS, UNFREEZE, UNPAUSE = "attest", "funds", "unfreeze", "unpause"
NOT_ATTESTED = frozenset({7, 9, 33})
"""Codes of the rules that an attestation satisfies; one about the level needs a new decision about the party first."""
ENDINGS = {"/unfreeze": UNFREEZE, "/unpause": UNPAUSE, "/test-funds": FUNDS}
"""The last part of a resolution's path, and what it does."""


@dataclass
class Offer:
    """A next step: its kind (empty: none), what it does, its button, and the scope that it needs."""

    kind: str = ""
    about: str = ""
    word: str = ""
    scope: str = ""

    @property
    def needs_reason(self) -> bool:
        """Return whether the step is recorded with a reason."""
        return self.kind in (UNFREEZE, UNPAUSE)


def offer_of(problem: ApiProblem, account: Account | None, market: MarketDetail, trader: str) -> Offer:
    """Return the next step for the first refusal that has one; one without a kind if none has, or if the trader's
    attestation was revoked: no other step makes the order possible."""
    if any(rule.get("revocation") for rule in problem.rules):
        return Offer()
    for rule in problem.rules:
        path = str((rule.get("resolution") or {}).get("path") or "")
        if path.endswith("/attestations") and rule.get("code") in NOT_ATTESTED and account and account.party_id:
            return _offer(ATTEST, market, trader)
        kind = next((kind for ending, kind in ENDINGS.items() if path.endswith(ending)), "")
        if kind:
            return _offer(kind, market, trader)
    path = str((problem.body.get("resolution") or {}).get("path") or "")
    return _offer(FUNDS, market, trader) if path.endswith("/test-funds") else Offer()


def _offer(kind: str, market: MarketDetail, trader: str) -> Offer:
    return {
        ATTEST: Offer(ATTEST, f"{trader} gets an attestation on {market.chain}, for one year.", "Attest",
                      Scope.ATTESTATIONS_WRITE),
        FUNDS: Offer(FUNDS, f"{trader} gets 1,000,000 {market.quote} on {market.chain}. They have no value.",
                     "Get test funds", Scope.WALLETS_WRITE),
        UNFREEZE: Offer(UNFREEZE, f"The {market.symbol} of {trader} on {market.chain} is unfrozen.", "Unfreeze",
                        Scope.ASSETS_WRITE),
        UNPAUSE: Offer(UNPAUSE, f"{market.symbol} is unpaused on {market.chain}, for all holders.", "Unpause",
                       Scope.ASSETS_WRITE),
    }[kind]  # fmt: skip
