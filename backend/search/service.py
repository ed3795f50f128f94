"""Search in one database round trip; its function searches only what the caller has entered."""

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.requests import titles
from backend.search import rules
from backend.search.schemas import Found, SearchResults

EACH = 8
"""Results per kind, so that one kind cannot displace the others."""


async def search(context: Context, words: str, most: int) -> SearchResults:
    """Return the best matches. A person's role also covers the organizations below, except where a second factor is
    required that the person lacks. A key sees its own organization and the names of those below."""
    text = sa.text(
        "select * from signum_search(:org, cast(:kinds as text[]), cast(:hidden as text[]), :words, :deep, :factor, "
        ":each, :most, cast(:address as inet))"
    )
    values = {
        "org": context.organization_id,
        "kinds": [str(kind) for kind in rules.findable(context.scopes)],
        "hidden": titles.hidden(context.scopes),
        "words": words,
        "deep": context.key is None,
        "factor": context.person is None or context.person.has_factor,
        "each": EACH,
        "most": most,
        "address": context.ip_address,
    }
    rows = (await context.session.execute(text, values)).all()
    return SearchResults(results=[Found.model_validate(row) for row in rows])
