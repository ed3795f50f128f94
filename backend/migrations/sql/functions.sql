-- Functions that see past row-level security. Each has a fixed search_path, does one thing, and gives the
-- caller only what its arguments prove it may have.

-- The path of an organization: itself first, then its ancestors up to the root (at most 64).
create function signum_path(org uuid) returns table (id uuid, parent_id uuid, name text, height int)
language sql stable security definer set search_path = public as $$
  with recursive up as (
    select o.id, o.parent_id, o.name, 0 as height from organizations o where o.id = org
    union all
    select o.id, o.parent_id, o.name, up.height + 1 from up join organizations o on o.id = up.parent_id where up.height < 65
  )
  select up.id, up.parent_id, up.name::text, up.height from up
$$;

-- A person's roles in an organization: their own there, and those that reach down from its ancestors.
create function signum_roles(person uuid, org uuid) returns text[]
language sql stable security definer set search_path = public as $$
  select coalesce(array_agg(distinct m.role::text), '{}')
  from signum_path(org) p join members m on m.organization_id = p.id
  where m.user_id = person and m.status = 'active' and (p.height = 0 or m.role <> 'client')
$$;

-- The person behind a browser session or a JWT's session; null when it is over.
create function signum_session(hash text, session uuid)
returns table (session_id uuid, user_id uuid, email text, display_name text, organization_id uuid)
language sql stable security definer set search_path = public as $$
  select s.id, u.id, u.email::text, u.display_name::text, s.organization_id
  from sessions s join users u on u.id = s.user_id
  where (s.token_hash = hash or s.id = session) and s.revoked_at is null and s.expires_at > now()
$$;

-- The key behind a hash; null when it is revoked or expired. `creator_roles` are its creator's roles now.
create function signum_api_key(hash text)
returns table (key_id uuid, organization_id uuid, name text, scopes text[], network text, created_by uuid, creator_roles text[])
language sql volatile security definer set search_path = public as $$
  update api_keys k set last_used_at = now()
  where k.key_hash = hash and (k.last_used_at is null or k.last_used_at < now() - interval '1 minute');
  select k.id, k.organization_id, k.name::text, k.scopes, coalesce(k.network, o.network::text), k.created_by,
         case when k.created_by is null then '{}' else signum_roles(k.created_by, k.organization_id) end
  from api_keys k join organizations o on o.id = k.organization_id
  where k.key_hash = hash and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
$$;

-- Let this transaction see an organization, when the person has a role there; returns the roles.
create function signum_enter(person uuid, org uuid) returns text[]
language plpgsql volatile security definer set search_path = public as $$
declare roles text[] := signum_roles(person, org); current text := current_setting('app.organization_ids', true);
begin
  if cardinality(roles) > 0 and roles <> array['client'] then
    perform set_config('app.organization_ids', concat_ws(',', nullif(current, ''), org::text), true);
  end if;
  return roles;
end $$;

-- Where a person has a role of their own, outermost first.
create function signum_memberships(person uuid)
returns table (id uuid, name text, role text, parent_id uuid, depth int, network text)
language sql stable security definer set search_path = public as $$
  select o.id, o.name::text, m.role::text, o.parent_id, (select count(*)::int - 1 from signum_path(o.id)) as depth, o.network::text
  from members m join organizations o on o.id = m.organization_id
  where m.user_id = person and m.status = 'active'
  order by (m.role = 'client'), depth, o.name
$$;

-- Every organization a person's roles reach, with names of the ancestors (root first) for searching and showing.
create function signum_reach(person uuid)
returns table (id uuid, name text, status text, parent_id uuid, depth int, ancestors text[], child_count bigint, roles text[], created_at timestamptz)
language sql stable security definer set search_path = public as $$
  with recursive mine as (
    select m.organization_id as id, m.role::text as role from members m
    where m.user_id = person and m.status = 'active' and m.role <> 'client'
  ), top as (
    select distinct mine.id from mine
    where not exists (select 1 from signum_path(mine.id) p where p.height > 0 and p.id in (select mine2.id from mine mine2))
  ), down as (
    select o.id, o.parent_id, (select count(*)::int - 1 from signum_path(o.id)) as depth,
           (select coalesce(array_agg(p.name order by p.height desc) filter (where p.height > 0), '{}') from signum_path(o.id) p) as ancestors
    from organizations o join top on top.id = o.id
    union all
    select o.id, o.parent_id, down.depth + 1, down.ancestors || d.name::text
    from down join organizations d on d.id = down.id join organizations o on o.parent_id = down.id
  )
  select o.id, o.name::text, o.status::text, o.parent_id, down.depth, down.ancestors,
         (select count(*) from organizations c where c.parent_id = o.id), signum_roles(person, o.id), o.created_at
  from down join organizations o on o.id = down.id
$$;

-- An organization's descendants, itself first at height 0; only below an organization this transaction has entered.
create function signum_descendants(root uuid, deepest int default 64)
returns table (id uuid, parent_id uuid, name text, status text, height int, created_at timestamptz)
language sql stable security definer set search_path = public as $$
  with recursive down as (
    select o.id, o.parent_id, o.name, o.status, 0 as height, o.created_at from organizations o
    where o.id = root and exists (
      select 1 from signum_path(root) p
      where p.id = any(string_to_array(current_setting('app.organization_ids', true), ',')::uuid[]))
    union all
    select o.id, o.parent_id, o.name, o.status, down.height + 1, o.created_at
    from down join organizations o on o.parent_id = down.id where down.height < deepest
  )
  select down.id, down.parent_id, down.name::text, down.status::text, down.height, down.created_at from down
$$;

-- How many organizations lie directly below each of some.
create function signum_child_counts(ids uuid[]) returns table (id uuid, child_count bigint)
language sql stable security definer set search_path = public as $$
  select o.parent_id, count(*) from organizations o where o.parent_id = any(ids) group by o.parent_id
$$;

-- People whose roles reach an organization: where each comes from. For previews and the access list.
create function signum_access(org uuid)
returns table (user_id uuid, display_name text, email text, role text, organization_id uuid, organization_name text, height int)
language sql stable security definer set search_path = public as $$
  select u.id, u.display_name::text, u.email::text, m.role::text, p.id, p.name, p.height
  from signum_path(org) p join members m on m.organization_id = p.id join users u on u.id = m.user_id
  where m.status = 'active' and (p.height = 0 or m.role <> 'client')
    and exists (
      select 1 from signum_path(org) q
      where q.id = any(string_to_array(current_setting('app.organization_ids', true), ',')::uuid[]))
$$;

-- A pending invitation by its token's hash, for somebody who is not signed in.
create function signum_invitation(hash text)
returns table (id uuid, organization_id uuid, organization_name text, email text, role text, status text, expires_at timestamptz)
language sql stable security definer set search_path = public as $$
  select i.id, i.organization_id, o.name::text, i.email::text, i.role::text, i.status::text, i.expires_at
  from invitations i join organizations o on o.id = i.organization_id where i.token_hash = hash
$$;

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
