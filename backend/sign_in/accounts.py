"""Accounts: people with a password."""

from collections.abc import Sequence
from uuid import UUID

from backend.core.db import Write
from backend.core.errors import BadRequest
from backend.limits import rate_limits
from backend.sign_in import password_checks
from backend.sign_in.weak_passwords import weakness
from backend.users.models import UserRow

MIN_PASSWORD = 10
"""Characters."""


def check_password_form(password: str, pointer: str = "/password", own: Sequence[str | None] = ()) -> None:
    """Raise 400 for a password that is too short, common, a pattern, or based on the person's data (`own`)."""
    if len(password) < MIN_PASSWORD:
        raise BadRequest(f"A password has at least {MIN_PASSWORD} characters.", pointer=pointer)
    if found := weakness(password, [text for text in own if text]):
        raise BadRequest(found, pointer=pointer)


async def create_account(
    session: Write, email: str, display_name: str, password: str, origin_id: UUID | None = None
) -> UserRow:
    """Create a person; 400 for a password that is too short or easy to guess, 429 where too many are being checked."""
    check_password_form(password, own=(email, display_name))
    account = email.strip().lower()
    await rate_limits.hit(
        rate_limits.PASSWORDS_PER_PERSON, "new account", account
    )  # a later refusal leads to another attempt
    stored = await password_checks.hashed(password, account)
    user = UserRow(email=account, display_name=display_name, password_hash=stored, origin_id=origin_id)
    session.add(user)
    await session.flush()
    return user
