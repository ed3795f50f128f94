"""The CSV import of parties: all of a list, or none of it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core import locks
from backend.core.errors import BadRequest, Invalid
from backend.core.locks import Purpose
from backend.limits import rate_limits
from backend.parties import import_rules, service
from backend.parties.import_rules import Judged, Known
from backend.parties.schemas import (
    ImportChange,
    ImportLine,
    ImportOutcome,
    OnDuplicate,
    PartyImported,
    PartyImportPlan,
    PartyUpdate,
)

EXAMPLE = "name,country,kind,email,wallet_address\nInes Roth,DEU,person,ines@example.com,\n"
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"text/csv": {"schema": {"type": "string", "maxLength": 1_048_576}, "example": EXAMPLE}},
    }
}
SHOWN = 200
"""Lines that a response has. Refused ones come first."""
SHOWN_CHARACTERS = 300_000
"""Characters of these lines as JSON: the console passes a plan through a socket that limits a message's size."""
NAMED = 50
"""Findings of a refused import."""


async def plan(context: Context, content: bytes, on_duplicate: OnDuplicate) -> PartyImportPlan:
    """Return what the import would do, line by line."""
    found = await _judge(context, content, on_duplicate)
    first = sorted(found, key=lambda one: (one.outcome is not ImportOutcome.REFUSED, one.line.number))
    return PartyImportPlan(**_counts(found), lines=_fitting([_shown(one) for one in first[:SHOWN]]))


async def run(context: Context, content: bytes, on_duplicate: OnDuplicate) -> PartyImported:
    """Create or update a party for each line that is not skipped; nothing if a line is refused.

    Imports of an organization run one after another: each judges its lines by what the one before it has created.
    Emails are not unique, so no constraint refuses the second of two parties.
    """
    await locks.wait(context.session, Purpose.PARTY_IMPORT, context.organization_id)
    found = await _judge(context, content, on_duplicate)
    refused = [one for one in found if one.outcome is ImportOutcome.REFUSED]
    if refused:
        raise Invalid(
            [{"pointer": f"/{one.line.number}", "detail": f"line {one.line.number} {one.detail}"} for one in refused][
                :NAMED
            ]
        )
    await rate_limits.count_items(context.name, len(found))
    for one in found:
        if one.outcome is ImportOutcome.CREATED and one.line.party is not None:
            await service.create(context, one.line.party)
        elif one.outcome is ImportOutcome.UPDATED and one.party_id is not None:
            after = {change.field: change.after for change in one.changes}
            await service.update(context, one.party_id, PartyUpdate.model_validate(after))
    return PartyImported(**_counts(found))


async def _judge(context: Context, content: bytes, on_duplicate: OnDuplicate) -> list[Judged]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRequest("The list is not UTF-8 text.") from error
    if "\0" in text:
        raise BadRequest("The list contains a NUL character.")
    found = import_rules.lines(text)
    wanted = [
        key for one in found if one.party for key in import_rules.keys_of(one.party.wallet_address, one.party.email)
    ]
    known = await _known(context, wanted)
    if on_duplicate is OnDuplicate.UPDATE:
        context.require(Scope.ATTESTATIONS_READ)  # a preview has the earlier values
    elif Scope.ATTESTATIONS_READ not in context.scopes:
        known = {key: [replace(one, name="another party") for one in some] for key, some in known.items()}
    return import_rules.judged(found, known, on_duplicate)


async def _known(context: Context, keys: Sequence[str]) -> dict[str, list[Known]]:
    """Return the organization's parties that have one of these wallets and emails, by both."""
    columns = service.PARTIES.c
    of_wallet, of_email = sa.func.lower(columns.wallet_address), sa.func.lower(columns.email)
    query = sa.select(*(columns[name] for name in Known.__dataclass_fields__)).where(
        columns.organization_id == context.organization_id, of_wallet.in_(keys) | of_email.in_(keys)
    )
    found = defaultdict[str, list[Known]](list)
    for row in (await context.session.execute(query.order_by(columns.created_at, columns.id))).all():
        for key in import_rules.keys_of(row.wallet_address, row.email):
            found[key].append(Known(**row._mapping))
    return dict(found)


def _counts(found: Sequence[Judged]) -> dict[str, int]:
    return {str(outcome): sum(one.outcome is outcome for one in found) for outcome in ImportOutcome}


def _fitting(lines: Sequence[ImportLine]) -> list[ImportLine]:
    """Return the first lines that a response can have."""
    ends = accumulate(len(line.model_dump_json()) for line in lines)
    return [line for line, end in zip(lines, ends, strict=True) if end <= SHOWN_CHARACTERS]


def _shown(one: Judged) -> ImportLine:
    party = one.line.party
    return ImportLine(
        line=one.line.number,
        name=one.line.values.get("name", "")[:120],
        country=party.country if party else None,
        email=party.email if party else None,
        wallet_address=party.wallet_address if party else None,
        outcome=one.outcome,
        detail=one.detail or None,
        party_id=one.party_id,
        changes=[ImportChange(field=each.field, before=each.before, after=each.after) for each in one.changes],
    )
