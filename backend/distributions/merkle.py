"""The merkle tree of a distribution, equal to OpenZeppelin's StandardMerkleTree of (uint256 index, address, uint256).

Nodes are in one array as a heap: the root at 0, the children of node i at 2i + 1 and 2i + 2, the leaves at its end with
the smallest hash last. A leaf is hashed twice, a pair in ascending order.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from backend.distributions.keccak import Bytes, keccak256

Indices = NDArray[np.int64]
WORD = 32
"""Bytes of a node."""


class MerkleTree:
    """The tree over recipients; a recipient's index is its position in the input.

    `nodes` are the bytes of all nodes in the order of the heap, `leaf_nodes` the node of each recipient's leaf.
    """

    def __init__(self, addresses: Sequence[str], amounts: Sequence[int]) -> None:
        if not addresses or len(addresses) != len(amounts):
            raise ValueError("a tree has at least one recipient, and an amount for each")
        leaves = keccak256(keccak256(_encoded(addresses, amounts)))
        count = len(addresses)
        self._nodes = np.empty((2 * count - 1, WORD), dtype=np.uint8)
        order = _ascending(leaves)
        self._nodes[count - 1 :] = leaves[order[::-1]]
        self.leaf_nodes: Indices = np.empty(count, dtype=np.int64)
        self.leaf_nodes[order] = np.arange(2 * count - 2, count - 2, -1)
        _fill(self._nodes, count - 2)

    @property
    def root(self) -> str:
        """0x and 64 hexadecimal digits."""
        return f"0x{self._nodes[0].tobytes().hex()}"

    @property
    def nodes(self) -> bytes:
        """All nodes, 32 bytes each."""
        return self._nodes.tobytes()

    def proof(self, index: int) -> list[str]:
        """Return the hashes from a recipient's leaf to the root."""
        return ["0x" + self._nodes[node].tobytes().hex() for node in siblings(int(self.leaf_nodes[index]))]


def siblings(node: int) -> list[int]:
    """Return the nodes that prove a node, from the bottom."""
    path = []
    while node > 0:
        path.append(node + 1 if node % 2 else node - 1)
        node = (node - 1) // 2
    return path


def _encoded(addresses: Sequence[str], amounts: Sequence[int]) -> Bytes:
    """Return `abi.encode(index, account, amount)` as rows of 96 bytes."""
    count = len(addresses)
    rows = np.zeros((count, 96), dtype=np.uint8)
    rows[:, 24:32] = np.arange(count, dtype=">u8").view(np.uint8).reshape(count, 8)
    rows[:, 44:64] = address_bytes(addresses)
    rows[:, 64:96] = np.frombuffer(b"".join(a.to_bytes(WORD, "big") for a in amounts), np.uint8).reshape(count, WORD)
    return rows


def address_bytes(addresses: Sequence[str]) -> Bytes:
    """Return addresses (0x and 40 digits) as rows of 20 bytes."""
    digits = "".join([address[2:] for address in addresses])
    return np.frombuffer(bytes.fromhex(digits), np.uint8).reshape(len(addresses), 20)


def _ascending(hashes: Bytes) -> Indices:
    """Return the order that sorts hashes as numbers."""
    words = hashes.view(">u8").astype(np.uint64)
    return np.lexsort((words[:, 3], words[:, 2], words[:, 1], words[:, 0]))


def _fill(nodes: Bytes, last: int) -> None:
    """Hash the inner nodes up from `last`, as many in parallel as have their children."""
    while last >= 0:
        first = (last + 1) // 2
        pairs = nodes[2 * first + 1 : 2 * last + 3].reshape(-1, 2 * WORD)
        nodes[first : last + 1] = keccak256(_sorted_pairs(pairs))
        last = first - 1


def _sorted_pairs(pairs: Bytes) -> Bytes:
    """Return each pair with its smaller half first."""
    words = pairs.view(">u8")
    swapped = np.zeros(len(pairs), dtype=bool)
    undecided = np.ones(len(pairs), dtype=bool)
    for i in range(4):
        left, right = words[:, i], words[:, i + 4]
        swapped |= undecided & (left > right)
        undecided &= left == right
        if not undecided.any():
            break
    turned = np.concatenate((pairs[:, WORD:], pairs[:, :WORD]), axis=1)
    return np.where(swapped[:, None], turned, pairs)
