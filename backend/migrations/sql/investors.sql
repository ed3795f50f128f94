-- Investors (role `client`) have the console session only. A transaction of an investor sees one organization and, in
-- it, only what concerns them: `app.investor` names their membership, and these restrictive policies close every table
-- except those listed below. They hold beside the other policies, whatever a query asks for. A table that is not listed
-- is closed. An investor writes to none, except for what `signum_investor_writes` has opened: `app.investor_writes` names
-- one of their parties, to which they add a document, or says `membership`, which they end.

-- The addresses whose ownership the signed-in person has proven.
create function signum_investor_wallets() returns setof text
language sql stable security definer set search_path = public, pg_temp as $$
  select w.address::text from user_wallets w
  where w.user_id = nullif(current_setting('app.user_id', true), '')::uuid
$$;

-- The parties of the organization that are the investor: those with the email of the account, which a mailed link has
-- verified. A proven wallet is enough where the party or the account has no email; with different emails they may be
-- different people, and one would see the other's data. Empty as soon as the membership is not active.
-- Only the case of ASCII letters is ignored: other letters that look alike may be another mailbox.
create function signum_investor_parties() returns setof uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select p.id
  from members m join users u on u.id = m.user_id join parties p on p.organization_id = m.organization_id
  where m.id = nullif(current_setting('app.investor', true), '')::uuid
    and u.id = nullif(current_setting('app.user_id', true), '')::uuid
    and m.status = 'active' and m.role = 'client' and not u.is_placeholder
    and (lower(p.email collate "C") = lower(u.email collate "C")
         or (p.email is null or u.email is null) and p.wallet_address in (select signum_investor_wallets()))
$$;

-- The person of the investor's membership; none as soon as it is not active.
create function signum_investor_person() returns uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select m.user_id from members m
  where m.id = nullif(current_setting('app.investor', true), '')::uuid
    and m.user_id = nullif(current_setting('app.user_id', true), '')::uuid
    and m.status = 'active' and m.role = 'client'
$$;

-- The addresses of the investor: those of their parties, and the proven ones.
create function signum_investor_addresses() returns setof text
language sql stable security definer set search_path = public, pg_temp as $$
  select p.wallet_address::text from parties p
  where p.id in (select signum_investor_parties()) and p.wallet_address is not null
  union
  select w.address from signum_investor_wallets() w (address) where exists (
    select from members m
    where m.id = nullif(current_setting('app.investor', true), '')::uuid
      and m.user_id = nullif(current_setting('app.user_id', true), '')::uuid
      and m.status = 'active' and m.role = 'client')
$$;

-- When a person last agreed to a membership: the log has who made it active. No time where someone else did.
create function signum_investor_agreed(org uuid, membership uuid, person uuid) returns timestamptz
language sql stable security definer set search_path = public, pg_temp as $$
  select l.at from audit_log l
  where l.organization_id = org and l.subject_id = membership::text and l.actor = person
    and person = nullif(current_setting('app.user_id', true), '')::uuid
    and l.action in ('member.added', 'member.updated') and l.after ->> 'status' = 'active'
  order by l.seq desc limit 1
$$;

-- The organizations of which the signed-in person is an investor, by name.
create function signum_investor_memberships()
returns table (id uuid, organization_id uuid, organization_name text, network text, agreed_at timestamptz, created_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select m.id, o.id, o.name::text, o.network::text, signum_investor_agreed(o.id, m.id, m.user_id), m.created_at
  from members m join organizations o on o.id = m.organization_id
  where m.user_id = nullif(current_setting('app.user_id', true), '')::uuid and m.status = 'active' and m.role = 'client'
  order by lower(o.name), m.id limit 200
$$;

-- What the investor themselves has done in the organization, from its log: never what others did, or to whom.
create function signum_investor_actions(most int, skip int) returns table (at timestamptz, action text, ip_address text)
language sql stable security definer set search_path = public, pg_temp as $$
  select l.at, l.action::text, l.address::text
  from members m join audit_log l on l.organization_id = m.organization_id and l.actor = m.user_id
  where m.id = nullif(current_setting('app.investor', true), '')::uuid and m.user_id = signum_investor_person()
  order by l.seq limit most offset skip
$$;

-- The organizations above the investor's, the nearest first: roles in them apply below, so their staff see the same.
create function signum_investor_above() returns table (name text)
language sql stable security definer set search_path = public, pg_temp as $$
  select o.name::text from members m, signum_path(m.organization_id) p join organizations o on o.id = p.id
  where m.id = nullif(current_setting('app.investor', true), '')::uuid
    and m.user_id = nullif(current_setting('app.user_id', true), '')::uuid
    and m.status = 'active' and m.role = 'client' and p.height > 0
  order by p.height
$$;

-- The person whom the investor can contact, by name and email: who added them, while that person belongs to the staff
-- of the organization or of one above; otherwise the compliance officer or admin of the nearest organization who has
-- been there longest. Nothing else about staff is visible.
create function signum_investor_contact() returns table (name text, email text)
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(u.display_name, u.email)::text, u.email::text
  from members m, signum_path(m.organization_id) p
    join members s on s.organization_id = p.id and s.status = 'active' and s.role <> 'client'
    join users u on u.id = s.user_id and not u.is_placeholder and u.email is not null
  where m.id = nullif(current_setting('app.investor', true), '')::uuid
    and m.user_id = nullif(current_setting('app.user_id', true), '')::uuid
    and m.status = 'active' and m.role = 'client'
    and (s.user_id = m.added_by or s.role in ('compliance_officer', 'admin'))
  order by coalesce(s.user_id = m.added_by, false) desc, p.height, s.role = 'admin', s.created_at, s.id
  limit 1
$$;

-- The price of the newest trade of an asset before a time, in any market of the investor's organization. The trades of
-- others are not visible, but their prices are: they are public on chain.
create function signum_investor_price(asset uuid, before timestamptz)
returns table (price numeric, quote_symbol text, quote_decimals int, at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select t.price, k.quote_symbol::text, k.quote_decimals, t.created_at
  from members m join markets k on k.organization_id = m.organization_id and k.asset_id = asset
    join trades t on t.market_id = k.id and t.created_at < before
  where m.id = nullif(current_setting('app.investor', true), '')::uuid
    and m.user_id = nullif(current_setting('app.user_id', true), '')::uuid
    and m.status = 'active' and m.role = 'client'
  order by t.created_at desc, t.id desc limit 1
$$;

-- The best open orders of a market, at most 200 of each side, without their makers: they are public on chain. Orders that
-- cannot be filled are not in it. `own_address` is the maker's where that is the investor.
create function signum_investor_book(market uuid)
returns table (chain_order_id bigint, side text, price numeric, rest numeric, own_address text)
language sql stable security definer set search_path = public, pg_temp as $$
  select b.chain_order_id, b.side, b.price, b.rest, b.own_address from (
    select o.chain_order_id, o.side::text, o.price, o.amount - o.filled as rest,
      case when o.maker_address in (select signum_investor_addresses()) then o.maker_address::text end as own_address,
      row_number() over (partition by o.side order by case when o.side = 'buy' then -o.price else o.price end,
                         o.chain_order_id) as place
    from members m join markets k on k.organization_id = m.organization_id and k.status in ('active', 'halted')
      join orders o on o.market_id = k.id and o.status in ('open', 'partial') and o.chain_order_id is not null
    where k.id = market and o.blocked_reason is null
      and m.id = nullif(current_setting('app.investor', true), '')::uuid
      and m.user_id = nullif(current_setting('app.user_id', true), '')::uuid
      and m.status = 'active' and m.role = 'client'
  ) b where b.place <= 200 order by b.side, b.place
$$;

-- Some nodes of a distribution's tree, for the proof of an investor who is one of its recipients.
create function signum_investor_tree(distribution uuid, parts int[])
returns table (part int, nodes bytea)
language sql stable security definer set search_path = public, pg_temp as $$
  select t.part, t.nodes
  from members m join distributions d on d.organization_id = m.organization_id and d.distributor_address is not null
    join distribution_tree_parts t on t.distribution_id = d.id and t.part = any(parts)
  where d.id = distribution
    and m.id = nullif(current_setting('app.investor', true), '')::uuid
    and m.user_id = nullif(current_setting('app.user_id', true), '')::uuid
    and m.status = 'active' and m.role = 'client'
    and exists (select from distribution_recipients r where r.distribution_id = d.id
                and r.address in (select signum_investor_addresses()))
$$;

-- Those addresses of the investor that are server wallets of the organization, which keeps their keys.
create function signum_investor_kept() returns setof text
language sql stable security definer set search_path = public, pg_temp as $$
  select w.address::text from members m join wallets w on w.organization_id = m.organization_id and w.kind = 'server'
  where m.id = nullif(current_setting('app.investor', true), '')::uuid
    and w.address in (select signum_investor_addresses())
$$;

-- The status of the newest request that pays an amount of a distribution to an address of the investor.
create function signum_investor_payment(distribution uuid, recipient text) returns text
language sql stable security definer set search_path = public, pg_temp as $$
  select r.status::text from members m join requests r on r.organization_id = m.organization_id
  where m.id = nullif(current_setting('app.investor', true), '')::uuid and r.subject_id = distribution
    and r.kind = 'distribution.pay' and r.arguments ->> 'address' = recipient
    and recipient in (select signum_investor_addresses())
  order by r.created_at desc, r.id desc limit 1
$$;

-- Leave the investor's view, and act for the organization until the transaction ends: to pay an amount of a distribution
-- to an address of the investor that is a server wallet of the organization. It returns whether it did.
create function signum_investor_pays(distribution uuid, recipient text) returns boolean
language plpgsql volatile security definer set search_path = public, pg_temp as $$
begin
  if recipient not in (select signum_investor_kept()) or not exists (
    select from distributions d join distribution_recipients r on r.distribution_id = d.id and r.address = recipient
    where d.id = distribution and d.distributor_address is not null
      and d.organization_id::text = current_setting('app.organization_ids', true)) then
    return false;
  end if;
  perform set_config('app.investor_writes', '', true), set_config('app.investor', '', true);
  return true;
end $$;

-- Enter an organization as its investor: no row where the membership is not an active one of the signed-in person as
-- `client`. Nothing becomes visible where the organization refuses the address, or requires a second factor that the
-- person lacks. What was visible before is not any more.
create function signum_enter_as_investor(membership uuid, address inet)
returns table (organization_id uuid, organization_name text, network text, refused_by uuid, refused_by_name text,
               lacks_factor boolean)
language plpgsql volatile security definer set search_path = public, pg_temp as $$
declare
  person uuid := nullif(current_setting('app.user_id', true), '')::uuid;
begin
  perform set_config('app.organization_ids', '', true);
  perform set_config('app.investor', membership::text, true);
  select o.id, o.name::text, o.network::text, r.id, r.name,
         signum_requires_factor(o.id) and not signum_has_factor(person)
    into organization_id, organization_name, network, refused_by, refused_by_name, lacks_factor
  from members m join organizations o on o.id = m.organization_id
    left join lateral signum_refusing(o.id, address) r on true
  where m.id = membership and m.user_id = person and m.status = 'active' and m.role = 'client';
  if organization_id is null then
    return;
  end if;
  if refused_by is null and not lacks_factor then
    perform set_config('app.organization_ids', organization_id::text, true);
  end if;
  return next;
end $$;

-- Open the tables below for one write of an investor who has entered: a document of one of their parties, or (`membership`)
-- the end of their membership. It returns whether it did, and it stays until the transaction ends.
create function signum_investor_writes(what text) returns boolean
language plpgsql volatile security definer set search_path = public, pg_temp as $$
begin
  perform set_config('app.investor_writes', '', true);
  if signum_investor_person() is null or current_setting('app.organization_ids', true) = ''
    or what <> 'membership' and what not in (select p::text from signum_investor_parties() p) then
    return false;
  end if;
  perform set_config('app.investor_writes', what, true);
  return true;
end $$;

do $$
declare f text;
begin
  for f in select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
           where n.nspname = 'public' and (p.proname like 'signum\_investor%' or p.proname = 'signum_enter_as_investor')
  loop
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to signum_app', f);
  end loop;
end $$;

-- The conditions are computed once per statement, and not at all for staff: a boolean parameter also keeps the planner's
-- estimates of the other conditions.
do $$
declare
  t text;
  own text;
  staff constant text := '(select coalesce(current_setting(''app.investor'', true), '''') = '''')';
  parties constant text := 'any((select array(select signum_investor_parties()))::uuid[])';
  addresses constant text := 'any((select array(select signum_investor_addresses()))::text[])';
  person constant text := '(select signum_investor_person())';
  membership constant text := '(select nullif(current_setting(''app.investor'', true), '''')::uuid)';
  writes constant text := '(select coalesce(current_setting(''app.investor_writes'', true), ''''))';
  opened constant jsonb := jsonb_build_object(
    -- Public on chain. Drafts and failures are not.
    'assets', 'status in (''active'', ''updating'', ''archived'')',
    'asset_deployments', 'status = ''active'' and token_address is not null',
    'markets', 'status in (''active'', ''halted'')',
    -- Their own.
    'users', 'id = ' || person,
    'user_wallets', 'user_id = ' || person,
    'members', 'id = ' || membership || ' and user_id = ' || person,
    'parties', 'id = ' || parties,
    'party_documents', 'party_id = ' || parties,
    'party_files', 'exists (select from party_documents d where d.file_id = party_files.id and d.party_id = ' || parties || ')',
    'party_file_parts', 'exists (select from party_documents d where d.file_id = party_file_parts.file_id and d.party_id = '
      || parties || ')',
    'attestations', 'wallet_address = ' || addresses,
    'orders', 'maker_address = ' || addresses,
    'token_transfers', 'from_address = ' || addresses || ' or to_address = ' || addresses,
    'trades', 'exists (select from orders o where o.market_id = trades.market_id and o.maker_address = ' || addresses
      || ' and o.chain_order_id in (trades.maker_chain_id, trades.taker_chain_id))',
    'distribution_recipients', 'address = ' || addresses,
    'distribution_claims', 'address = ' || addresses,
    'distributions', 'distributor_address is not null and exists (select from distribution_recipients r'
      || ' where r.distribution_id = distributions.id and r.address = ' || addresses || ')',
    -- Closed to all but the caller by its own policy.
    'idempotency_keys', 'true');
  -- What a write opens, by table and command.
  written constant jsonb := jsonb_build_object(
    'party_documents insert', 'party_id::text = ' || writes || ' and party_id = ' || parties || ' and uploaded_by = ' || person
      || ' and is_from_investor',
    'party_files insert', writes || ' not in ('''', ''membership'')',
    'party_file_parts insert', writes || ' not in ('''', ''membership'')',
    'parties update', 'id::text = ' || writes || ' and id = ' || parties,
    'members delete', writes || ' = ''membership'' and id = ' || membership || ' and user_id = ' || person,
    -- Also of a membership that this transaction has ended.
    'audit_log insert', writes || ' <> '''' and actor = (select nullif(current_setting(''app.user_id'', true), '''')::uuid)');
  insertable text;
begin
  for t in select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname = 'public' and c.relkind in ('r', 'p') and c.relrowsecurity
  loop
    own := opened ->> t;
    insertable := staff || coalesce(' or (' || (written ->> (t || ' insert')) || ')', '');
    if t = 'audit_log' then
      execute format('create policy investor on %I as restrictive for select to signum_app using (%s)', t, staff);
      execute format('create policy investor_insert on %I as restrictive for insert to signum_app with check (%s)', t, insertable);
    elsif own is null then
      execute format('create policy investor on %I as restrictive to signum_app using (%s) with check (%s)', t, staff, staff);
    elsif own = 'true' then
      continue;
    else
      execute format('create policy investor on %I as restrictive for select to signum_app using (%s or (%s))', t, staff, own);
      execute format('create policy investor_insert on %I as restrictive for insert to signum_app with check (%s)', t, insertable);
      execute format('create policy investor_update on %I as restrictive for update to signum_app using (%s)', t,
                     staff || coalesce(' or (' || (written ->> (t || ' update')) || ')', ''));
      execute format('create policy investor_delete on %I as restrictive for delete to signum_app using (%s)', t,
                     staff || coalesce(' or (' || (written ->> (t || ' delete')) || ')', ''));
    end if;
  end loop;
end $$;
