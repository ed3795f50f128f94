"""Codes of authenticator apps, and recovery codes. Pure functions."""

import base64
import secrets
from datetime import datetime, timedelta
from hmac import compare_digest

import pyotp

ENROLMENT = timedelta(minutes=15)
"""How long a started setup can be confirmed."""
STEP_SECONDS = 30
SKEW = 1
"""Steps by which a phone's clock may be ahead or behind."""
RECOVERY_CODES = 10
RECOVERY_BYTES = 10
RECOVERY_LENGTH = 16
"""Characters of a recovery code without its hyphens."""
ISSUER = "Signum"


def new_secret() -> str:
    """Return a secret for an authenticator app: 160 bits in base32, as RFC 4226 recommends."""
    return pyotp.random_base32(32)


def otpauth_uri(secret: str, account: str) -> str:
    """Return the URI that an authenticator app reads from a QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name=account, issuer_name=ISSUER)


def matching_step(secret: str, code: str, at: datetime, last_step: int | None) -> int | None:
    """Return the time step of a code; None for a wrong code, and for one not newer than the last accepted one."""
    digits = "".join(code.split())
    if len(digits) != 6 or not (digits.isascii() and digits.isdigit()):
        return None
    totp, now_step = pyotp.TOTP(secret), int(at.timestamp()) // STEP_SECONDS
    steps = range(now_step - SKEW, now_step + SKEW + 1)
    found = [step for step in steps if compare_digest(totp.generate_otp(step), digits)]
    newer = [step for step in found if last_step is None or step > last_step]
    return newer[0] if newer else None


def new_recovery_codes() -> list[str]:
    """Return ten codes of 80 random bits: `abcd-efgh-ijkl-mnop`."""
    return [_recovery_code() for _ in range(RECOVERY_CODES)]


def _recovery_code() -> str:
    text = base64.b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode().lower()
    return "-".join(text[i : i + 4] for i in range(0, RECOVERY_LENGTH, 4))


def recovery_text(code: str) -> str | None:
    """Return a recovery code in its hashed form, from any spelling; None for other texts."""
    letters = "".join(c for c in code.lower() if c.isascii() and c.isalnum())
    return letters if len(letters) == RECOVERY_LENGTH else None
