-- What search finds a record by, as an index of each table has it. Marks are every three characters in a row of its
-- names; chr(31) stands for spaces and the ends of names.
create function signum_marks(variadic names text[]) returns text[]
language plpgsql immutable parallel safe cost 1000 set search_path = pg_catalog, pg_temp as $$
declare
  characters constant text[] :=
    string_to_array(chr(31) || replace(lower(array_to_string(names, chr(31))), ' ', chr(31)) || chr(31), null);
  marks text[] := '{}';
begin
  for i in 1 .. cardinality(characters) - 2 loop
    marks[i] := characters[i] || characters[i + 1] || characters[i + 2];
  end loop;
  return marks;
end $$;

-- The marks that every name with these words has. Two characters are the beginning of a word; null for a single one.
create function signum_parts(words text) returns text[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select case length(words) when 1 then null when 2 then array[chr(31) || replace(lower(words), ' ', chr(31))] else (
    select array_agg(distinct replace(lower(substr(words, i, 3)), ' ', chr(31))) from generate_series(1, length(words) - 2) i) end
$$;

-- Whole names and codes (IDs, addresses, hashes) of a record.
create function signum_codes(variadic codes text[]) returns tsvector
language sql immutable parallel safe cost 100 set search_path = pg_catalog, pg_temp as $$
  select array_to_tsvector(array(select lower(c) from unnest(codes) c where c <> ''))
$$;

-- The query for a code: the whole one, or its beginning (`:*`).
create function signum_code(code text, ending text) returns tsquery
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select ('''' || replace(replace(lower(code), '\', '\\'), '''', '''''') || '''' || ending)::tsquery
$$;

create index marks_organizations on organizations using gin (signum_marks(name, email), signum_codes(name, email, id::text));
create index marks_assets on assets using gin (signum_marks(name, symbol), signum_codes(name, symbol, id::text));
create index marks_asset_deployments on asset_deployments using gin (signum_codes(token_address, tx_hash));
create index marks_markets on markets using gin (signum_codes(id::text, market_address));
create index marks_distributions on distributions using gin (signum_marks(name), signum_codes(name, id::text, merkle_root, distributor_address));
create index marks_parties on parties using gin (signum_marks(name, email), signum_codes(name, email, id::text, wallet_address));
create index marks_users on users using gin (signum_marks(display_name, email), signum_codes(display_name, email));
create index marks_user_wallets on user_wallets using gin (signum_codes(address));
create index marks_members on members using gin (signum_marks(display_name, email), signum_codes(display_name, email, id::text, user_id::text, asked_user_id::text, wallet_address));
create index marks_invitations on invitations using gin (signum_marks(email), signum_codes(email, id::text));
create index marks_wallets on wallets using gin (signum_marks(label), signum_codes(label, id::text, address));
create index marks_attestations on attestations using gin (signum_codes(id::text, uid, tx_hash, wallet_address));
create index marks_transfers on transfers using gin (signum_codes(id::text, tx_hash, to_address, from_address));
create index marks_bridges on bridges using gin (signum_codes(id::text, guid, source_tx_hash, destination_tx_hash));
create index marks_requests on requests using gin (signum_marks(title), signum_codes(title, id::text));
create index marks_request_steps on request_steps using gin (signum_codes(tx_hash));
create index marks_api_keys on api_keys using gin (signum_marks(name), signum_codes(name, id::text, prefix));

-- Search results, best first, in an organization this transaction has entered and (`deep`) in those below it that allow
-- an address; otherwise, only names of the organizations below. Without a factor (`factor`), results in or below an
-- organization that requires one are omitted, as are requests of kinds whose titles the caller may not read (`hidden`,
-- the first part of a kind). Names match anywhere (one or two characters: at
-- the beginning of a name or word), codes (IDs, addresses, hashes) from their beginning.
-- At most 2,000 records of a kind are compared, after 2,000 that are called exactly so: more would be too many to show.
-- Indexes find the records, and a walk up from the organization of each tells whether it is below the root: how many
-- are below does not matter. The walk is in a subquery, so that its result is remembered for each organization. The plan is
-- generic, because making one takes longer than a search.
create function signum_search(root uuid, kinds text[], hidden text[], words text, deep boolean, factor boolean, each_kind int,
                              most int, address inet)
returns table (kind text, id uuid, organization_id uuid, organization_name text, title text, detail text)
language plpgsql stable security definer set search_path = public, pg_temp set jit = off
  set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  most_hits constant int := 2000;
  parts constant text[] := signum_parts(words);
  whole constant tsquery := signum_code(words, '');
  start constant tsquery := signum_code(words, ':*');
  code constant tsquery := case when length(words) >= 4 then start end;
  tops constant uuid[] := array(select root where organization_entered(root));
  ip constant inet := address;
begin
  return query
  with hit (kind, id) as materialized (
    (select 'organization', o.id from organizations o
      left join lateral (select organization_is_below(o.parent_id, tops, true, factor, ip) offset 0) up (seen) on true
      where 'organization' = any(kinds)
        and (o.id = any(tops)
          or seen and allows_address(o.allowed_ip_ranges, ip) and (factor or not o.require_second_factor))
        and signum_codes(o.name, o.email, o.id::text) @@ whole limit most_hits)
    union all
    (select 'organization', o.id from organizations o
      left join lateral (select organization_is_below(o.parent_id, tops, true, factor, ip) offset 0) up (seen) on true
      where 'organization' = any(kinds)
        and (o.id = any(tops)
          or seen and allows_address(o.allowed_ip_ranges, ip) and (factor or not o.require_second_factor))
        and (signum_marks(o.name, o.email) @> parts or signum_codes(o.name, o.email, o.id::text) @@ start) limit most_hits)
    union all
    (select 'asset', a.id from assets a
      join lateral (select organization_is_below(a.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'asset' = any(kinds)
        and (signum_marks(a.name, a.symbol) @> parts or signum_codes(a.name, a.symbol, a.id::text) @@ start) limit most_hits)
    union all
    (select 'asset', d.asset_id from asset_deployments d
      join lateral (select organization_is_below(d.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'asset' = any(kinds)
        and signum_codes(d.token_address, d.tx_hash) @@ code limit most_hits)
    union all
    (select 'market', m.id from markets m
      join lateral (select organization_is_below(m.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'market' = any(kinds)
        and signum_codes(m.id::text, m.market_address) @@ code limit most_hits)
    union all
    (select 'market', m.id from assets a join markets m on m.asset_id = a.id
      join lateral (select organization_is_below(m.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'market' = any(kinds)
        and (signum_marks(a.name, a.symbol) @> parts or signum_codes(a.name, a.symbol, a.id::text) @@ start) limit most_hits)
    union all
    (select 'distribution', d.id from distributions d
      join lateral (select organization_is_below(d.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'distribution' = any(kinds)
        and (signum_marks(d.name) @> parts or signum_codes(d.name, d.id::text, d.merkle_root, d.distributor_address) @@ start) limit most_hits)
    union all
    (select 'distribution', d.id from assets a join distributions d on d.asset_id = a.id
      join lateral (select organization_is_below(d.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'distribution' = any(kinds)
        and (signum_marks(a.name, a.symbol) @> parts or signum_codes(a.name, a.symbol, a.id::text) @@ start) limit most_hits)
    union all
    (select 'party', p.id from parties p
      join lateral (select organization_is_below(p.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'party' = any(kinds) and signum_codes(p.name, p.email, p.id::text, p.wallet_address) @@ whole limit most_hits)
    union all
    (select 'party', p.id from parties p
      join lateral (select organization_is_below(p.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'party' = any(kinds)
        and (signum_marks(p.name, p.email) @> parts or signum_codes(p.name, p.email, p.id::text, p.wallet_address) @@ start) limit most_hits)
    union all
    (select 'member', m.id from members m
      join lateral (select organization_is_below(m.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'member' = any(kinds)
        and (signum_marks(m.display_name, m.email) @> parts or signum_codes(m.display_name, m.email, m.id::text, m.user_id::text, m.asked_user_id::text, m.wallet_address) @@ start) limit most_hits)
    union all
    (select 'member', m.id from users u join members m on m.user_id = u.id and m.status <> 'pending'
      join lateral (select organization_is_below(m.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'member' = any(kinds) and signum_codes(u.display_name, u.email) @@ whole limit most_hits)
    union all
    (select 'member', m.id from users u join members m on m.user_id = u.id and m.status <> 'pending'
      join lateral (select organization_is_below(m.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'member' = any(kinds)
        and (signum_marks(u.display_name, u.email) @> parts or signum_codes(u.display_name, u.email) @@ start) limit most_hits)
    union all
    (select 'member', m.id from user_wallets w join members m on m.user_id = w.user_id and m.status <> 'pending'
      join lateral (select organization_is_below(m.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'member' = any(kinds)
        and signum_codes(w.address) @@ code limit most_hits)
    union all
    (select 'invitation', i.id from invitations i
      join lateral (select organization_is_below(i.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'invitation' = any(kinds)
        and (signum_marks(i.email) @> parts or signum_codes(i.email, i.id::text) @@ start) limit most_hits)
    union all
    (select 'wallet', w.id from wallets w
      join lateral (select organization_is_below(w.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'wallet' = any(kinds)
        and (signum_marks(w.label) @> parts or signum_codes(w.label, w.id::text, w.address) @@ start) limit most_hits)
    union all
    (select 'attestation', t.id from attestations t
      join lateral (select organization_is_below(t.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'attestation' = any(kinds)
        and signum_codes(t.id::text, t.uid, t.tx_hash, t.wallet_address) @@ code limit most_hits)
    union all
    (select 'transfer', t.id from transfers t
      join lateral (select organization_is_below(t.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'transfer' = any(kinds)
        and signum_codes(t.id::text, t.tx_hash, t.to_address, t.from_address) @@ code limit most_hits)
    union all
    (select 'bridge', b.id from bridges b
      join lateral (select organization_is_below(b.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'bridge' = any(kinds)
        and signum_codes(b.id::text, b.guid, b.source_tx_hash, b.destination_tx_hash) @@ code limit most_hits)
    union all
    (select 'request', r.id from requests r
      join lateral (select organization_is_below(r.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'request' = any(kinds)
        and split_part(r.kind, '.', 1) <> all(hidden) and signum_codes(r.title, r.id::text) @@ whole limit most_hits)
    union all
    (select 'request', r.id from requests r
      join lateral (select organization_is_below(r.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'request' = any(kinds)
        and split_part(r.kind, '.', 1) <> all(hidden)
        and (signum_marks(r.title) @> parts or signum_codes(r.title, r.id::text) @@ start) limit most_hits)
    union all
    (select 'request', s.request_id from request_steps s
      join lateral (select organization_is_below(s.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'request' = any(kinds)
        and signum_codes(s.tx_hash) @@ code limit most_hits)
    union all
    (select 'api_key', k.id from api_keys k
      join lateral (select organization_is_below(k.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'api_key' = any(kinds)
        and (signum_marks(k.name) @> parts or signum_codes(k.name, k.id::text, k.prefix) @@ start) limit most_hits)
  ), wanted as materialized (
    select lower(words) as word, chr(31) || lower(words) as start, length(words) >= 4 as is_code
  ), candidate as (
    select 'organization' as kind, o.id, o.id as organization_id, o.name::text as title, coalesce(o.org_type, '')::text as detail,
           concat_ws(chr(31), '', o.name, o.email, '') as names, concat_ws(chr(31), '', o.id, '') as codes, o.created_at
    from organizations o where o.id in (select h.id from hit h where h.kind = 'organization')
    union all
    select 'asset', a.id, a.organization_id, a.name, a.symbol, concat_ws(chr(31), '', a.name, a.symbol, ''),
           concat_ws(chr(31), '', a.id, d.codes, ''), a.created_at
    from assets a left join lateral (
      select string_agg(concat_ws(chr(31), d.token_address, d.tx_hash), chr(31)) as codes from asset_deployments d where d.asset_id = a.id) d on true
    where a.id in (select h.id from hit h where h.kind = 'asset')
    union all
    select 'market', m.id, m.organization_id, a.name, concat_ws(', ', a.symbol, coalesce(c.display_name, m.chain_eid::text)),
           concat_ws(chr(31), '', a.name, a.symbol, ''), concat_ws(chr(31), '', m.id, m.market_address, ''), m.created_at
    from markets m join assets a on a.id = m.asset_id left join chains c on c.xchain_eid = m.chain_eid
    where m.id in (select h.id from hit h where h.kind = 'market')
    union all
    select 'distribution', d.id, d.organization_id, d.name, a.symbol, concat_ws(chr(31), '', d.name, a.symbol, ''),
           concat_ws(chr(31), '', d.id, d.merkle_root, d.distributor_address, ''), d.created_at
    from distributions d join assets a on a.id = d.asset_id
    where d.id in (select h.id from hit h where h.kind = 'distribution')
    union all
    select 'party', p.id, p.organization_id, p.name, concat_ws(', ', p.status, p.email), concat_ws(chr(31), '', p.name, p.email, ''),
           concat_ws(chr(31), '', p.id, p.wallet_address, ''), p.created_at
    from parties p where p.id in (select h.id from hit h where h.kind = 'party')
    union all
    -- For people who have not accepted yet, only the data that the organization entered itself.
    select 'member', m.id, m.organization_id, coalesce(u.display_name, m.display_name, u.email, m.email, w.codes, ''),
           concat_ws(', ', m.role, coalesce(u.email, m.email)),
           concat_ws(chr(31), '', coalesce(u.display_name, m.display_name), coalesce(u.email, m.email), ''),
           concat_ws(chr(31), '', m.id, case when m.status = 'pending' then coalesce(m.asked_user_id, m.user_id) else m.user_id end,
                     w.codes, ''), m.created_at
    from members m left join users u on u.id = m.user_id and m.status <> 'pending' left join lateral (
      select case when m.status = 'pending' then m.wallet_address else (
        select string_agg(w.address, chr(31)) from user_wallets w where w.user_id = m.user_id) end as codes) w on true
    where m.id in (select h.id from hit h where h.kind = 'member')
    union all
    select 'invitation', i.id, i.organization_id, i.email, concat_ws(', ', i.role, i.status), concat_ws(chr(31), '', i.email, ''),
           concat_ws(chr(31), '', i.id, ''), i.created_at
    from invitations i where i.id in (select h.id from hit h where h.kind = 'invitation')
    union all
    select 'wallet', w.id, w.organization_id, w.label, w.address, concat_ws(chr(31), '', w.label, ''),
           concat_ws(chr(31), '', w.id, w.address, ''), w.created_at
    from wallets w where w.id in (select h.id from hit h where h.kind = 'wallet')
    union all
    select 'attestation', t.id, t.organization_id, p.name, concat_ws(', ', t.status, coalesce(c.display_name, t.chain_eid::text)), '',
           concat_ws(chr(31), '', t.id, t.uid, t.tx_hash, t.wallet_address, ''), t.created_at
    from attestations t join parties p on p.id = t.party_id left join chains c on c.xchain_eid = t.chain_eid
    where t.id in (select h.id from hit h where h.kind = 'attestation')
    union all
    select 'transfer', t.id, t.organization_id, concat_ws(' ', a.symbol, 'to', t.to_address), t.status, '',
           concat_ws(chr(31), '', t.id, t.tx_hash, t.to_address, t.from_address, ''), t.created_at
    from transfers t join assets a on a.id = t.asset_id
    where t.id in (select h.id from hit h where h.kind = 'transfer')
    union all
    select 'bridge', b.id, b.organization_id, concat_ws(' ', a.symbol, 'to', coalesce(c.display_name, b.destination_chain_eid::text)),
           b.status, '', concat_ws(chr(31), '', b.id, b.guid, b.source_tx_hash, b.destination_tx_hash, ''), b.created_at
    from bridges b join assets a on a.id = b.asset_id left join chains c on c.xchain_eid = b.destination_chain_eid
    where b.id in (select h.id from hit h where h.kind = 'bridge')
    union all
    select 'request', r.id, r.organization_id, r.title, r.status, concat_ws(chr(31), '', r.title, ''),
           concat_ws(chr(31), '', r.id, t.codes, ''), r.created_at
    from requests r left join lateral (
      select string_agg(t.tx_hash, chr(31)) as codes from request_steps t where t.request_id = r.id) t on true
    where r.id in (select h.id from hit h where h.kind = 'request')
    union all
    select 'api_key', k.id, k.organization_id, k.name, k.prefix, concat_ws(chr(31), '', k.name, ''),
           concat_ws(chr(31), '', k.id, k.prefix, ''), k.created_at
    from api_keys k where k.id in (select h.id from hit h where h.kind = 'api_key')
  ), ranked as (
    select c.*, case
      when strpos(l.names, w.word) = 0 then case
        when not w.is_code or strpos(l.codes, w.start) = 0 then null
        when strpos(l.codes, w.start || chr(31)) > 0 then 0 else 2 end
      when strpos(l.names, w.start || chr(31)) > 0 then 0
      when strpos(l.names, w.start) > 0 then 1
      when strpos(l.names, ' ' || w.word) > 0 then 3
      else 4 end as rank
    from candidate c cross join wanted w cross join lateral (select lower(c.names) as names, lower(c.codes) as codes offset 0) l
  ), placed as (
    select r.*, row_number() over (partition by r.kind order by r.rank, length(r.title), r.created_at desc, r.id) as place
    from ranked r where r.rank is not null
  )
  select p.kind, p.id, p.organization_id, b.name::text, p.title::text, coalesce(p.detail, '')::text
  from placed p join organizations b on b.id = p.organization_id where p.place <= each_kind
  order by p.rank, array_position(kinds, p.kind), length(p.title), p.created_at desc, p.id limit most;
end $$;
