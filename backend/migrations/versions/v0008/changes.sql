-- Of an organization and those below it, at least those with a mark, and their height above it. The marks are an
-- approval rule or a daily limit (`approval`), an endpoint with `include_descendants` (`receiver`), an issuer or a token
-- on a chain (`chain`), and organizations below (`parent`). If fewer organizations of the whole installation have the mark
-- than are below, it walks up from these. Otherwise, and if more than 10,000 have it, it walks down and returns all. It
-- compares with 1,000 and 10,000, and counts no further. Not for the app's role: the functions below name an organization
-- that the transaction has entered, and check the mark. Without the settings and the lateral subquery, the planner
-- reads all organizations: it does not know how few the rows are.
create or replace function organizations_marked(root uuid, mark text) returns table (id uuid, height int)
language plpgsql stable set search_path = public, pg_temp set jit = off
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  few int;
  is_small boolean;
  marked uuid[];
begin
  foreach few in array array[1000, 10000] loop
    is_small := cardinality(array(
      with recursive down as (
        select root as id
        union all
        select o.id from down cross join lateral (
          select c.id from organizations c where c.parent_id = down.id limit few + 1) o
      )
      select down.id from down limit few + 1)) <= few;
    exit when is_small;
    marked := case mark
      when 'approval' then array(
        (select o.id from organizations o where o.approvals <> '{}' limit few + 1)
        union (select distinct l.organization_id from daily_limits l limit few + 1))
      when 'receiver' then array(
        select distinct e.organization_id from webhook_endpoints e where e.include_descendants limit few + 1)
      when 'chain' then array(
        (select distinct w.organization_id from issuer_wallets w limit few + 1)
        union (select distinct d.organization_id from asset_deployments d limit few + 1))
      when 'parent' then array(
        with recursive parent (id) as (
          select '00000000-0000-0000-0000-000000000000'::uuid
          union all
          select next.id from parent cross join lateral (
            select o.parent_id as id from organizations o where o.parent_id > parent.id order by o.parent_id limit 1) next
        )
        select parent.id from parent limit few + 1)
    end;
    exit when cardinality(marked) <= few;
  end loop;
  if not is_small and cardinality(marked) <= few then
    return query
      with recursive up as (
        select m.id, m.id as place, 0 as height from unnest(marked) m (id)
        union all
        select up.id, o.parent_id, up.height + 1 from up join organizations o on o.id = up.place
        where up.place <> root and o.parent_id is not null and up.height < 65
      )
      select up.id, up.height from up where up.place = root;
  else
    return query
      with recursive down as (
        select root as id, 0 as height
        union all
        select o.id, down.height + 1 from down join organizations o on o.parent_id = down.id where down.height < 65
      )
      select down.id, down.height from down;
  end if;
end $$;
revoke all on function organizations_marked(uuid, text) from public;

-- The height of an organization that this transaction has entered: the levels below it.
create or replace function signum_height(root uuid) returns int
language sql stable security definer set search_path = public, pg_temp set jit = off
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select coalesce(max(m.height) + 1, 0) from organizations_marked(root, 'parent') m
  where organization_entered(root) and exists (select from organizations o where o.parent_id = m.id)
$$;

revoke all on function signum_height(uuid) from public;
grant execute on function signum_height(uuid) to signum_app, signum_worker;

-- The chains on which an organization this transaction has entered, or one below it, is known: as an issuer or through
-- a token.
create or replace function signum_known_chains(root uuid) returns setof bigint
language sql stable security definer set search_path = public, pg_temp set jit = off
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  with marked as (select m.id from organizations_marked(root, 'chain') m where organization_entered(root))
  select w.chain_eid from marked m join issuer_wallets w on w.organization_id = m.id
  union
  select d.chain_eid from marked m join asset_deployments d on d.organization_id = m.id
$$;

-- The most endpoints with `include_descendants` that receive the events of one organization: the maximum over an
-- organization that this transaction has entered, and those below it. Each endpoint counts, also a disabled one. The
-- maximum is that of an organization with such an endpoint of its own, or that of `org`.
create or replace function signum_most_receivers(org uuid) returns bigint
language sql stable security definer set search_path = public, pg_temp set jit = off
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  with recursive up as (
    select org as id, org as place where organization_entered(org)
    union
    select m.id, m.id from organizations_marked(org, 'receiver') m
    where organization_entered(org)
      and exists (select from webhook_endpoints e where e.organization_id = m.id and e.include_descendants)
    union all
    select up.id, o.parent_id from up join organizations o on o.id = up.place where o.parent_id is not null
  ), counted as (
    select count(*) as total from up join webhook_endpoints e on e.organization_id = up.place
    where e.include_descendants group by up.id
  )
  select coalesce(max(total), 0) from counted
$$;

-- Of an organization this transaction has entered and all below it, those that require a second person for any action,
-- the nearest first: a person who gets a role here could be a second person there.
create or replace function signum_requiring_approval(root uuid) returns setof uuid
language sql stable security definer set search_path = public, pg_temp set jit = off
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select o.id from organizations_marked(root, 'approval') m join organizations o on o.id = m.id
  where organization_entered(root)
    and (o.approvals <> '{}' or exists (select from daily_limits l where l.organization_id = o.id))
  order by m.height, o.id
$$;
