"""Erasure of a person from the audit logs of all organizations."""

from typing import Any

import sqlalchemy as sa

from backend.audit.redaction import LOG, Erasure, Row, redact
from backend.core.db import Write
from backend.erasures.columns import mentions
from backend.erasures.known import Known
from backend.erasures.texts import Eraser

OWN = frozenset({"member", "session", "user"})
"""Kinds of records about a person."""
OF_PARTIES = ("attestation", "document", "party")
"""Entries about parties stay until the party itself is erased."""


async def erase(session: Write, person: Known, reason: str) -> int:
    """Erase names, and the addresses from which the person acted; return the number of entries."""
    everywhere = _named(person.everywhere)
    others = sa.select(LOG.c.organization_id).where(everywhere).distinct()
    places = {*person.places, *(await session.scalars(others)).all()}
    count = 0
    for place in sorted(places):
        is_known = place in person.places
        eraser = person.here if is_known else person.everywhere
        erasure = Erasure(place, "user.erased", ("user", person.id), reason, _changed(person, eraser))
        acted = sa.and_(LOG.c.actor == person.id, LOG.c.address.is_not(None))
        about = LOG.c.subject_id == str(person.id)
        about_session = sa.and_(LOG.c.subject_type == "session", LOG.c.actor == person.id)
        count += await redact(session, erasure, sa.or_(acted, about, about_session, _named(eraser)))
    return count


def _named(eraser: Eraser) -> sa.ColumnElement[bool]:
    named = sa.or_(mentions(LOG.c.before, eraser), mentions(LOG.c.after, eraser))
    return sa.and_(named, LOG.c.subject_type.not_in(OF_PARTIES))


def _changed(person: Known, eraser: Eraser) -> Any:
    def changed(entry: Row) -> Row:
        left = eraser.emptied if _is_own(entry, person) else eraser.erased
        address = None if entry["actor"] == person.id else entry["address"]
        return {"before": left(entry["before"]), "after": left(entry["after"]), "address": address}

    return changed


def _is_own(entry: Row, person: Known) -> bool:
    """Return whether an entry is about the person: their account, a session, or a membership."""
    if entry["subject_type"] not in OWN:
        return False
    if entry["subject_id"] == str(person.id):
        return True
    if entry["subject_type"] == "session":
        return bool(entry["actor"] == person.id)
    records = (entry["before"] or {}, entry["after"] or {})
    return any((record.get("user") or {}).get("id") == str(person.id) for record in records)
