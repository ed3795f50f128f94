"""The daily email of what waits for a person: for those who want it, on days on which something waits.

The day of the email is stored in the transaction that adds it to the outbox, so an interrupted or repeated night sends
none twice. It reads as the person, in the organizations where they have a role; only the person can read it.

An email is read from any address, so it is a caller whose address is unknown: an organization with allowed IP ranges
refuses it. The email then says only that something waits there.
"""

from datetime import date
from uuid import UUID
from zoneinfo import ZoneInfo

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.auth.credential_owners import Person
from backend.auth.principal import NOWHERE, Context
from backend.core import db
from backend.core.errors import Forbidden
from backend.core.settings import settings
from backend.engine.schedules import nightly
from backend.factors.verification import has_factor
from backend.mail.models import Cause, mail
from backend.mail.schemas import MailKind
from backend.notifications import rules, service
from backend.notifications.schemas import Notification
from backend.preferences.models import PreferencesRow
from backend.preferences.schemas import Digest
from backend.users.models import UserRow

log = structlog.get_logger()
PART = 100
"""People who are read at a time."""
MOST = 20
"""Organizations of a person in one email."""
SUBJECT = "What waits for you in Signum"
PLACES = sa.text("select id, name from signum_memberships(:person) where role <> 'client' limit :most")
FIRST_PLACE = sa.text("select id from signum_memberships(:person) limit 1")
REFUSING = sa.text("select id from signum_refusing(:org, null)")
PREFERENCES = sa.inspect(PreferencesRow).local_table


async def once() -> None:
    """Email everyone who wants it what waits for them, unless they had an email today."""
    day, last, sent = db.now().date(), NOWHERE, 0
    while people := await _people(day, last):
        for person_id in people:
            try:
                sent += await send(person_id, day)
            except Exception:  # what fails for one person must not stop the emails of the others
                log.exception("digest.failed", user=str(person_id))
        last = people[-1]
    log.info("digest.finished", sent=sent)


async def send(person_id: UUID, day: date) -> bool:
    """Add a person's email of a day to the outbox; return whether there is one."""
    found = await _found(person_id)
    if not found:
        return False
    async with db.transaction() as session:
        await db.see_oneself(session, person_id)
        mine = sa.and_(PREFERENCES.c.user_id == person_id, *_unsent(day))
        claim = sa.update(PreferencesRow).where(mine).values(digest_on=day).returning(PREFERENCES.c.time_zone)
        zone = await session.scalar(claim)
        email = await session.scalar(sa.select(col(UserRow.email)).where(col(UserRow.id) == person_id))
        place = await session.scalar(FIRST_PLACE, {"person": person_id})
        if zone is None or not email or place is None:
            return False
        await db.widen(session, place)
        text = rules.letter(found, ZoneInfo(zone), settings().origin)
        session.add(mail(place, email, SUBJECT, text, Cause(MailKind.NOTICE, person_id), is_private=True))
    return True


async def _people(day: date, after: UUID) -> list[UUID]:
    """Return the next people who want an email and have not had one today."""
    table = PREFERENCES.c
    wanted = sa.select(table.user_id).where(table.user_id > after, *_unsent(day))
    async with db.worker() as session:
        return list((await session.scalars(wanted.order_by(table.user_id).limit(PART))).all())


def _unsent(day: date) -> tuple[sa.ColumnElement[bool], ...]:
    table = PREFERENCES.c
    return table.digest == Digest.DAILY, sa.or_(table.digest_on.is_(None), table.digest_on < day)


async def _found(person_id: UUID) -> list[tuple[UUID, str, list[Notification] | None]]:
    """Return what waits for a person, by organization: its ID, its name, and what the bell shows there; None where only
    allowed IP addresses may read it."""
    async with db.transaction() as session:
        places = (await session.execute(PLACES, {"person": person_id, "most": MOST})).all()
    read = [(place.id, place.name, await _waiting(person_id, place.id)) for place in places]
    return [one for one in read if one[2] != []]


async def _waiting(person_id: UUID, organization_id: UUID) -> list[Notification] | None:
    """Return what waits in an organization; nothing where the person may not enter it now, without a second factor, and
    None if something waits where an unknown address is refused."""
    async with db.transaction() as session:
        await db.see_oneself(session, person_id)
        person = Person(person_id, "", "", NOWHERE, None, db.now(), has_factor=await has_factor(session, person_id))
        context = Context(session=session, person=person, key=None, is_caller=False)
        try:
            await context.enter(organization_id)
        except Forbidden:
            return []
        found = (await service.read(context)).notifications
        refusing = await session.execute(REFUSING, {"org": organization_id})
        return None if found and refusing.first() else found


NIGHTLY = nightly("digest", once, "the daily emails could not be written; the next attempt is tomorrow")
