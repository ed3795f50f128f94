"""Passkeys: the two ceremonies of WebAuthn, with py_webauthn.

The library is imported on demand: the import takes half a second.
"""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.models import OneTimeSecretRow
from backend.auth.secrets import digest, token
from backend.core.db import Write, now
from backend.core.errors import BadRequest
from backend.core.settings import settings
from backend.factors.models import FactorRow
from backend.factors.schemas import FactorKind

LIFETIME = timedelta(minutes=5)
CREATE, GET = "passkey.create", "passkey.get"
MAX_CREDENTIAL = 16_000
"""Maximum characters of an authenticator response in a form."""
WRONG = "The authenticator response is invalid, or took longer than 5 minutes. Try again."


def _host() -> str:
    """Return the relying party's id: the host that browsers use."""
    return urlsplit(settings().origin).hostname or "localhost"


async def registration_options(
    session: Write, user_id: UUID, account: str, name: str, rows: Sequence[FactorRow]
) -> dict[str, Any]:
    """Return options for `navigator.credentials.create`, excluding the person's existing passkeys."""
    from webauthn import generate_registration_options
    from webauthn.helpers.structs import AuthenticatorSelectionCriteria, ResidentKeyRequirement

    options = generate_registration_options(
        rp_id=_host(),
        rp_name="Signum",
        user_id=user_id.bytes,
        user_name=account or name or "Signum",
        user_display_name=name,
        challenge=await _challenge(session, user_id, CREATE),
        timeout=int(LIFETIME.total_seconds() * 1000),
        authenticator_selection=AuthenticatorSelectionCriteria(resident_key=ResidentKeyRequirement.PREFERRED),
        exclude_credentials=_descriptors(rows),
    )
    return _as_json(options)


async def assertion_options(session: Write, user_id: UUID) -> dict[str, Any]:
    """Return options for `navigator.credentials.get` with one of the person's passkeys; 400 where they have none."""
    from webauthn import generate_authentication_options

    query = sa.select(FactorRow).where(col(FactorRow.user_id) == user_id, col(FactorRow.credential_id).is_not(None))
    rows = (await session.scalars(query)).all()
    if not rows:
        raise BadRequest("This account has no passkey.")
    options = generate_authentication_options(
        rp_id=_host(),
        challenge=await _challenge(session, user_id, GET),
        timeout=int(LIFETIME.total_seconds() * 1000),
        allow_credentials=_descriptors(rows),
    )
    return _as_json(options)


def _as_json(options: Any) -> dict[str, Any]:
    from webauthn import options_to_json

    parsed: dict[str, Any] = json.loads(options_to_json(options))
    return parsed


def _descriptors(rows: Sequence[FactorRow]) -> list[Any]:
    from webauthn import base64url_to_bytes
    from webauthn.helpers.structs import AuthenticatorTransport, PublicKeyCredentialDescriptor

    known = {t.value for t in AuthenticatorTransport}
    return [
        PublicKeyCredentialDescriptor(
            id=base64url_to_bytes(row.credential_id),
            transports=[AuthenticatorTransport(t) for t in row.transports if t in known] or None,
        )
        for row in rows
        if row.credential_id
    ]


async def _challenge(session: Write, user_id: UUID, purpose: str) -> bytes:
    """Create a one-time challenge. The authenticator signs its text, so only its digest is stored."""
    mine = (col(OneTimeSecretRow.user_id) == user_id, col(OneTimeSecretRow.purpose) == purpose)
    await session.execute(sa.delete(OneTimeSecretRow).where(*mine, col(OneTimeSecretRow.expires_at) < now()))
    secret = token()
    session.add(
        OneTimeSecretRow(purpose=purpose, secret_hash=digest(secret), user_id=user_id, expires_at=now() + LIFETIME)
    )
    await session.flush()
    return secret.encode()


async def _answered(session: Write, user_id: UUID, purpose: str, credential: dict[str, Any]) -> bytes | None:
    """Consume and return the challenge of a response; None where it was not issued to this person."""
    challenge = _challenge_of(credential)
    if challenge is None:
        return None
    used = sa.update(OneTimeSecretRow).where(
        col(OneTimeSecretRow.secret_hash) == digest(challenge),
        col(OneTimeSecretRow.user_id) == user_id,
        col(OneTimeSecretRow.purpose) == purpose,
        col(OneTimeSecretRow.used_at).is_(None),
        col(OneTimeSecretRow.expires_at) > now(),
    )
    found = await session.scalar(used.values(used_at=now()).returning(col(OneTimeSecretRow.id)))
    return challenge.encode() if found is not None else None


def _challenge_of(credential: dict[str, Any]) -> str | None:
    """Return the challenge in the browser's client data, not yet verified."""
    from webauthn import base64url_to_bytes

    try:
        client_data = json.loads(base64url_to_bytes(credential["response"]["clientDataJSON"]))
        return base64url_to_bytes(client_data["challenge"]).decode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


async def register(session: Write, user_id: UUID, name: str, credential: dict[str, Any]) -> FactorRow:
    """Return a new, verified passkey; 400 where the response is invalid."""
    from webauthn import verify_registration_response
    from webauthn.helpers import bytes_to_base64url
    from webauthn.helpers.exceptions import WebAuthnException

    challenge = await _answered(session, user_id, CREATE, credential)
    if challenge is None:
        raise BadRequest(WRONG, pointer="/credential")
    try:
        found = verify_registration_response(
            credential=credential,
            expected_challenge=challenge,
            expected_rp_id=_host(),
            expected_origin=settings().origin,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError) as error:
        raise BadRequest(WRONG, pointer="/credential") from error
    return FactorRow(
        user_id=user_id,
        kind=FactorKind.PASSKEY,
        name=name,
        credential_id=bytes_to_base64url(found.credential_id),
        public_key=bytes_to_base64url(found.credential_public_key),
        sign_count=found.sign_count,
        transports=credential["response"]["transports"],
        confirmed_at=now(),
        last_used_at=now(),
    )


async def verify(session: Write, user_id: UUID, rows: Sequence[FactorRow], credential: dict[str, Any]) -> bool:
    """Verify a response of one of the person's passkeys to an issued challenge, and consume the challenge."""
    from webauthn import base64url_to_bytes, verify_authentication_response
    from webauthn.helpers.exceptions import WebAuthnException

    challenge = await _answered(session, user_id, GET, credential)
    row = next((r for r in rows if r.credential_id and r.credential_id == credential.get("id")), None)
    if challenge is None or row is None:
        return False
    try:
        found = verify_authentication_response(
            credential=credential,
            expected_challenge=challenge,
            expected_rp_id=_host(),
            expected_origin=settings().origin,
            credential_public_key=base64url_to_bytes(row.public_key or ""),
            credential_current_sign_count=row.sign_count,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError):
        return False
    row.sign_count, row.last_used_at = found.new_sign_count, now()
    return True
