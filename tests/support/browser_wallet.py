"""A wallet in the browser of a test (EIP-1193): it answers the page's calls with a key of the test, signs, and sends to
the embedded node. `refuses`, `account` and `chain_id` change what it does, as its user could."""

from typing import Any

from eth_account.messages import encode_defunct
from playwright.sync_api import Page

from tests.support.own_wallet import OwnWallet

SCRIPT = """
window.ethereum = {
  request: async (call) => {
    const answer = await window.signumWallet(call);
    if (answer.error) throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
    return answer.result;
  },
};
"""
REFUSED, UNKNOWN_CHAIN = 4001, 4902


class BrowserWallet:
    """The wallet of one page."""

    def __init__(self, page: Page, wallet: OwnWallet) -> None:
        self.wallet, self.refuses, self.asked = wallet, False, list[str]()
        self.chain_id = self.own_chain = str(wallet.ask("eth_chainId"))
        self.knows_chain = True
        self.account = wallet.address
        page.expose_function("signumWallet", self._answer)
        page.add_init_script(SCRIPT)

    def _answer(self, call: dict[str, Any]) -> dict[str, Any]:
        method, values = call["method"], call.get("params") or []
        self.asked.append(method)
        if self.refuses and method in ("eth_sendTransaction", "personal_sign"):
            return _error(REFUSED, "User rejected the request.")
        if method in ("eth_requestAccounts", "eth_accounts"):
            return {"result": [self.account.lower()]}
        if method == "eth_chainId":
            return {"result": self.chain_id}
        if method == "wallet_switchEthereumChain" and not self.knows_chain:
            return _error(UNKNOWN_CHAIN, "Unrecognized chain ID.")
        if method in ("wallet_switchEthereumChain", "wallet_addEthereumChain"):
            self.chain_id, self.knows_chain = values[0]["chainId"], True
            return {"result": None}
        if method == "personal_sign":
            signed = self.wallet.account.sign_message(encode_defunct(hexstr=values[0]))
            return {"result": "0x" + signed.signature.hex()}
        if method == "eth_sendTransaction":
            sent = values[0]
            assert sent["from"].lower() == self.account.lower()
            assert sent["chainId"] == self.chain_id == self.own_chain, "a transaction for another chain"
            return {"result": self.wallet.send(sent["to"], sent["data"], sent["value"])["transactionHash"]}
        return {"result": self.wallet.ask(method, *values)}


def _error(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}
