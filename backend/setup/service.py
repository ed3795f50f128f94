"""The steps from an empty organization to its first market, and how far it is."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.setup.schemas import Setup, SetupStep, SetupStepStatus

NEEDS: dict[SetupStep, tuple[SetupStep, ...]] = {
    SetupStep.CHAIN: (),
    SetupStep.TREASURY: (),
    SetupStep.ISSUER: (SetupStep.CHAIN, SetupStep.TREASURY),
    SetupStep.PARTY: (),
    SetupStep.ATTESTATION: (SetupStep.ISSUER, SetupStep.PARTY),
    SetupStep.ASSET: (SetupStep.CHAIN, SetupStep.TREASURY),
    SetupStep.MARKET: (SetupStep.ASSET,),
    SetupStep.INVITATION: (),
}
"""Every step, in the order in which people take them, with the steps that have to be done before."""
COUNTS = sa.text("""
select jsonb_build_object(
  'chain', (select jsonb_build_array(count(*), 0) from organization_chains where organization_id = :org),
  'treasury', (
    select jsonb_build_array(count(*), 0) from wallets
    where organization_id = :org and is_default and kind = 'server'),
  'issuer', (
    select jsonb_build_array(count(*) filter (where status = 'registered'), count(*) filter (where status = 'pending'))
    from issuer_wallets where organization_id = :org),
  'party', (
    select jsonb_build_array(count(*) filter (where status = 'verified'),
      count(*) filter (where status in ('created', 'verifying')))
    from parties where organization_id = :org),
  'attestation', (
    select jsonb_build_array(count(*) filter (where status = 'active'), count(*) filter (where status = 'pending'))
    from attestations where organization_id = :org),
  'asset', (
    select jsonb_build_array(count(*) filter (where status in ('active', 'updating')),
      count(*) filter (where status in ('draft', 'deploying')))
    from assets where organization_id = :org),
  'market', (
    select jsonb_build_array(count(*) filter (where status in ('active', 'halted')),
      count(*) filter (where status in ('pending_bridge', 'deploying')))
    from markets where organization_id = :org),
  'invitation', (
    select jsonb_build_array(
      (select count(*) from members where organization_id = :org and status = 'active')
        + (select count(*) from invitations where organization_id = :org and status = 'pending' and expires_at > now())
        - (select count(*) from organizations where id = :org and parent_id is null),
      0)))
""")
"""`{step: [done, in progress]}`. A root organization begins with one member, one below another without any."""


def steps(counts: Mapping[str, tuple[int, int]]) -> list[SetupStepStatus]:
    """Return every step: whether it is done, what is in progress, and the undone steps that it needs.

    `counts`: of each step, what is done and what is in progress.
    """
    done = {step for step in NEEDS if counts[step][0] > 0}
    return [
        SetupStepStatus(
            step=step,
            is_done=step in done,
            count=max(0, counts[step][0]),
            in_progress=counts[step][1],
            blocked_by=[] if step in done else [need for need in needs if need not in done],
        )
        for step, needs in NEEDS.items()
    ]


async def read(context: Context) -> Setup:
    """Return the steps of the entered organization, from one statement."""
    counts: dict[str, Any] = (await context.session.execute(COUNTS, {"org": context.organization_id})).scalar_one()
    found = steps(counts)
    return Setup(steps=found, is_complete=all(step.is_done for step in found))
