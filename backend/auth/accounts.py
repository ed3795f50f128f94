"""Accounts: people with a password."""

from collections.abc import Sequence

from backend.auth.secrets import hash_password
from backend.auth.weak_passwords import weakness
from backend.db import Write
from backend.errors import BadRequest
from backend.members.models import UserRow

MIN_PASSWORD = 10
"""Characters."""


def check_password_form(password: str, pointer: str = "/password", own: Sequence[str | None] = ()) -> None:
    """400 for a password that is too short, common, a pattern, or made of the person's address and name (`own`)."""
    if len(password) < MIN_PASSWORD:
        raise BadRequest(f"A password has at least {MIN_PASSWORD} characters.", pointer=pointer)
    if found := weakness(password, [text for text in own if text]):
        raise BadRequest(found, pointer=pointer)


async def create_account(session: Write, email: str, display_name: str, password: str) -> UserRow:
    """A new person; 400 for a password that is too short or easy to guess."""
    check_password_form(password, own=(email, display_name))
    user = UserRow(email=email.strip().lower(), display_name=display_name, password_hash=hash_password(password))
    session.add(user)
    await session.flush()
    return user
