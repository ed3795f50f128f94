"""Counts of an organization's overview, computed by one statement."""

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.organizations.schemas import Summary

# With 10,000 directly below there is no need to walk down.
COUNTS = sa.text("""
with children as materialized (
  select coalesce(sum(child_count), 0) as number from signum_child_counts(array[cast(:org as uuid)])
)
select jsonb_build_object(
  'members', (
    select jsonb_build_object(
      'staff', count(*) filter (where role <> 'client'),
      'clients', count(*) filter (where role = 'client'),
      'total', count(*))
    from members where organization_id = :org and status = 'active'),
  'wallets', (select count(*) from wallets where organization_id = :org),
  'assets', (
    select jsonb_build_object('total', coalesce(sum(n), 0), 'by_status', coalesce(jsonb_object_agg(status, n), '{}'))
    from (select status, count(*) as n from assets where organization_id = :org group by status) s),
  'enabled_chains', (select count(*) from organization_chains where organization_id = :org),
  'api_keys', (
    select jsonb_build_object(
      'active', count(*) filter (where revoked_at is null and (expires_at is null or expires_at > now())),
      'revoked', count(*) filter (where revoked_at is not null))
    from api_keys where organization_id = :org),
  'transactions', (
    select jsonb_build_object(
      'pending', count(*) filter (where status = 'pending'),
      'submitting', count(*) filter (where status = 'submitting'),
      'confirmed', count(*) filter (where status = 'confirmed'),
      'failed', count(*) filter (where status = 'failed'))
    from transactions where organization_id = :org),
  'sub_organizations', (select number from children),
  'sub_organizations_all', (
    select case when number >= 10000 then 10000 else signum_descendants(:org, 10000) end from children),
  'attention', jsonb_build_object(
    'failed_requests', (select count(*) from requests where organization_id = :org and status = 'failed'),
    'parties_waiting', (
      select count(*) from parties where organization_id = :org and status in ('created', 'verifying')),
    'attestations_expiring', (
      select count(*) from attestations where organization_id = :org and status = 'active'
        and expires_at between now() and now() + interval '30 days'),
    'pending_invitations', (
      select count(*) from invitations where organization_id = :org and status = 'pending' and expires_at > now()),
    'approvals_waiting', (
      select count(*) from approvals where organization_id = :org and status = 'pending' and expires_at > now())))
""")


async def counts(context: Context) -> Summary:
    """Return counts of everything in the entered organization. `sub_organizations` counts those directly below,
    `sub_organizations_all` those on every level, up to 10,000."""
    return Summary.model_validate(await context.session.scalar(COUNTS, {"org": context.organization_id}))
