"""A wallet outside Signum, as an investor has it: signs transactions and sends them to a node."""

import time
from dataclasses import dataclass, field
from typing import Any

import httpx
from eth_account import Account

FAUCET = "0xde5f72fd"
"""`faucet()` of the embedded chains' test currency: 10,000 for the sender."""


@dataclass
class OwnWallet:
    """A key, and the node that it sends to. Transactions are included when `send` returns."""

    url: str
    account: Any = field(default_factory=Account.create)

    @property
    def address(self) -> str:
        """Return its address."""
        return str(self.account.address)

    def fund(self, ether: int = 1) -> None:
        """Give it native currency."""
        self.ask("anvil_setBalance", self.address, hex(ether * 10**18))

    def send(self, to: str, data: str, value: str = "0x0") -> Any:
        """Sign and send; return the receipt. Raises AssertionError with the node's words if it is refused."""
        known = {"from": self.address, "to": to, "data": data, "value": value}
        gas = int(self.ask("eth_estimateGas", known), 16)
        signed = self.account.sign_transaction(
            {
                "to": to,
                "data": data,
                "value": int(value, 16),
                "gas": gas * 2,
                "nonce": int(self.ask("eth_getTransactionCount", self.address, "pending"), 16),
                "chainId": int(self.ask("eth_chainId"), 16),
                "maxFeePerGas": 2 * int(self.ask("eth_gasPrice"), 16),
                "maxPriorityFeePerGas": 0,
            }
        )
        return self.included(self.ask("eth_sendRawTransaction", "0x" + signed.raw_transaction.hex()))

    def included(self, tx_hash: str, seconds: float = 20) -> Any:
        """Return the receipt of a transaction, once it has one."""
        deadline = time.monotonic() + seconds
        while (receipt := self.ask("eth_getTransactionReceipt", tx_hash)) is None:
            assert time.monotonic() < deadline, f"{tx_hash} is not included"
            time.sleep(0.05)
        assert receipt["status"] == "0x1", receipt
        return receipt

    def ask(self, method: str, *values: Any) -> Any:
        """Call the node."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": values}
        answer = httpx.post(self.url, json=body, timeout=10, trust_env=False).json()
        assert "error" not in answer, answer["error"]
        return answer["result"]
