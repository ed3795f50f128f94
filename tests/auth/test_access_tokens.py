"""Foreign, expired and misused access tokens are refused."""

import base64
import hmac
import json
from typing import Any

import pytest
import pytest_asyncio
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from backend.auth import tokens
from backend.client import ApiProblem
from tests.conftest import PASSWORD, World


@pytest_asyncio.fixture
async def access(world: World) -> str:
    """A valid token of the API."""
    person = await world.person(await world.organization())
    body = {"email": person.email, "password": PASSWORD}
    return str((await world.client.call("POST", "/auth/login", json=body))["access_token"])


def claims_of(token: str) -> dict[str, Any]:
    return dict(jwt.decode(token, published(), algorithms=["RS256"]).claims)


def published() -> KeySet:
    """Return the public keys, as any client reads them."""
    return KeySet.import_key_set({"keys": tokens.published()})


def text(value: bytes) -> str:
    """Encode bytes as in a token."""
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def part(value: dict[str, Any]) -> str:
    """A part of a token, written by hand."""
    return text(json.dumps(value).encode())


def by_secret(header: dict[str, Any], claims: dict[str, Any], secret: bytes) -> str:
    """A token whose signature is an HMAC; libraries refuse to make one with a public key."""
    said = f"{part(header | {'alg': 'HS256'})}.{part(claims)}"
    return f"{said}.{text(hmac.digest(secret, said.encode(), 'sha256'))}"


async def status(world: World, token: str) -> int:
    """Return the API's response to a token."""
    try:
        await world.client.call("GET", "/auth/me", token=token)
    except ApiProblem as problem:
        return problem.status
    return 200


@pytest.mark.parametrize(
    "change",
    [
        {"exp": 1_763_000_000},
        {"exp": None},
        {"aud": "https://other.example/v1"},
        {"aud": None},
        {"iss": "https://other.example/v1"},
        {"iss": None},
        {"sub": None},
        {"sid": None},
        {"sid": "unknown"},
        {"sid": "0198aaaa-0000-7000-8000-000000000000"},
    ],
    ids=str,
)
async def test_token_with_other_claims_is_refused(world: World, access: str, change: dict[str, Any]) -> None:
    claims = {name: value for name, value in (claims_of(access) | change).items() if value is not None}
    assert await status(world, tokens.sign(claims, "at+jwt")) == 401


@pytest.mark.parametrize(("kind", "expected"), [("at+jwt", 200), ("JWT", 401), ("logout+jwt", 401)])
async def test_token_of_another_type_is_refused(world: World, access: str, kind: str, expected: int) -> None:
    assert await status(world, tokens.sign(claims_of(access), kind)) == expected


async def test_token_with_a_forged_signature_is_refused(world: World, access: str) -> None:
    claims, own = claims_of(access), tokens.published()[0]
    stranger = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, private=True)
    header = {"alg": "RS256", "typ": "at+jwt", "kid": own["kid"]}
    public = RSAKey.import_key(own).as_pem(private=False)
    head, _, signature = access.split(".")
    wider = part(claims | {"scope": "orgs:write"})
    forged = {
        "another key under our id": jwt.encode(header, claims, stranger),
        "a key that comes along": jwt.encode(header | {"jwk": stranger.as_dict(private=False)}, claims, stranger),
        "our public key as a shared secret": by_secret(header, claims, public),
        "no algorithm": f"{part(header | {'alg': 'none'})}.{part(claims)}.",
        "other claims under our signature": f"{head}.{wider}.{signature}",
        "no signature": f"{head}.{part(claims)}.",
    }
    assert {name: await status(world, token) for name, token in forged.items()} == dict.fromkeys(forged, 401)
    assert await status(world, access) == 200
