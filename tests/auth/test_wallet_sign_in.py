"""Sign-in with a wallet: one message, one nonce, one owner."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from eth_account import Account
from eth_account.messages import encode_defunct

from backend.auth.models import OneTimeSecretRow
from backend.auth.secrets import digest
from backend.client import ApiProblem
from backend.core import db
from backend.core.settings import settings
from backend.sign_in.siwe_message import parse
from tests.conftest import PASSWORD, World

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
"""The order of secp256k1."""


def text_of(begun: dict[str, Any], own: str, /, **change: Any) -> str:
    """A message as wallets write it."""
    said = {
        "domain": begun["domain"], "address": own, "statement": "Sign in to Signum", "uri": begun["uri"],
        "chain_id": begun["chain_ids"][0], "nonce": begun["nonce"],
        "issued_at": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "more": "",
    } | change  # fmt: skip
    return (
        f"{said['domain']} wants you to sign in with your Ethereum account:\n"
        f"{said['address']}\n\n{said['statement']}\n\n"
        f"URI: {said['uri']}\nVersion: 1\nChain ID: {said['chain_id']}\nNonce: {said['nonce']}\n"
        f"Issued At: {said['issued_at']}{said['more']}"
    )


def signed(account: Any, text: str) -> dict[str, str]:
    """Return a message and its signature."""
    return {"message": text, "signature": "0x" + account.sign_message(encode_defunct(text=text)).signature.hex()}


async def verify(world: World, body: dict[str, Any], **options: Any) -> Any:
    """Return the sign-in, or the problem's status and detail."""
    try:
        return await world.client.call("POST", "/auth/siwe/verify", json=body, **options)
    except ApiProblem as problem:
        return problem.status, problem.detail


async def begin(world: World) -> dict[str, Any]:
    """Return a nonce and its cookie."""
    return dict(await world.client.call("POST", "/auth/siwe/nonce"))


async def test_member_added_by_wallet_signs_in_with_it(world: World) -> None:
    acme = await world.organization()
    admin, account = await world.person(acme), Account.create()
    body = {"wallet_address": account.address, "role": "viewer", "display_name": "Ann"}
    added = await admin.call("POST", f"/orgs/{acme}/members", json=body)
    assert added["status"] == "pending"
    once = signed(account, text_of(await begin(world), account.address))
    tokens = await verify(world, once)
    [waiting] = (await world.client.call("GET", "/memberships/pending", token=tokens["access_token"]))["memberships"]
    call = added["acceptance"]
    assert call["path"] == f"/memberships/{waiting['id']}/accept"
    await world.client.call(call["method"], call["path"], token=tokens["access_token"])
    me = await world.client.call("GET", "/auth/me", token=tokens["access_token"])
    assert (tokens["user"]["email"], me["user"]["email"]) == (None, None), "as in every other record"
    assert [o["id"] for o in me["organizations"]] == [str(acme)]
    record = await world.client.call("GET", f"/orgs/{acme}", token=tokens["access_token"])
    assert record["id"] == str(acme)
    identities = "https://localhost/claims/chain_identities"
    claims = await world.client.call("GET", "/oauth/userinfo", token=tokens["access_token"])
    assert identities not in claims, "the sign-in had no role, and so no chains:read"
    tokens = await verify(world, signed(account, text_of(await begin(world), account.address)))
    claims = await world.client.call("GET", "/oauth/userinfo", token=tokens["access_token"])
    assert claims[identities][0]["address"] == account.address
    assert "email" not in claims
    assert (await verify(world, once))[0] == 401


async def test_person_links_a_wallet_and_signs_in_with_it(world: World) -> None:
    acme = await world.organization()
    person, other, account = await world.person(acme), await world.person(acme), Account.create()

    link = {"link": True, "password": PASSWORD}

    async def message() -> dict[str, Any]:
        return signed(account, text_of(await begin(world), account.address))

    assert (await verify(world, await message()))[0] == 401
    assert (await verify(world, await message() | link))[0] == 401
    linked = await verify(world, await message() | link, cookie=person.cookie)
    assert linked["user"]["email"] == person.email
    assert (await verify(world, await message() | link, cookie=other.cookie))[0] == 409
    assert (await verify(world, await message()))["user"]["email"] == person.email


@pytest.mark.long
async def test_siwe_message_with_wrong_fields_is_rejected(world: World) -> None:
    acme = await world.organization()
    person, account, thief = await world.person(acme), Account.create(), Account.create()
    own = signed(account, text_of(await begin(world), account.address)) | {"link": True, "password": PASSWORD}
    await world.client.call("POST", "/auth/siwe/verify", json=own, cookie=person.cookie)
    past = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
    ahead = (datetime.now(UTC) + timedelta(minutes=1)).isoformat()
    for change in (
        {"domain": "evil.example"},
        {"uri": "https://evil.example"},
        {"uri": settings().origin + ".evil.example"},
        {"chain_id": 999_999},
        {"nonce": "a" * 32},
        {"nonce": "short"},
        {"more": f"\nExpiration Time: {past}"},
        {"more": f"\nNot Before: {ahead}"},
        {"more": "\nMore: x"},
        {"issued_at": "yesterday"},
        {"issued_at": "2016-01-01T00:00:00Z"},
        {"issued_at": (datetime.now(UTC) - timedelta(minutes=11)).isoformat()},
        {"issued_at": (datetime.now(UTC) + timedelta(minutes=6)).isoformat()},
        {"address": account.address.lower()},
    ):
        begun = await begin(world)
        answer = await verify(world, signed(account, text_of(begun, account.address, **change)))
        assert answer[0] == 401, (change, answer)
    begun = await begin(world)
    text = text_of(begun, account.address)
    assert (await verify(world, signed(thief, text)))[0] == 401
    assert (await verify(world, {"message": text, "signature": "0x" + "11" * 65}))[0] == 401
    assert (await verify(world, {"message": text, "signature": "0x11"}))[0] == 422
    async with db.worker() as session:
        row = sa.update(OneTimeSecretRow).where(OneTimeSecretRow.secret_hash == digest(begun["nonce"]))
        await session.execute(row.values(expires_at=db.now() - timedelta(seconds=1)))
    assert "nonce" in (await verify(world, signed(account, text)))[1]


def test_siwe_message_without_a_statement_is_accepted() -> None:
    begun = {"domain": "localhost:8000", "uri": "http://localhost:8000", "chain_ids": [1], "nonce": "a" * 32}
    address = "0x52908400098527886E0F7030069857D2E4169EE7"
    bare = text_of(begun, address).replace("Sign in to Signum\n", "")
    found = parse(bare)
    assert found is not None
    assert (found.address, found.chain_id, found.domain) == (address, 1, "localhost:8000")
    resources = "\nRequest ID: 7\nResources:\n- https://a.example\n- ipfs://b"
    assert parse(text_of(begun, address, more=resources)) is not None
    assert parse(text_of(begun, address) + "\n") is None


@pytest.mark.parametrize("signature", ["0x", "0x" + "00" * 65, "0x" + "ff" * 65])
def test_malformed_signature_has_no_valid_signer(signature: str) -> None:
    from backend.chain.signing.message_signatures import signer_of

    assert signer_of("text", signature) != "0x52908400098527886E0F7030069857D2E4169EE7"


async def test_malleable_signature_is_rejected(world: World) -> None:
    person, account = await world.person(await world.organization()), Account.create()
    body = signed(account, text_of(await begin(world), account.address))
    r, s, v = body["signature"][2:66], int(body["signature"][66:130], 16), int(body["signature"][130:], 16)
    twin = f"0x{r}{ORDER - s:064x}{27 + 28 - v:02x}"
    assert Account.recover_message(encode_defunct(text=body["message"]), signature=twin) == account.address
    refused = await verify(world, body | {"signature": twin, "link": True}, cookie=person.cookie)
    assert refused[0] == 401
    linked = await verify(world, body | {"link": True, "password": PASSWORD}, cookie=person.cookie)
    assert linked["user"]["email"] == person.email


def message(domain: str = "service.example", uri: str = "https://service.example/login", more: str = "") -> str:
    begun = {"domain": domain, "uri": uri, "chain_ids": [1], "nonce": "32891757"}
    return text_of(begun, "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", more=more)


@pytest.mark.parametrize(
    "domain", ["127.0.0.1", "127.0.0.1:8080", "test@127.0.0.1", "test@127.0.0.1:8080", "u:p@a.example", "[::1]:80"]
)
def test_siwe_domain_is_an_rfc_3986_authority(domain: str) -> None:
    found = parse(message(domain))
    assert found is not None
    assert found.domain == domain


@pytest.mark.parametrize("domain", ["", "test@", "[::1", "[::g]", "a b", "a/b", "a@b@c", "a:b", "a%2", 'a"b'])
def test_siwe_domain_that_is_not_an_authority_is_rejected(domain: str) -> None:
    assert parse(message(domain)) is None


@pytest.mark.parametrize(
    "uri",
    ["uri://user:pass@example.com:123/one/two.three?q1=a1&q2=a2#body", "ipfs://Qme7ss3ARVgxv6rXqVPiikMJ8u2NLgmgszg13pY",
     "urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66", "did:key:z6Mk", "uri://[1:2:3:4:5:6:7:8]/p",
     "uri://[1:2:3:4:5:6:1.2.3.4]", "uri://[::]", "uri://[1:2::]", "https://service.example/%7Ea"],
)  # fmt: skip
def test_siwe_uri_and_resources_are_rfc_3986_uris(uri: str) -> None:
    assert parse(message(uri=uri)) is not None
    assert parse(message(more=f"\nResources:\n- {uri}\n- https://b.example")) is not None


@pytest.mark.parametrize(
    "uri",
    ["_not_a_rfc3986_valid_uri_", "://user:pass@example.com:123/one", "uri://example.com/two.three ?q=1",
     "uri://example.com/two?q=1 #body", "uri://[::0.0.0.256]/p", "uri://[::300.0.0.0]", "uri://[::0.ff.0.255]",
     "uri://[ffff:abcd:0:10:200:3000:f8a:1:ffff]", "uri://[ffff:abcd:0:10:200:3000:f8a]",
     "uri://[ffff:abcd:0:10:200:3000:ff:255.255.255.255]", "uri://[::1:2:3:4:5:6:7:8]", "uri://[1:2:3:4:5:6:7:8::]",
     "uri://[::1:2:3:4:5:6:198.162.10.255]", "uri://[1:2:3:4:5:6::198.162.10.255]", "uri://[1:2:3:4:5::6:7:8]",
     "uri://[1:2:3:4:5::6:198.162.10.255]", "https://a.example/%zz", "https://a.example/<b>", "https://a.example:x"],
)  # fmt: skip
def test_siwe_malformed_uri_is_rejected(uri: str) -> None:
    assert parse(message(uri=uri)) is None
    assert parse(message(more=f"\nResources:\n- https://b.example\n- {uri}")) is None
