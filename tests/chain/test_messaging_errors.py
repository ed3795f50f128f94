"""What LayerZero's contracts refuse with, in a sentence."""

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from backend.chain.endpoint import delivery_gas, delivery_options
from backend.chain.messaging_errors import SENTENCES
from backend.chain.reverts import reverted
from backend.chain.rule_sets import TokenRules


def data(signature: str, *values: object) -> str:
    types = signature[signature.index("(") + 1 : -1].split(",")
    return "0x" + (keccak(text=signature)[:4] + (encode(types, values) if values else b"")).hex()


@pytest.mark.parametrize(
    ("signature", "values", "sentence"),
    [
        ("LZ_DefaultSendLibUnavailable()", (), "LayerZero has no way from this chain to that one."),
        ("LZ_InvalidNonce(uint64)", (3,), "Packet 3 of this path is not verified yet, and comes before this one."),
        (
            "LZ_InsufficientFee(uint256,uint256,uint256,uint256)",
            (9, 7, 0, 0),
            "The packet costs 9 wei by now, and 7 were sent.",
        ),
        (
            "LZ_MessageLib_InvalidMessageSize(uint256,uint256)",
            (12_000, 10_000),
            "The packet has 12000 bytes, and LayerZero carries 10000 at most.",
        ),
    ],
)
def test_a_refusal_of_layer_zero_is_a_sentence(signature: str, values: tuple[int, ...], sentence: str) -> None:
    refusal = reverted(data(signature, *values), "execution reverted")
    assert (refusal.detail, refusal.name) == (sentence, signature.split("(")[0])


def test_every_sentence_can_be_said() -> None:
    for signature in SENTENCES:
        types = [kind for kind in signature[signature.index("(") + 1 : -1].split(",") if kind]
        refusal = reverted(data(signature, *(b"\1" * 32 if kind == "bytes32" else 1 for kind in types)))
        assert "{" not in refusal.detail
        assert refusal.stored()["arguments"].keys() == {str(n) for n in range(len(types))}


def test_a_packet_buys_gas_by_what_it_carries() -> None:
    """Measured: LayerZero's executor used 1,919,031 for 250 countries and 32 issuers that were not there before."""
    countries = tuple(f"{a}{b}A" for a in "ABCDEFGHIJKLMNOPQRSTUVWXY" for b in "ABCDEFGHIJ")
    full = TokenRules(blocked_countries=countries, trusted_issuers=("0x" + "11" * 20,) * 32)
    assert delivery_gas(full) > 1_919_031
    assert delivery_gas(None) == 300_000 < delivery_gas(TokenRules())
    assert delivery_options(None).hex() == "000301001101" + f"{300_000:032x}"
