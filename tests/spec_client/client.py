"""An example client of the API, written from its specification. It imports nothing of the service.

The specification leaves some shapes open. For those the client uses what the service says at run time:

- 422 names the fields that a body lacks, so the bodies below could be written without further reading.
- 202 has a `Location`: the request to poll.
- A refusal has a `resolution`: the call that removes its cause. `Client.call` follows it and tries again.
"""

import base64
import hashlib
import hmac
import time
from collections.abc import Iterator
from typing import Any

import httpx

RESOURCES = ("orgs", "assets", "members", "wallets", "chains", "attestations", "transfers", "api-keys")
ALL_SCOPES = [f"{resource}:{action}" for resource in RESOURCES for action in ("read", "write")]

Json = dict[str, Any]


class Refused(Exception):
    """The service refused a call, and named no call that removes the cause."""

    def __init__(self, problem: Json) -> None:
        super().__init__(f"{problem['status']} {problem['title']}: {problem['detail']} {problem.get('errors', '')}")
        self.problem = problem


class Client:
    """Calls the API, follows resolutions, and waits for accepted requests."""

    def __init__(self, base_url: str, patience: float = 60) -> None:
        self._http = httpx.Client(base_url=base_url, timeout=patience, trust_env=False)
        self._patience = patience
        self.followed: list[str] = []

    def sign_in(self, email: str, password: str) -> None:
        """Act as a person. Later calls send the person's access token."""
        answer = self.call("POST", "/auth/login", {"email": email, "password": password})
        self._http.headers["Authorization"] = f"Bearer {answer['access_token']}"

    def use_key(self, key: str) -> None:
        """Send an organization's key beside the access token: the registration of an issuer needs both."""
        self._http.headers["x-api-key"] = key

    def call(self, method: str, path: str, body: Json | None = None, known: dict[str, Json] | None = None) -> Json:
        """Call until it succeeds: after each refusal follow its resolution.

        A resolution has a method and a path, but no body. `known` has the bodies, by the last part of the path.
        """
        deadline = time.monotonic() + self._patience
        while True:
            response = self._http.request(method, path, json=body)
            if response.is_success:
                return self._finish(response)
            problem = response.json()
            step = next(resolutions(problem), None)
            if step is None or time.monotonic() > deadline:
                raise Refused(problem)
            self._follow(step, known or {})

    def _follow(self, step: Json, known: dict[str, Json]) -> None:
        name = step["path"].partition("?")[0].rpartition("/")[2]
        if self.followed[-1:] == [step["description"]]:
            time.sleep(0.1)  # The same step again: its effect has not arrived yet.
        else:
            self.followed.append(step["description"])
        self.call(step["method"], step["path"], known.get(name, {}), known)

    def _finish(self, response: httpx.Response) -> Json:
        """Return the answer; if it is an acceptance, after its request has succeeded."""
        answer: Json = response.json()
        if response.status_code == httpx.codes.ACCEPTED:
            self.wait(str(response.url.join(response.headers["location"])), "succeeded")
        return answer

    def wait(self, path: str, status: str) -> Json:
        """Poll a detail endpoint until it has a status."""
        deadline = time.monotonic() + self._patience
        while (found := self.call("GET", path))["status"] != status:
            if found["status"] == "failed" or time.monotonic() > deadline:
                raise AssertionError(f"{path} is {found['status']}, not {status}: {found}")
            time.sleep(0.1)
        return found


def resolutions(problem: Json) -> Iterator[Json]:
    """The calls that remove the causes of a refusal, in the order in which they are to be made."""
    if "resolution" in problem:
        yield problem["resolution"]
    for entry in problem.get("prerequisites", []):
        if not entry["satisfied"]:
            yield entry["resolution"]
    for rule in problem.get("rules", []):
        if not rule["passed"] and rule.get("resolution"):
            yield rule["resolution"]


class Issuer:
    """An organization that issues an asset, and lets its investors trade it."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self.id: str = client.call("POST", "/orgs", {"name": name})["id"]
        key = self._call("POST", "/api-keys", {"name": f"{name}'s client", "scopes": ALL_SCOPES})
        client.use_key(key["key"])

    def _call(self, method: str, path: str, body: Json | None = None, **known: Json) -> Json:
        """Call below the organization, knowing what a person of the organization knows."""
        common: dict[str, Json] = {"wallets": {"label": "Treasury"}, "verify": {"kyc_level": 2}}
        return self._client.call(method, f"/orgs/{self.id}{path}", body, common | known)

    def chain(self, eid: int) -> Json:
        """Return a chain as the organization sees it, with the contracts on it."""
        return next(chain for chain in self._call("GET", "/chains")["chains"] if chain["xchain_eid"] == eid)

    def investor(self, name: str, country: str) -> Json:
        """Create a party with a wallet that the service keeps for it. Nobody has verified its identity yet."""
        wallet = self._call("POST", "/wallets", {"label": name})
        body = {"name": name, "country": country, "wallet_address": wallet["address"]}
        party = self._client.call("POST", f"/identity/parties?organization_id={self.id}", body)
        return {"party_id": party["id"], "wallet_id": wallet["id"], "address": wallet["address"]}

    def asset(self, symbol: str, eid: int, **rules: Any) -> str:
        """Deploy an asset on its first chain."""
        body = {"name": f"{symbol} Fund", "symbol": symbol, "chain_eid": eid, **rules}
        return str(self._call("POST", "/assets", body)["assetId"])

    def market(self, asset: str, eid: int) -> Json:
        """Deploy a market. The service bridges the asset first if it is not on that chain."""
        body = {"chain_eid": eid, "market_factory_address": self.chain(eid)["market_factory_address"]}
        path = f"/assets/{asset}/markets"
        accepted = self._call("POST", path, body)
        return self._client.wait(f"/orgs/{self.id}{path}/{accepted['marketId']}", "active")

    def mint(self, asset: str, eid: int, investor: Json, amount: int) -> None:
        """Create tokens for an investor."""
        body = {"chain_eid": eid, "to_address": investor["address"], "amount": str(amount)}
        self._call("POST", f"/assets/{asset}/mint", body, attestations=attestation(investor, eid))

    def order(self, market: Json, side: str, investor: Json, price: int, amount: int) -> str:
        """Place an order. Return the path of its detail."""
        path = f"/assets/{market['asset_id']}/markets/{market['id']}/orders"
        body = {"side": side, "price": str(price), "amount": str(amount), "wallet_id": investor["wallet_id"]}
        accepted = self._call("POST", path, body, attestations=attestation(investor, market["chain_eid"]))
        return f"/orgs/{self.id}{path}/{accepted['orderId']}"

    def webhook(self, url: str) -> str:
        """Have all events sent to an address. Return the secret that signs them."""
        return str(self._call("POST", "/webhooks", {"url": url})["secret"])


def attestation(investor: Json, eid: int) -> Json:
    """The body of a KYC attestation on a chain."""
    return {"party_id": investor["party_id"], "chain_eid": eid}
