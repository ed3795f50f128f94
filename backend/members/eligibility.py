"""Return what the entered organization knows about addresses to invite. It never reads another organization's rows."""

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.members import rules
from backend.members.rules import Identity, Known
from backend.members.schemas import Eligibility, EligibilityCheck
from backend.organizations.schemas import MemberRequirements

KNOWN = sa.text("""
select 'member' as kind, k.email, null as status, 0 as kyc_level, '' as country, false as accredited
from members m left join users u on u.id = m.user_id cross join lateral (
  -- Of who has not agreed yet, only what the organization gave itself.
  select lower(case when m.status = 'pending' then m.email else coalesce(u.email, m.email) end) as email) k
where m.organization_id = :org and m.status <> 'inactive' and k.email = any(:emails)
union all
select 'invitation', i.email, null, 0, '', false from invitations i
where i.organization_id = :org and i.status = 'pending' and i.expires_at > now() and i.email = any(:emails)
union all
select 'party', lower(p.email), p.status, p.kyc_level, p.country, p.accredited from parties p
where p.organization_id = :org and lower(p.email) = any(:emails)
""")
ASKED = sa.text("""
select o.member_requirements,
  (select count(*) from members m where m.organization_id = o.id and m.status <> 'inactive')
  + (select count(*) from invitations i
     where i.organization_id = o.id and i.status = 'pending' and i.expires_at > now())
  as seats_taken
from organizations o where o.id = :org
""")


async def check(context: Context, body: EligibilityCheck) -> Eligibility:
    """Return findings about some addresses, and what the organization requires of its members."""
    values: dict[str, Any] = {"org": context.organization_id}
    asked = (await context.session.execute(ASKED, values)).one()
    asks = MemberRequirements.model_validate(asked.member_requirements)
    emails = sorted({key for e in body.emails if (key := rules.canonical(e))})
    known = _known(await context.session.execute(KNOWN, values | {"emails": emails}))
    return Eligibility(
        warnings=rules.findings(body.emails, known, asks),
        orgRequirements=rules.org_requirements(asks, asked.seats_taken),
    )


def _known(rows: Iterable[Any]) -> Known:
    members, invited = set(), set()
    parties: dict[str, Identity] = {}
    for row in rows:
        if row.kind == "member":
            members.add(row.email)
        elif row.kind == "invitation":
            invited.add(row.email)
        else:
            found = Identity(row.status == "verified", row.kyc_level, row.country, row.accredited)
            parties[row.email] = max(parties.get(row.email, found), found, key=lambda i: i.rank)
    return Known(members, invited, parties)
