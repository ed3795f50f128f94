"""Fees and further terms that a transaction is signed with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fees:
    """The maximum price per unit of gas, and the part of it that goes to the miner, wei."""

    max_fee: int
    tip: int


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms to sign a transaction with. `mined` is the signer's nonce by the chain's count."""

    gas: int
    fees: Fees
    chain_id: int
    mined: int
