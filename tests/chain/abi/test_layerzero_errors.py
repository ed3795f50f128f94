"""Refusals of LayerZero's contracts, in a sentence."""

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from backend.chain.abi.layerzero_errors import SENTENCES
from backend.chain.abi.reverts import reverted
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings.layerzero import delivery_gas, delivery_options


def data(signature: str, *values: object) -> str:
    types = signature[signature.index("(") + 1 : -1].split(",")
    return "0x" + (keccak(text=signature)[:4] + (encode(types, values) if values else b"")).hex()


@pytest.mark.parametrize(
    ("signature", "values", "sentence"),
    [
        ("LZ_DefaultSendLibUnavailable()", (), "LayerZero has no path from this chain to that one."),
        ("LZ_InvalidNonce(uint64)", (3,), "Packet 3 of this path comes before this one and is not verified yet."),
        (
            "LZ_InsufficientFee(uint256,uint256,uint256,uint256)",
            (9, 7, 0, 0),
            "The packet now costs 9 wei, but 7 were sent.",
        ),
        (
            "LZ_MessageLib_InvalidMessageSize(uint256,uint256)",
            (12_000, 10_000),
            "The packet has 12000 bytes; LayerZero carries at most 10000.",
        ),
    ],
)
def test_layerzero_error_is_a_sentence(signature: str, values: tuple[int, ...], sentence: str) -> None:
    refusal = reverted(data(signature, *values), "execution reverted")
    assert (refusal.detail, refusal.name) == (sentence, signature.split("(")[0])


def test_layerzero_error_sentences_are_complete() -> None:
    for signature in SENTENCES:
        types = [kind for kind in signature[signature.index("(") + 1 : -1].split(",") if kind]
        refusal = reverted(data(signature, *(b"\1" * 32 if kind == "bytes32" else 1 for kind in types)))
        assert "{" not in refusal.detail
        assert refusal.stored()["arguments"].keys() == {str(n) for n in range(len(types))}


def test_packet_gas_follows_its_content() -> None:
    """Measured: LayerZero's executor used 1,919,031 for 250 countries and 32 issuers that were new there."""
    countries = tuple(f"{a}{b}A" for a in "ABCDEFGHIJKLMNOPQRSTUVWXY" for b in "ABCDEFGHIJ")
    full = TokenRules(blocked_countries=countries, trusted_issuers=("0x" + "11" * 20,) * 32)
    assert delivery_gas(full) > 1_919_031
    assert delivery_gas(None) == 300_000 < delivery_gas(TokenRules())
    assert delivery_options(None).hex() == "000301001101" + f"{300_000:032x}"
