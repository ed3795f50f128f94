"""An example client of the API, written from its specification and the service's answers. It imports nothing of the
service.

The specification leaves many paths and bodies open. The service fills most of these gaps:

- 422 names the fields that a body lacks. Most bodies below were written from those answers.
- 202 has a `Location`: the request to poll.
- A refusal has a `resolution`: the call that removes its cause. `Client.call` follows it and retries.

So an `Issuer` prepares nothing. It asks for an asset, a market and orders, and the refusals say what is missing.

Three things came from the reference instead: the detail of an order, the draft of a distribution, and the signature of
webhooks.
"""

import base64
import hashlib
import hmac
import time
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

RESOURCES = ("orgs", "assets", "wallets", "chains", "attestations", "transfers")
SCOPES = [f"{resource}:{action}" for resource in RESOURCES for action in ("read", "write")]

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
        self._person: dict[str, str] = {}
        self._key: dict[str, str] = {}
        self.followed: list[str] = []

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def sign_in(self, email: str, password: str) -> None:
        """Act as a person."""
        answer = self.call("POST", "/auth/login", {"email": email, "password": password})
        self._person = {"Authorization": f"Bearer {answer['access_token']}"}

    def use_key(self, key: str) -> None:
        """Act with an organization's key instead."""
        self._key = {"x-api-key": key}

    def call(self, method: str, path: str, body: Json | None = None, bodies: dict[str, Json] | None = None) -> Json:
        """Call until it succeeds: after each refusal follow its resolution.

        A resolution has a method and a path, but no body. `bodies` has them, by the last part of the path.
        """
        deadline = time.monotonic() + self._patience
        while True:
            response = self._http.request(method, path, json=body, headers=self._credentials(path))
            if response.is_success:
                return self._finish(response)
            problem = response.json()
            step = next(resolutions(problem), None)
            is_limited = response.status_code == httpx.codes.TOO_MANY_REQUESTS
            if (step is None and not is_limited) or time.monotonic() > deadline:
                raise Refused(problem)
            if is_limited:
                time.sleep(float(response.headers.get("retry-after", 1)))
            elif step is not None:
                self._follow(step, bodies or {})

    def wait(self, path: str, status: str) -> Json:
        """Poll a detail endpoint until it has a status."""
        deadline = time.monotonic() + self._patience
        while (found := self.call("GET", path))["status"] != status:
            if found["status"] == "failed" or time.monotonic() > deadline:
                raise AssertionError(f"{path} is {found['status']}, not {status}: {found}")
            time.sleep(0.1)
        return found

    def _credentials(self, path: str) -> dict[str, str]:
        """The key and the person's token are alternatives; only the registration of an issuer needs both."""
        if path.endswith("/issuer/register"):
            return self._person | self._key
        return self._key or self._person

    def _follow(self, step: Json, bodies: dict[str, Json]) -> None:
        is_wait = step["method"] == "GET"  # It changes nothing, but names what is in progress.
        if is_wait or self.followed[-1:] == [step["description"]]:
            time.sleep(0.1)  # The same step again: its effect has not arrived yet.
        else:
            self.followed.append(step["description"])
        name = step["path"].partition("?")[0].rpartition("/")[2]
        body = None if is_wait else bodies.get(name, {})
        self.call(step["method"], step["path"], body, bodies)

    def _finish(self, response: httpx.Response) -> Json:
        """Return the answer. If it is an acceptance, wait for its request first."""
        answer: Json = response.json()
        if response.status_code == httpx.codes.ACCEPTED:
            self.wait(str(response.url.join(response.headers["location"])), "succeeded")
        return answer


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
        self._at = f"/orgs/{client.call('POST', '/orgs', {'name': name})['id']}"
        key = self._call("POST", "/api-keys", {"name": f"{name}'s client", "scopes": SCOPES})
        client.use_key(key["key"])

    def webhook(self, url: str) -> str:
        """Have all events sent to an address. Return the secret that signs them."""
        return str(self._call("POST", "/webhooks", {"url": url})["secret"])

    def asset(self, symbol: str, eid: int, **rules: Any) -> str:
        """Deploy an asset on its first chain."""
        body = {"name": f"{symbol} Fund", "symbol": symbol, "chain_eid": eid, **rules}
        return str(self._call("POST", "/assets", body)["assetId"])

    def market(self, asset: str, eid: int) -> Json:
        """Deploy a market on a chain. The service bridges the asset first if it is not there."""
        chain = next(chain for chain in self._call("GET", "/chains")["chains"] if chain["xchain_eid"] == eid)
        path = f"/assets/{asset}/markets"
        body = {"chain_eid": eid, "market_factory_address": chain["market_factory_address"]}
        accepted = self._call("POST", path, body)
        return self._client.wait(f"{self._at}{path}/{accepted['marketId']}", "active")

    def investor(self, name: str, country: str) -> Json:
        """Create a party, and a wallet that the service keeps for it. Its identity is not verified yet."""
        wallet = self._call("POST", "/wallets", {"label": name})
        body = {"name": name, "country": country, "wallet_address": wallet["address"]}
        party = self._client.call("POST", "/identity/parties", body)
        return {"party_id": party["id"], "wallet_id": wallet["id"], "address": wallet["address"]}

    def mint(self, asset: str, eid: int, investor: Json, amount: int) -> None:
        """Create tokens for an investor."""
        body = {"chain_eid": eid, "to_address": investor["address"], "amount": str(amount)}
        self._call("POST", f"/assets/{asset}/mint", body, attestations=attestation(investor, eid))

    def order(self, market: Json, side: str, investor: Json, price: int, amount: int) -> str:
        """Place an order. Return the path of its detail."""
        path = f"/assets/{market['asset_id']}/markets/{market['id']}/orders"
        body = {"side": side, "price": str(price), "amount": str(amount), "wallet_id": investor["wallet_id"]}
        eid = market["chain_eid"]
        bodies = {"attestations": attestation(investor, eid), "test-funds": {"chain_eid": eid}}
        accepted = self._call("POST", path, body, **bodies)
        return f"{self._at}{path}/{accepted['orderId']}"

    def orders(self, market: Json, status: str) -> list[Json]:
        """List the orders of a market that have a status."""
        path = f"/assets/{market['asset_id']}/markets/{market['id']}/orders?status={status}"
        return list(self._call("GET", path)["orders"])

    def bridges(self, asset: str) -> list[Json]:
        """List the bridge transactions of an asset."""
        return list(self._call("GET", f"/bridges?assetId={asset}")["bridges"])

    def distribution(self, asset: str, eid: int, amounts: dict[str, int]) -> Json:
        """Pay out tokens to addresses: draft a distribution, and activate it with its merkle root."""
        path = f"/assets/{asset}/distributions"
        recipients = [{"address": address, "amount": str(amount)} for address, amount in amounts.items()]
        draft = self._call("POST", path, {"name": "Payout", "chain_eid": eid, "recipients": recipients})
        one = f"{path}/{draft['id']}"
        terms = {"chainEid": eid, "merkleRoot": draft["merkle_root"], "totalRecipients": draft["total_recipients"]}
        assert self._call("POST", f"{one}/activate", terms) == {}
        return self._client.wait(self._at + one, "active")

    def _call(self, method: str, path: str, body: Json | None = None, **bodies: Json) -> Json:
        """Call below the organization. A resolution may need a wallet's label or the level of a verification."""
        usual: dict[str, Json] = {"wallets": {"label": "Treasury"}, "verify": {"kyc_level": 2}}
        return self._client.call(method, f"{self._at}{path}", body, usual | bodies)


def attestation(investor: Json, eid: int) -> Json:
    """The body of a KYC attestation on a chain."""
    return {"party_id": investor["party_id"], "chain_eid": eid}


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether a webhook has the signature of its secret (standardwebhooks.com)."""
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    mac = hmac.digest(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256)
    return f"v1,{base64.b64encode(mac).decode()}" in headers["webhook-signature"].split()
