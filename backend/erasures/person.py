"""`signum erase person`: the account, credentials, memberships and names of one person."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.core.changes import THE_OPERATOR, acting
from backend.core.db import Write
from backend.core.errors import CannotStart
from backend.erasures import account, columns, person_log, remains
from backend.erasures.known import ERASED, Known
from backend.erasures.report import Report, check_reason, refuse
from backend.users.models import MemberRow, UserRow

_ONLY_ADMIN = sa.text("""
  select o.id, o.name from members m join organizations o on o.id = m.organization_id
  where m.user_id = :person and m.role = 'admin' and m.status = 'active' and not exists (
    select from members b where b.organization_id = m.organization_id and b.id <> m.id
      and b.role = 'admin' and b.status = 'active') order by o.name, o.id
""")
_PLACES = sa.text("""
  select organization_id from members where user_id = :person or asked_user_id = :person
  union select organization_id from audit_log where actor = :person or subject_id = cast(:person as text)
""")
_PARTIES = sa.text("select id from parties where lower(email) = :email order by id")


async def erase(session: Write, email: str, reason: str) -> Report:
    """Erase a person in a transaction of the owner. Raises CannotStart where an organization needs them."""
    person = await _found(session, email.strip().lower())
    check_reason(reason, person.here)
    needed = await session.execute(_ONLY_ADMIN, {"person": person.id})
    refuse([f"The person is the only admin of {o.name} ({o.id}). Make another person an admin first." for o in needed])
    report = Report(f"Account {person.id}", Counter({"users": 1}))
    with acting(THE_OPERATOR):
        report.erased += await account.close(session, person.id, ERASED)
        await db.conclude(session)  # the log's entries about the end are erased below, with those before
    report.erased += await account.forget(session, person.id, person.email)
    report.erased += await _texts(session, person)
    report.erased["audit_log"] += await person_log.erase(session, person, reason)
    report.kept = await _kept(session, person)
    return report


async def _found(session: Write, email: str) -> Known:
    columns = (UserRow.id, UserRow.display_name)
    query = sa.select(*map(col, columns)).where(col(UserRow.email) == email).with_for_update()
    row = (await session.execute(query)).first()
    if row is None:
        raise CannotStart("No account has this email address. An account that was erased has none.")
    given = sa.select(col(MemberRow.display_name)).where(
        sa.or_(col(MemberRow.user_id) == row.id, sa.func.lower(col(MemberRow.email)) == email)
    )
    names = {row.display_name, *(await session.scalars(given)).all()} - {None, ERASED}
    places = (await session.scalars(_PLACES, {"person": row.id})).all()
    return Known(row.id, email, tuple(sorted(names)), places)


async def _texts(session: Write, person: Known) -> Counter[str]:
    found: Counter[str] = Counter()
    for eraser, places in ((person.here, person.places), (person.everywhere, None)):
        found += await columns.erase(session, eraser, places)
        found += await remains.erase(session, eraser, places)
    return found


async def _kept(session: Write, person: Known) -> list[str]:
    kept = ["the account's ID, without name and credentials, as the actor of audit entries and requests"]
    parties: Sequence[Any] = (await session.scalars(_PARTIES, {"email": person.email})).all()
    kept += [f"a party with the person's email: `signum erase party {party}` erases it" for party in parties]
    return [*kept, "backups, exports and evidence packs that were made before"]
