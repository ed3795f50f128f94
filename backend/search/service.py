"""Search: one round trip to the database, whose function looks no further than what the caller has entered."""

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.search import rules
from backend.search.schemas import Found, SearchResults

EACH = 8
"""Results of one kind: the many of one must not push out the others."""


async def search(context: Context, words: str, most: int) -> SearchResults:
    """The best matches. A person's role reaches down, so what is below is found too, except where a second factor is
    required that the person does not have. A key sees its own organization and the names of those below."""
    text = sa.text(
        "select * from signum_search(:org, cast(:kinds as text[]), :words, :deep, :factor, :each, :most, "
        "cast(:address as inet))"
    )
    values = {
        "org": context.organization_id,
        "kinds": [str(kind) for kind in rules.findable(context.scopes)],
        "words": words,
        "deep": context.key is None,
        "factor": context.person is None or context.person.has_factor,
        "each": EACH,
        "most": most,
        "address": context.ip_address,
    }
    rows = (await context.session.execute(text, values)).all()
    return SearchResults(results=[Found.model_validate(row) for row in rows])
