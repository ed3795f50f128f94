-- Functions that bypass row-level security. Each has a fixed search_path, does one thing, and returns only what its
-- arguments prove the caller may have.

-- The path of an organization: itself first, then its ancestors up to the root (at most 64).
create function signum_path(org uuid) returns table (id uuid, parent_id uuid, name text, height int)
language sql stable security definer set search_path = public, pg_temp as $$
  with recursive up as (
    select o.id, o.parent_id, o.name, 0 as height from organizations o where o.id = org
    union all
    select o.id, o.parent_id, o.name, up.height + 1 from up join organizations o on o.id = up.parent_id where up.height < 65
  )
  select up.id, up.parent_id, up.name::text, up.height from up
$$;

-- The root of an organization's hierarchy.
create function signum_root(org uuid) returns uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select p.id from signum_path(org) p order by p.height desc limit 1
$$;

-- The origin for which a new hierarchy counts, beside itself. Null once its root is 30 days old, and if an admin of the
-- operator's organization founded it.
create function signum_origin(org uuid) returns uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select o.origin_id from organizations o where o.id = signum_root(org) and o.created_at > now() - interval '30 days'
$$;

-- The origin of accounts that exist because an organization invited or added their people: that of its hierarchy, or the
-- root if it has none.
create function signum_account_origin(org uuid) returns uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(signum_origin(org), signum_root(org))
$$;

-- The organizations of an organization's hierarchy.
create function signum_hierarchy(org uuid) returns setof uuid
language sql stable security definer set search_path = public, pg_temp as $$
  with recursive below (id) as (
    select signum_root(org)
    union all
    select o.id from below join organizations o on o.parent_id = below.id
  )
  select b.id from below b
$$;

-- How many recipients of distributions a hierarchy stores.
create function signum_stored_recipients(org uuid) returns bigint
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(sum(d.total_recipients + d.held_recipients), 0)::bigint
  from signum_hierarchy(org) h (id) join distributions d on d.organization_id = h.id where d.has_recipients
$$;

-- How many bytes of documents a hierarchy stores.
create function signum_stored_documents(org uuid) returns bigint
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(sum(f.size), 0)::bigint
  from signum_hierarchy(org) h (id) join party_files f on f.organization_id = h.id
$$;

-- Emails of the last 24 hours to some addresses on a topic, whether one told that it is the last, and all below the root
-- that have a topic. Those about an account count in all its organizations, because only the account causes them.
create function signum_mail_counts(org uuid, about text, addresses text[])
returns table (recipient text, number bigint, is_told boolean, below bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  with share (id, below) as materialized (
    select r.id, (select count(*) from outbox o where o.share_id = r.id and o.topic is not null
                  and o.created_at > now() - interval '1 day')
    from signum_root(org) r (id)
  )
  select a.address, count(o.id), coalesce(bool_or(o.is_last), false), min(s.below)
  from share s cross join unnest(addresses) a (address)
  left join outbox o on o.recipient = a.address and o.topic = about and o.created_at > now() - interval '1 day'
    and (o.kind = 'account' or o.share_id = s.id)
  group by a.address
$$;

-- A person's roles in an organization: direct ones, and those that apply from its ancestors.
create function signum_roles(person uuid, org uuid) returns text[]
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(array_agg(distinct m.role::text), '{}')
  from signum_path(org) p join members m on m.organization_id = p.id
  where m.user_id = person and m.status = 'active' and (p.height = 0 or m.role <> 'client')
$$;

-- Whether a person has an active second factor.
create function signum_has_factor(person uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select exists (select 1 from factors f where f.user_id = person and f.confirmed_at is not null)
$$;

-- Whether an organization, or one above it, requires a second factor of its people.
create function signum_requires_factor(org uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select exists (select 1 from signum_path(org) p join organizations o on o.id = p.id where o.require_second_factor)
$$;

-- Whether a list of IP ranges allows an address. An empty list allows every address; any other list refuses an unknown
-- address.
create function allows_address(ranges text[], address inet) returns boolean
language sql immutable set search_path = public, pg_temp as $$
  select cardinality(ranges) = 0 or coalesce(address <<= any(ranges::inet[]), false)
$$;
revoke all on function allows_address(text[], inet) from public;

-- The nearest of an organization and those above it that refuses an address; no row where all allow it.
create function signum_refusing(org uuid, address inet) returns table (id uuid, name text)
language sql stable security definer set search_path = public, pg_temp as $$
  select p.id, p.name from signum_path(org) p join organizations o on o.id = p.id
  where not allows_address(o.allowed_ip_ranges, address) order by p.height limit 1
$$;

-- Whether a session has exceeded its idle time.
create function signum_is_idle(s sessions) returns boolean
language sql stable set search_path = public, pg_temp as $$
  select coalesce(s.last_used_at < now() - make_interval(secs => s.idle_seconds), false)
$$;

-- Every end of a credential (a key or an application's grant) until now: its own expiry or revocation, the removal of
-- the application, and the ends of the keys and grants that created the key or the application. Requests that have not
-- started continue after an expiry, and after a revocation that said so.
create function signum_credential_ends(key uuid, session uuid) returns table (ended timestamptz, keeps_requests boolean)
language sql stable security definer set search_path = public, pg_temp as $$
  with recursive up (key_id, grant_id) as (
    select key, session
    union
    select m.key_id, m.grant_id from up
      left join api_keys k on k.id = up.key_id
      left join sessions s on s.id = up.grant_id left join oauth_clients c on c.id = s.client_id
      cross join lateral (values (k.parent_id, k.grant_id), (c.maker_key_id, c.maker_grant_id)) m (key_id, grant_id)
      where m.key_id is not null or m.grant_id is not null
  )
  select e.ended, e.keeps_requests from up
    left join api_keys k on k.id = up.key_id
    left join sessions s on s.id = up.grant_id left join oauth_clients c on c.id = s.client_id
    cross join lateral (values
      (k.revoked_at, k.keeps_requests), (k.expires_at, true), (s.revoked_at, s.keeps_requests), (s.expires_at, true), (c.revoked_at, false),
      (case when up.grant_id is not null and c.id is null then now() end, false)) e (ended, keeps_requests)
  where e.ended <= now()
$$;

-- When a credential ended. Null while it is active.
create function signum_credential_ended(key uuid, session uuid) returns timestamptz
language sql stable security definer set search_path = public, pg_temp as $$
  select min(e.ended) from signum_credential_ends(key, session) e
$$;

-- When a key ended. Null while it is active.
create function signum_key_ended(key uuid) returns timestamptz
language sql stable security definer set search_path = public, pg_temp as $$
  select signum_credential_ended(key, null)
$$;

-- Whether one of the credentials that created an object has ended: a key, or an application's grant.
create function signum_maker_ended(key uuid, session uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select (key is not null or session is not null) and signum_credential_ended(key, session) is not null
$$;

-- Why the maker of a request may no longer make it: `credential` where its key or grant was revoked, `session` where
-- its person ended the session, `role` where they have none of the roles in its organization. Null where it may: a
-- credential or session that has only expired was not revoked.
create function signum_maker_refused(key uuid, granted uuid, session uuid, person uuid, org uuid, roles text[]) returns text
language sql stable security definer set search_path = public, pg_temp as $$
  select case
    when exists (select from signum_credential_ends(key, granted) e where not e.keeps_requests) then 'credential'
    when exists (select from sessions s where s.id = session and s.revoked_at is not null and not s.keeps_requests) then 'session'
    when person is not null and not signum_roles(person, org) && roles then 'role'
  end
$$;

-- The person behind a browser session or a JWT's session, and the application it was opened for; no row when it has
-- ended.
create function signum_session(hash text, session uuid)
returns table (session_id uuid, user_id uuid, email text, display_name text, organization_id uuid, signed_in_at timestamptz,
               client_organization_id uuid, factor_at timestamptz, proven_at timestamptz, has_factor boolean)
language sql volatile security definer set search_path = public, pg_temp as $$
  -- At most once a minute, and skipped where another request of this session is writing it.
  update sessions s set last_used_at = now() where s.id = (
    select n.id from sessions n
    where (n.token_hash = hash or n.id = session) and n.revoked_at is null and n.last_used_at < now() - interval '1 minute'
      and not signum_is_idle(n)
    for no key update skip locked);
  with alive as materialized (
    select s.id, u.id as user_id, u.email::text, u.display_name::text, s.organization_id, s.signed_in_at,
           c.organization_id as client_organization_id, s.factor_at, s.proven_at, signum_has_factor(u.id) as has_factor
    from sessions s join users u on u.id = s.user_id left join oauth_clients c on c.id = s.client_id
    where (s.token_hash = hash or s.id = session) and s.revoked_at is null and s.expires_at > now() and c.revoked_at is null
      and not signum_is_idle(s) and not signum_maker_ended(c.maker_key_id, c.maker_grant_id)
  )
  -- The signed-in person may see their own row in this transaction.
  select a.* from alive a where set_config('app.user_id', a.user_id::text, true) is not null
$$;

-- A grant, which is a session that was opened for an application: the application, its organization, its scopes, and
-- its expiry.
create function signum_grant(session uuid)
returns table (client_id uuid, client_name text, organization_id uuid, scope text, expires_at timestamptz, is_ended boolean)
language sql stable security definer set search_path = public, pg_temp as $$
  select c.id, c.name::text, c.organization_id, s.scope::text, s.expires_at,
         signum_maker_ended(null, s.id)
  from sessions s join oauth_clients c on c.id = s.client_id where s.id = session
$$;

-- The key behind a hash; no row when it is revoked or expired. `creator_roles` are its creator's current roles.
create function signum_api_key(hash text)
returns table (key_id uuid, organization_id uuid, name text, scopes text[], network text, created_by uuid, creator_roles text[],
               allowed_ip_ranges text[])
language sql volatile security definer set search_path = public, pg_temp as $$
  -- Skipped where another request of this key is writing it: that transaction may be long, and this one must not wait
  -- for it.
  update api_keys k set last_used_at = now() where k.id = (
    select n.id from api_keys n
    where n.key_hash = hash and n.revoked_at is null and (n.last_used_at is null or n.last_used_at < now() - interval '1 minute')
    for no key update skip locked);
  select k.id, k.organization_id, k.name::text, k.scopes, coalesce(k.network, o.network::text), k.created_by,
         case when k.created_by is null then '{}' else signum_roles(k.created_by, k.organization_id) end, k.allowed_ip_ranges
  from api_keys k join organizations o on o.id = k.organization_id
  where k.key_hash = hash and signum_key_ended(k.id) is null
$$;

-- Make an organization visible to this transaction if the person has a role there; return the roles.
create function signum_enter(person uuid, org uuid) returns text[]
language plpgsql volatile security definer set search_path = public, pg_temp as $$
declare roles text[] := signum_roles(person, org); current text := current_setting('app.organization_ids', true);
begin
  if cardinality(roles) > 0 and roles <> array['client'] then
    perform set_config('app.organization_ids', concat_ws(',', nullif(current, ''), org::text), true);
  end if;
  return roles;
end $$;

-- The organizations where a person has a direct role, outermost first.
create function signum_memberships(person uuid)
returns table (id uuid, name text, role text, parent_id uuid, depth int, network text)
language sql stable security definer set search_path = public, pg_temp as $$
  select o.id, o.name::text, m.role::text, o.parent_id, (select count(*)::int - 1 from signum_path(o.id)) as depth, o.network::text
  from members m join organizations o on o.id = m.organization_id
  where m.user_id = person and m.status = 'active'
  order by (m.role = 'client'), depth, o.name
$$;

-- The operator's organization: the first root of the installation. Anyone can create another root, so being a root's
-- admin proves nothing.
create function signum_operator() returns uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select o.id from organizations o where o.parent_id is null order by o.created_at, o.id limit 1
$$;

-- Whether a person is an admin of the operator's organization.
create function signum_operates(person uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select exists (
    select 1 from members m
    where m.user_id = person and m.status = 'active' and m.role = 'admin' and m.organization_id = signum_operator())
$$;

-- The origin of roots that a person founds: that of the account, or the person if it has none. Null for an admin of the
-- operator's organization, and for the founder of the first root.
create function signum_founder_origin(person uuid) returns uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(u.origin_id, u.id) from users u
  where u.id = person and signum_operator() is not null and not signum_operates(person)
$$;

-- Make the first organization that a person joins their origin. Until then it is that of the first one that added their
-- wallet, which they did not choose.
create function signum_joined(person uuid, org uuid) returns void
language sql security definer set search_path = public, pg_temp as $$
  update users set origin_id = signum_account_origin(org) where id = person and origin_id is not null and not exists (
    select 1 from members m where m.user_id = person and m.status = 'active' and m.organization_id <> org)
$$;

-- List fields of some organizations: path, depth, names of the ancestors from the root down. Not for the app's role:
-- the functions below call it for rows they have proven.
create function organization_facts(ids uuid[])
returns table (id uuid, name text, status text, parent_id uuid, hierarchy_path text, depth int, ancestors text[], child_count bigint,
               created_at timestamptz, updated_at timestamptz)
language sql stable set search_path = public, pg_temp set enable_seqscan = off as $$
  select o.id, o.name::text, o.status::text, o.parent_id, p.hierarchy_path, p.depth, p.ancestors,
         o.child_count::bigint, o.created_at, o.updated_at
  from organizations o, lateral (
    select '/' || string_agg(u.id::text, '/' order by u.height desc) as hierarchy_path, count(*)::int - 1 as depth,
           coalesce(array_agg(u.name order by u.height desc) filter (where u.height > 0), '{}') as ancestors
    from signum_path(o.id) u) p
  where o.id = any(ids)
$$;
revoke all on function organization_facts(uuid[]) from public;

-- Whether this transaction has entered an organization or one above it as staff. An investor enters none: the functions
-- below show what an investor may not see.
create function organization_entered(org uuid) returns boolean
language sql stable set search_path = public, pg_temp as $$
  select coalesce(current_setting('app.investor', true), '') = ''
    and exists (select 1 from signum_path(org) p
                where p.id = any(string_to_array(current_setting('app.organization_ids', true), ',')::uuid[]))
$$;
revoke all on function organization_entered(uuid) from public;

-- Whether this transaction may write to an organization: as staff, or what an investor does there themselves
-- (`signum_investor_writes`).
create function organization_written(org uuid) returns boolean
language sql stable set search_path = public, pg_temp as $$
  select organization_entered(org)
    or coalesce(current_setting('app.investor_writes', true), '') <> ''
      and org::text = current_setting('app.organization_ids', true)
$$;
revoke all on function organization_written(uuid) from public;

-- Let additions to an organization wait for each other, until the transaction ends.
create function signum_queue(org uuid) returns void
language sql volatile security definer set search_path = public, pg_temp as $$
  select from organizations o where o.id = org and (signum_is_worker() or organization_written(org)) for no key update
$$;

-- The file of an organization with a content, if it has it, and the bytes of all its files.
create function signum_stored_file(org uuid, digest text) returns table (id uuid, total bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select (select f.id from party_files f where f.organization_id = org and f.sha256 = digest),
         (select coalesce(sum(f.size), 0)::bigint from party_files f where f.organization_id = org)
  where signum_is_worker() or organization_written(org)
$$;

-- Whether an organization below one that this transaction has entered requires a second factor of its people.
create function signum_requires_factor_below(root uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp set jit = off as $$
  with recursive down as (
    select o.id, o.require_second_factor from organizations o where o.parent_id = root and organization_entered(root)
    union
    select o.id, o.require_second_factor from down join organizations o on o.parent_id = down.id
  )
  select exists (select from down where down.require_second_factor)
$$;

-- Whether an organization has a searched text: part of its name, each word of it (`signum_patterns`) in any order and
-- without accents, or the beginning of its id.
create function signum_is_called(name text, id uuid, search text, patterns text[]) returns boolean
language sql immutable as $$
  select search is null or strpos(lower(name), lower(search)) > 0
    or ' ' || case when octet_length(name) = length(name) then lower(name) else public.signum_plain(name) end like all (patterns)
    or length(search) >= 4 and starts_with(id::text, lower(search))
$$;

-- Some organizations and those below them that allow an address: at most some, the nearest first. Not for the app's
-- role, as are the next two: the functions below pass them what they have proven. The subquery makes the planner read
-- the children of one at a time, so that it reads no more than the limit.
create function organizations_below(tops uuid[], address inet, most int) returns uuid[]
language sql stable set search_path = public, pg_temp set jit = off
  set enable_seqscan = off set enable_bitmapscan = off as $$
  with recursive down as (
    select o.id, o.child_count from organizations o where o.id = any(tops)
    union
    select o.id, o.child_count from down cross join lateral (
      select c.id, c.child_count from organizations c
      where c.parent_id = down.id and (c.allowed_ip_ranges = '{}' or allows_address(c.allowed_ip_ranges, address))
      limit most) o
    where down.child_count > 0
  )
  select array(select down.id from down limit most)
$$;
revoke all on function organizations_below(uuid[], inet, int) from public;

-- Whether an organization is one of some (`tops`) or, with `deep`, below one, where each on the way allows an address
-- and, without a factor (`factor`), requires none. It walks up.
create function organization_is_below(org uuid, tops uuid[], deep boolean, factor boolean, address inet) returns boolean
language plpgsql stable cost 1000 set search_path = public, pg_temp as $$
declare place uuid := org;
begin
  for height in 0 .. 64 loop
    exit when place is null or place = any(tops) or not deep;
    select o.parent_id into place from organizations o
    where o.id = place and (o.allowed_ip_ranges = '{}' or allows_address(o.allowed_ip_ranges, address))
      and (factor or not o.require_second_factor);
  end loop;
  return coalesce(place = any(tops), false);
end $$;
revoke all on function organization_is_below(uuid, uuid[], boolean, boolean, inet) from public;

-- A page of those of some organizations (`ids`) that have a searched text, newest first; with `tops`, only of these and
-- those below them that allow an address on the way. The subquery lets the planner remember the answer for each parent.
create function organizations_page(ids uuid[], tops uuid[], search text, before timestamptz, before_id uuid, most int,
                                   address inet) returns uuid[]
language sql stable set search_path = public, pg_temp set jit = off as $$
  select array(
    select o.id from organizations o left join lateral (
      select organization_is_below(o.parent_id, tops, tops is not null, true, address) offset 0) up (seen) on true
    where o.id = any(ids) and signum_is_called(o.name, o.id, search, (select signum_patterns(search)))
      and (before is null or (o.created_at, o.id) < (before, before_id))
      and (tops is null or o.id = any(tops) or up.seen and allows_address(o.allowed_ip_ranges, address))
    order by o.created_at desc, o.id desc limit most)
$$;
revoke all on function organizations_page(uuid[], uuid[], text, timestamptz, uuid, int, inet) from public;

-- A page of the organizations a person's roles apply to, from an address, newest first. Up to 1,000 are found by
-- walking down, and sorted. Who reaches more probably reaches many of the newest of all organizations, and otherwise of
-- those that the index of names finds. Only where neither fills the page, and where a text is too short for the index,
-- are all found by walking down.
create function signum_reach(person uuid, search text, before timestamptz, before_id uuid, most int, address inet)
returns table (id uuid, name text, status text, parent_id uuid, hierarchy_path text, depth int, ancestors text[], child_count bigint,
               created_at timestamptz, updated_at timestamptz)
language plpgsql stable security definer set search_path = public, pg_temp set jit = off
  set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  few constant int := 1000;
  until constant timestamptz := coalesce(before, 'infinity');
  plain constant text := signum_plain(search);
  parts constant text[] := case when length(plain) > 2 then signum_word_parts(plain) end;
  phrase constant text[] := case when plain ~ '^\S{1,2} ' then signum_parts(plain) end;
  start constant tsquery := signum_code(plain, ':*');
  patterns constant text[] := signum_patterns(search);
  roles constant uuid[] := array(
    select m.organization_id from members m
    where m.user_id = person and m.status = 'active' and m.role <> 'client'
      and not exists (select from signum_refusing(m.organization_id, address)));
  reached constant uuid[] := organizations_below(roles, address, few + 1);
  page uuid[];
begin
  if cardinality(reached) <= few then
    page := organizations_page(reached, null, search, before, before_id, most, address);
  else
    page := organizations_page(array(
      select o.id from organizations o where (o.created_at, o.id) < (until, before_id)
      order by o.created_at desc, o.id desc limit 10 * most), roles, search, before, before_id, most, address);
    if cardinality(page) < most and parts is not null then
      page := organizations_page(array(
        select o.id from organizations o
        where signum_name_marks(o.name, o.email) @> parts or signum_name_marks(o.name, o.email) @> phrase
          or signum_name_codes(o.name, o.email, o.id::text) @@ start),
        roles, search, before, before_id, most, address);
    elsif cardinality(page) < most then
      page := array(
        with recursive down as (
          select r.id from unnest(roles) r (id)
          union
          select o.id from down join organizations o on o.parent_id = down.id
          where o.allowed_ip_ranges = '{}' or allows_address(o.allowed_ip_ranges, address)
        )
        select o.id from down join organizations o on o.id = down.id
        where signum_is_called(o.name, o.id, search, patterns) and (o.created_at, o.id) < (until, before_id)
        order by o.created_at desc, o.id desc limit most);
    end if;
  end if;
  return query select f.* from organization_facts(page) f order by f.created_at desc, f.id desc;
end $$;

-- An organization this transaction has entered, or a page of its direct children that allow an address, newest first.
create function signum_listed(org uuid, below boolean, search text, before timestamptz, before_id uuid, most int, address inet)
returns table (id uuid, name text, status text, parent_id uuid, hierarchy_path text, depth int, ancestors text[], child_count bigint,
               created_at timestamptz, updated_at timestamptz)
language sql stable security definer set search_path = public, pg_temp
  set plan_cache_mode = force_custom_plan as $$
  with page as (
    select o.id from organizations o
    where (case when below then o.parent_id else o.id end) = org and organization_entered(org)
      and signum_is_called(o.name, o.id, search, (select signum_patterns(search)))
      and (o.allowed_ip_ranges = '{}' or allows_address(o.allowed_ip_ranges, address))
      and (before is null or (o.created_at, o.id) < (before, before_id))
    order by o.created_at desc, o.id desc limit most
  )
  select f.* from organization_facts(array(select page.id from page)) f order by f.created_at desc, f.id desc
$$;

-- A page of the children of a node of the tree that allow an address, by name; only below an organization this
-- transaction has entered. Where one node has most organizations as its children, the planner would otherwise scan the
-- table for every row's count.
create function signum_children(node uuid, search text, after_name text, after_id uuid, most int, address inet)
returns table (id uuid, name text, status text, parent_id uuid, child_count bigint, sort text)
language sql stable security definer set search_path = public, pg_temp
  set plan_cache_mode = force_custom_plan set enable_seqscan = off as $$
  with page as (
    select o.id, o.name, o.status, o.parent_id, o.child_count from organizations o
    where o.parent_id = node and (select organization_entered(node))
      and signum_is_called(o.name, o.id, search, (select signum_patterns(search)))
      and (o.allowed_ip_ranges = '{}' or allows_address(o.allowed_ip_ranges, address))
      and (after_id is null or (lower(o.name), o.id) > (after_name, after_id))
    order by lower(o.name), o.id limit most
  )
  select page.id, page.name::text, page.status::text, page.parent_id, page.child_count::bigint, lower(page.name)
  from page order by lower(page.name), page.id
$$;

-- Organizations below one that this transaction has entered: their number, their depth, and the first ones, nearest
-- first.
create function signum_subtree(root uuid, most int)
returns table (descendants bigint, deepest int, nodes jsonb)
language sql stable security definer set search_path = public, pg_temp set jit = off as $$
  with recursive down as (
    select o.id, o.parent_id, 0 as height from organizations o where o.id = root and organization_entered(root)
    union all
    select o.id, o.parent_id, down.height + 1 from down join organizations o on o.parent_id = down.id where down.height < 65
  ), near as (
    select down.id, down.parent_id, down.height, o.name from down join organizations o on o.id = down.id
    order by down.height, lower(o.name), down.id limit most
  )
  select (select count(*) - 1 from down), (select max(height) from down),
         (select jsonb_agg(jsonb_build_object('id', near.id, 'parent_id', near.parent_id, 'name', near.name, 'height', near.height)
                           order by near.height, lower(near.name), near.id) from near)
$$;

-- Of an organization and those below it, at least those with a mark, and their height above it. The marks are an
-- approval rule or a daily limit (`approval`), an endpoint with `include_descendants` (`receiver`), an issuer or a token
-- on a chain (`chain`), and organizations below (`parent`). If fewer organizations of the whole installation have the mark
-- than are below, it walks up from these. Otherwise, and if more than 10,000 have it, it walks down and returns all. It
-- compares with 1,000 and 10,000, and counts no further. Not for the app's role: the functions below name an organization
-- that the transaction has entered, and check the mark. Without the settings and the lateral subquery, the planner
-- reads all organizations: it does not know how few the rows are.
create function organizations_marked(root uuid, mark text) returns table (id uuid, height int)
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
create function signum_height(root uuid) returns int
language sql stable security definer set search_path = public, pg_temp set jit = off
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select coalesce(max(m.height) + 1, 0) from organizations_marked(root, 'parent') m
  where organization_entered(root) and exists (select from organizations o where o.parent_id = m.id)
$$;

-- The chains on which an organization this transaction has entered, or one below it, is known: as an issuer or through
-- a token.
create function signum_known_chains(root uuid) returns setof bigint
language sql stable security definer set search_path = public, pg_temp set jit = off
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  with marked as (select m.id from organizations_marked(root, 'chain') m where organization_entered(root))
  select w.chain_eid from marked m join issuer_wallets w on w.organization_id = m.id
  union
  select d.chain_eid from marked m join asset_deployments d on d.organization_id = m.id
$$;

-- The number of organizations below one that this transaction has entered, on every level, at most some.
create function signum_descendants(root uuid, most int) returns bigint
language sql stable security definer set search_path = public, pg_temp set jit = off as $$
  with recursive down as (
    select o.id from organizations o where o.parent_id = root and organization_entered(root)
    union all
    select o.id from down join organizations o on o.parent_id = down.id
  )
  select count(*) from (select from down limit most) counted
$$;

-- The number of direct children of some organizations.
create function signum_child_counts(ids uuid[]) returns table (id uuid, child_count bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select o.id, o.child_count::bigint from organizations o where o.id = any(ids) and o.child_count > 0
$$;

-- People whose roles apply to an organization, with the origin of each role. For previews and the access list.
create function signum_access(org uuid)
returns table (user_id uuid, display_name text, email text, role text, organization_id uuid, organization_name text, height int)
language sql stable security definer set search_path = public, pg_temp as $$
  select u.id, u.display_name::text, u.email::text, m.role::text, p.id, p.name, p.height
  from signum_path(org) p join members m on m.organization_id = p.id join users u on u.id = m.user_id
  where m.status = 'active' and (p.height = 0 or m.role <> 'client')
    and organization_entered(org)
$$;

-- An invitation by its token's hash, for a caller who is not signed in; and whether its address has an account.
create function signum_invitation(hash text)
returns table (id uuid, organization_id uuid, organization_name text, email text, role text, status text, expires_at timestamptz,
               has_account boolean)
language sql stable security definer set search_path = public, pg_temp as $$
  select i.id, i.organization_id, o.name::text, i.email::text, i.role::text, i.status::text, i.expires_at,
         exists (select 1 from users u where u.email = i.email)
  from invitations i join organizations o on o.id = i.organization_id where i.token_hash = hash
$$;

-- The organization of a party, for a person whose role applies to it; null otherwise.
create function signum_party_organization(person uuid, party uuid) returns uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select p.organization_id from parties p
  where p.id = party and cardinality(signum_roles(person, p.organization_id)) > 0
    and signum_roles(person, p.organization_id) <> array['client']
$$;

-- The same for a key that a verified token names by its id.
create function signum_api_key_of(key uuid)
returns table (key_id uuid, organization_id uuid, name text, scopes text[], network text, created_by uuid, creator_roles text[],
               allowed_ip_ranges text[])
language sql volatile security definer set search_path = public, pg_temp as $$
  select f.* from api_keys k, lateral signum_api_key(k.key_hash) f where k.id = key
$$;

-- An application by its public id, and whether a hash is that of its secret. It ends with the key or the application
-- grant that created it.
create function signum_oauth_client(client uuid, hash text)
returns table (id uuid, organization_id uuid, organization_name text, name text, kind text, redirect_uris text[], scopes text[],
               is_proven boolean)
language sql stable security definer set search_path = public, pg_temp as $$
  select c.id, c.organization_id, o.name::text, c.name::text, c.kind::text, c.redirect_uris, c.scopes,
         coalesce(c.secret_hash = hash, false)
  from oauth_clients c join organizations o on o.id = c.organization_id
  where c.id = client and c.revoked_at is null and not signum_maker_ended(c.maker_key_id, c.maker_grant_id)
$$;

-- Active attestations of the wallets whose ownership a person has proven, from any organization.
create function signum_attested(person uuid)
returns table (uid text, chain_eid bigint, address text, schema_name text, kyc_level int, accredited boolean, country text,
               issuer uuid, expires_at timestamptz, created_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select a.uid::text, a.chain_eid, a.wallet_address::text, a.schema_name::text, a.kyc_level, a.accredited, a.country::text,
         a.organization_id, a.expires_at, a.created_at
  from attestations a join user_wallets w on w.address = a.wallet_address join users u on u.id = w.user_id
  where w.user_id = person and not u.is_placeholder and a.status = 'active' and (a.expires_at is null or a.expires_at > now())
  order by a.created_at, a.id limit 200
$$;

-- The organization of an attestation, when this transaction has entered `org` and that is it or is above it.
create function signum_attestation_below(attestation uuid, org uuid) returns uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select a.organization_id from attestations a
  where a.id = attestation and organization_entered(org)
    and exists (select 1 from signum_path(a.organization_id) p where p.id = org)
$$;

-- A user, or the owner of a wallet, if they belong to the organization's own tree as the adder may see it: staff of the
-- organizations above (visible to everyone there), anyone of the organization itself, and of those of the same root
-- that the adder (a person; null for a key) has access to. Null for all others, so that their identity stays hidden.
create function signum_known_person(adder uuid, org uuid, whom uuid, wallet text) returns uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select u.id from users u
  where u.id = coalesce(whom, (select w.user_id from user_wallets w where w.address = wallet))
    and not u.is_placeholder and organization_entered(org) and exists (
      select 1 from members m
      where m.user_id = u.id and m.status = 'active' and (
        m.organization_id = org
        or (m.role <> 'client' and m.organization_id in (select p.id from signum_path(org) p))
        or (adder is not null and array_remove(signum_roles(adder, m.organization_id), 'client') <> '{}' and
            (select p.id from signum_path(m.organization_id) p where p.parent_id is null)
            = (select p.id from signum_path(org) p where p.parent_id is null))))
$$;

-- The memberships that await a person's acceptance: those they were added to by id, or by a wallet whose ownership they
-- have proven. The newest first.
create function signum_pending_memberships(person uuid)
returns table (id uuid, organization_id uuid, organization_name text, role text, created_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select m.id, m.organization_id, o.name::text, m.role::text, m.created_at
  from members m join organizations o on o.id = m.organization_id
  where m.status = 'pending' and (
    m.user_id = person or m.asked_user_id = person or m.wallet_address in (select w.address from user_wallets w where w.user_id = person))
  order by m.created_at desc, m.id desc
$$;

-- The origin of a new account for the owner of a wallet, who has just proven ownership: that of the first membership that
-- awaits them. No row if none does.
create function signum_wallet_origin(wallet text) returns setof uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select signum_account_origin(f.organization_id) from (
    select m.organization_id from members m
    where m.wallet_address = wallet and m.status = 'pending' and m.created_at > now() - interval '7 days'
    order by m.created_at, m.id limit 1) f
$$;

-- The webhook endpoints that receive an event of an organization: its own, and those of the organizations above it that
-- subscribe to descendants. An endpoint that was disabled because of too many events receives none, so that its log does
-- not grow. For transactions that have entered the organization, and for the worker.
create function signum_webhook_targets(org uuid, event text)
returns table (id uuid, organization_id uuid, is_enabled boolean, root_id uuid, made_by uuid)
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  if not signum_is_worker() and not organization_written(org) then
    raise exception 'organization % is not entered by this transaction', org;
  end if;
  return query
    select e.id, e.organization_id, e.status = 'enabled' and not signum_maker_ended(e.parent_id, e.grant_id),
           (select signum_root(org)), e.made_by
    from signum_path(org) p join webhook_endpoints e on e.organization_id = p.id
    where (p.height = 0 or e.include_descendants) and e.event_types && array['*', event]
      and e.disabled_reason is distinct from 'too_many_events';
end $$;

-- The most endpoints with `include_descendants` that receive the events of one organization: the maximum over an
-- organization that this transaction has entered, and those below it. Each endpoint counts, also a disabled one. The
-- maximum is that of an organization with such an endpoint of its own, or that of `org`.
create function signum_most_receivers(org uuid) returns bigint
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

-- Write the deliveries of an event to endpoints that the function above returns; `rows` is [{"id", "endpoint_id"}].
create function signum_webhook_deliver(org uuid, event uuid, event_type text, payload text, at timestamptz, rows jsonb)
returns void
language sql volatile security definer set search_path = public, pg_temp as $$
  insert into webhook_deliveries (id, organization_id, endpoint_id, event_id, event_type, payload, created_at, updated_at,
                                  round_began_at, status, failure, next_attempt_at, run, attempt, attempts)
  select r.id, t.organization_id, t.id, event, event_type, payload, at, at, at,
         case when t.is_enabled then 'pending' else 'failed' end,
         case when t.is_enabled then null else 'The endpoint was disabled' end,
         case when t.is_enabled then at end, 1, 0, '[]'
  from jsonb_to_recordset(rows) as r(id uuid, endpoint_id uuid)
  join signum_webhook_targets(org, event_type) t on t.id = r.endpoint_id
$$;

-- The organizations that this transaction has entered as staff, and those above them.
create function signum_entered() returns uuid[]
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(array_agg(distinct p.id), '{}')
  from unnest(string_to_array(current_setting('app.organization_ids', true), ',')::uuid[]) e, signum_path(e) p
  where coalesce(current_setting('app.investor', true), '') = ''
$$;

-- For a caller who claims an address: its account, and the password hash to compare with.
create function signum_sign_in(address text) returns table (user_id uuid, password_hash text)
language sql stable security definer set search_path = public, pg_temp as $$
  select u.id, u.password_hash::text from users u where u.email = address and not u.is_placeholder
$$;

-- For a caller who has forgotten a password: the account of an address, locked until the transaction ends.
create function signum_account(address text) returns uuid
language sql volatile security definer set search_path = public, pg_temp as $$
  select u.id from users u where u.email = address and not u.is_placeholder for update
$$;

-- Set another password for a person, proven by the hash of a valid emailed link or by an active session; return whether
-- the proof was valid.
create function signum_set_password(person uuid, hash text, link text, session uuid) returns boolean
language sql volatile security definer set search_path = public, pg_temp as $$
  with written as (
    update users u set password_hash = hash, updated_at = now()
    where u.id = person and not u.is_placeholder and (
      exists (select 1 from one_time_secrets o
              where o.secret_hash = link and o.user_id = person and o.purpose = 'password' and o.used_at is null
                and o.expires_at > now())
      or exists (select 1 from sessions s
                 where s.id = session and s.user_id = person and s.revoked_at is null and s.expires_at > now()))
    returning 1
  )
  select exists (select 1 from written)
$$;

-- Of an organization this transaction has entered and all below it, those that require a second person for any action,
-- the nearest first: a person who gets a role here could be a second person there.
create function signum_requiring_approval(root uuid) returns setof uuid
language sql stable security definer set search_path = public, pg_temp set jit = off
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select o.id from organizations_marked(root, 'approval') m join organizations o on o.id = m.id
  where organization_entered(root)
    and (o.approvals <> '{}' or exists (select from daily_limits l where l.organization_id = o.id))
  order by m.height, o.id
$$;

-- The name of the nearest organization below one that this transaction has entered, which requires a second person for an
-- action that reaches it from there: the owner of what is changed, or without an owner any that has a token accepting
-- attestations from above. Null if there is none.
create function signum_policy_below(root uuid, wanted text, owner uuid) returns text
language sql stable security definer set search_path = public, pg_temp set jit = off as $$
  with recursive down as (
    select o.id, o.name, o.approvals, 0 as height from organizations o where o.id = root and organization_entered(root)
    union all
    select o.id, o.name, o.approvals, down.height + 1
    from down join organizations o on o.parent_id = down.id where down.height < 65
  )
  select down.name from down
  where down.height > 0 and wanted = any(down.approvals) and case
    when owner is not null then down.id = owner
    else exists (select from assets a join asset_deployments d on d.asset_id = a.id
                 where a.organization_id = down.id and not a.org_only and d.token_address is not null)
  end
  order by down.height, down.id limit 1
$$;

-- People who may control the accounts of those whom a person alone appoints: that person, and everyone who alone had
-- appointed the person. Empty for a founder, whom no one added; otherwise no one would be independent of the founder.
create function signum_placed_by(giver uuid, org uuid) returns uuid[]
language sql stable security definer set search_path = public, pg_temp as $$
  with reaching as (
    select m.* from signum_path(org) p join members m on m.organization_id = p.id where m.user_id = giver
  )
  select case
    when giver is null or exists (select from reaching) and not exists (select from reaching where added_by is not null) then '{}'
    else array(select giver union select unnest(placed_by) from reaching)
  end
$$;

-- Recorded when a role is given, so that it stays true after the person who gave it leaves.
create function members_placed_by() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  new.placed_by := case when new.agreed_by is null
    then signum_placed_by(coalesce(new.appointed_by, new.added_by), new.organization_id) else '{}' end;
  return new;
end $$;
create trigger placed_by before insert or update of appointed_at, appointed_by, agreed_by, added_by on members
  for each row execute function members_placed_by();

-- Those of some people who have another admin above or beside them. A person without one controls the organization.
create function signum_not_alone(people uuid[], org uuid) returns uuid[]
language sql stable security definer set search_path = public, pg_temp as $$
  select array(
    select who from unnest(people) who
    where exists (select from signum_path(org) p join members m on m.organization_id = p.id
                  where m.status = 'active' and m.role = 'admin' and m.user_id <> who
                    and (m.added_by is null or not who = any(m.placed_by)))
  )
$$;

-- Whether a person gave another's role ('appointed'), or the same person alone placed both, or one of them the other
-- ('placed'); an empty text where they are independent.
create function signum_dependence(role members, person uuid, org uuid) returns text
language sql stable security definer set search_path = public, pg_temp as $$
  select case
    when coalesce(person in (role.added_by, role.appointed_by), false) then 'appointed'
    when array[role.user_id] || signum_not_alone(role.placed_by, org)
         && (array[person] || signum_not_alone(
              array(select unnest(m.placed_by) from signum_path(org) p join members m on m.organization_id = p.id
                    where m.user_id = person and m.status = 'active'), org)) then 'placed'
    else '' end
$$;

-- The roles that apply to an organization this transaction has entered, of everyone except one person; and whether they
-- are independent of that person.
create function signum_other_roles(person uuid, org uuid) returns table (role text, is_independent boolean)
language sql stable security definer set search_path = public, pg_temp as $$
  select m.role::text, signum_dependence(m, person, org) = ''
  from signum_path(org) p join members m on m.organization_id = p.id
  where m.status = 'active' and m.role <> 'client' and m.user_id is distinct from person and organization_entered(org)
$$;

-- Why a person with one of some roles may not approve another person's request: 'wallet', 'role', 'newer', 'appointed',
-- 'placed', 'waiting', or an empty text where they may. Roles count from the time they were given. A new role cannot
-- approve for approver_wait_hours, except roles that were given within 24 hours of the organization's creation. These
-- hours are fixed: one person alone can lengthen the wait, which must not allow anyone to approve earlier.
create function signum_second_person(person uuid, asker uuid, org uuid, roles text[], asked_at timestamptz) returns text
language sql stable security definer set search_path = public, pg_temp as $$
  with reaching as (
    select m.* from signum_path(org) p join members m on m.organization_id = p.id
    where m.status = 'active' and m.user_id in (person, asker) and (p.height = 0 or m.role <> 'client')
  ), wallets as (
    select w.user_id, w.address from user_wallets w where w.user_id in (person, asker)
    union select r.user_id, r.wallet_address from reaching r where r.wallet_address is not null
  ), own as (
    select r.appointed_at, r.appointed_at + w.wait > now() and r.appointed_at > w.created_at + interval '24 hours' as is_waiting,
           case when person = asker then '' else signum_dependence(m, asker, org) end as dependence
    from reaching r join members m on m.id = r.id,
         (select o.created_at, o.approver_wait_hours * interval '1 hour' as wait from organizations o where o.id = org) w
    where r.user_id = person and r.role::text = any(roles)
  ), counting as (
    select * from own where own.appointed_at < asked_at
  )
  select case
    when exists (select from wallets a join wallets b on b.address = a.address where a.user_id = person and b.user_id = asker
                 and person <> asker) then 'wallet'
    when not exists (select from own) then 'role'
    when not exists (select from counting) then 'newer'
    when not exists (select from counting where dependence <> 'appointed') then 'appointed'
    when not exists (select from counting where dependence = '') then 'placed'
    when not exists (select from counting where dependence = '' and not is_waiting) then 'waiting'
    else '' end
$$;

-- Applications to notify of a session's end: the one it was opened for, and those that received a code in it. Only
-- those with a logout address.
create function signum_logout_targets(ended uuid)
returns table (session_id uuid, client_id uuid, organization_id uuid, root_id uuid, created_by uuid)
language sql stable security definer set search_path = public, pg_temp as $$
  select s.id, c.id, c.organization_id, signum_root(c.organization_id), c.created_by from sessions s join oauth_clients c on c.id = s.client_id
  where (s.id = ended or (s.opened_in = ended and s.revoked_at is null and s.expires_at > now()))
    and c.backchannel_logout_uri is not null and c.revoked_at is null
$$;

-- The applications a person has connected: those they consented to, or that have an active session or key of the
-- person. The newest first.
create function signum_connected_applications(person uuid)
returns table (id uuid, name text, organization_id uuid, organization_name text, scopes text[], created_at timestamptz,
               last_used_at timestamptz, sessions int, api_keys int)
language sql stable security definer set search_path = public, pg_temp as $$
  with agreed as (
    select a.client_id, a.scopes, a.created_at from oauth_consents a where a.user_id = person
  ), live as (
    select s.client_id, string_to_array(coalesce(s.scope, ''), ' ') as scopes, s.signed_in_at, s.revoked_at, s.expires_at
    from sessions s where s.user_id = person and s.client_id is not null and s.revoked_at is null and s.expires_at > now()
  ), used as (
    select s.client_id, max(s.last_used_at) as at from sessions s
    where s.user_id = person and s.client_id is not null group by s.client_id
  ), keys as (
    select k.client_id, k.scopes, k.created_at from api_keys k
    where k.created_by = person and k.client_id is not null and signum_key_ended(k.id) is null
  ), known as (
    select a.client_id, a.scopes, a.created_at as since from agreed a
    union all select l.client_id, l.scopes, l.signed_in_at from live l
    union all select k.client_id, k.scopes, k.created_at from keys k
  )
  select c.id, c.name::text, c.organization_id, o.name::text,
         array(select distinct s from known n, unnest(n.scopes) s where n.client_id = c.id and s <> '' order by s),
         (select min(n.since) from known n where n.client_id = c.id),
         (select u.at from used u where u.client_id = c.id),
         (select count(*)::int from live l where l.client_id = c.id),
         (select count(*)::int from keys k where k.client_id = c.id)
  from oauth_clients c join organizations o on o.id = c.organization_id
  where c.revoked_at is null and c.id in (select n.client_id from known n)
$$;

-- Delete a placeholder user when no membership refers to it; nothing for a real person.
create function signum_forget_placeholder(whom uuid) returns void
language sql volatile security definer set search_path = public, pg_temp as $$
  delete from users u where u.id = whom and u.is_placeholder and not exists (select 1 from members m where m.user_id = u.id)
$$;

-- The owner of a wallet, for a signature by it that was just verified.
create function signum_wallet_owner(wallet text) returns uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select w.user_id from user_wallets w where w.address = wallet
$$;

-- Whether an execution of a workflow still has it, by its token. The row is locked until the transaction ends, so that
-- another process takes the workflow over before or after the transaction.
create function signum_holds_workflow(workflow text, token text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform 1 from dbos.workflow_status w where w.workflow_uuid = workflow and w.owner_xid = token for share;
  return found;
end $$;

do $$
declare f text;
begin
  for f in select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
           where n.nspname = 'public' and p.proname like 'signum\_%'
  loop
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to signum_app, signum_worker', f);
  end loop;
end $$;
