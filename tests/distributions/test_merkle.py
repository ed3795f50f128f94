"""The tree equals OpenZeppelin's: by their test vector, their library, and the contract's own arithmetic."""

import random

import numpy as np
import pytest
from eth_utils.crypto import keccak

from backend.distributions.keccak import BATCH, keccak256
from backend.distributions.merkle import MerkleTree
from tests.distributions import peer


def recipients(count: int, seed: int) -> tuple[list[str], list[int]]:
    rng = random.Random(seed)
    addresses = ["0x" + rng.randbytes(20).hex() for _ in range(count)]
    return addresses, [rng.choice([1, rng.getrandbits(60), rng.getrandbits(256)]) for _ in range(count)]


def climbs(proof: list[str], leaf: bytes) -> str:
    """Return the result of MerkleProof.sol."""
    for step in proof:
        leaf = keccak(b"".join(sorted((leaf, bytes.fromhex(step[2:])))))
    return "0x" + leaf.hex()


def leaf_of(index: int, address: str, amount: int) -> bytes:
    encoded = index.to_bytes(32, "big") + bytes.fromhex(address[2:]).rjust(32, b"\0") + amount.to_bytes(32, "big")
    return keccak(keccak(encoded))


@pytest.mark.parametrize("length", [8, 40, 64, 96, 128])
def test_batch_hashes_equal_single_hashes(length: int) -> None:
    messages = np.random.default_rng(length).integers(0, 256, (300, length), dtype=np.uint8)
    assert [bytes(d) for d in keccak256(messages)] == [keccak(bytes(m)) for m in messages]


def test_hashes_at_batch_boundaries_are_correct() -> None:
    messages = np.arange((BATCH + 3) * 8, dtype=np.uint64).view(np.uint8).reshape(-1, 64)
    digests = keccak256(messages)
    for i in (0, BATCH - 1, len(messages) - 1):
        if i < len(messages):
            assert bytes(digests[i]) == keccak(bytes(messages[i]))


@pytest.mark.parametrize("length", [0, 7, 136])
def test_messages_of_other_lengths_are_rejected(length: int) -> None:
    with pytest.raises(ValueError, match="8 to 128"):
        keccak256(np.zeros((1, length), dtype=np.uint8))


def test_merkle_tree_matches_the_published_vector() -> None:
    tree = MerkleTree(["0x" + "11" * 20, "0x" + "22" * 20], [10**18, 25 * 10**17])
    assert tree.root == "0xe18fcf0399e49d44b4c6ab3099854a63da3a7c5050108c56cffb7d63800d3804"


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9, 300])
def test_merkle_tree_equals_the_npm_library(count: int) -> None:
    addresses, amounts = recipients(count, seed=count)
    tree, expected = MerkleTree(addresses, amounts), peer.build(addresses, amounts, proofs=True)
    assert tree.root == expected["root"]
    assert [tree.proof(i) for i in range(count)] == expected["proofs"]


def test_merkle_proofs_lead_to_the_root() -> None:
    addresses, amounts = recipients(1_000, seed=5)
    tree = MerkleTree(addresses, amounts)
    for i in range(1_000):
        assert climbs(tree.proof(i), leaf_of(i, addresses[i], amounts[i])) == tree.root


def test_merkle_tree_without_recipients_is_rejected() -> None:
    with pytest.raises(ValueError, match="at least one"):
        MerkleTree([], [])
