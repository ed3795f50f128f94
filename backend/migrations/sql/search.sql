-- A text without capitals and accents, which is how search compares: `Émile` is `emile`, `Straße` is `strasse`.
create function signum_plain(words text) returns text
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp as $$
  select case when octet_length(words) = length(words) then lower(words) else
    coalesce(nullif(replace(replace(replace(replace(translate(
      lower(normalize(regexp_replace(normalize(words, NFKD), '[\u0300-\u036f]', '', 'g'), NFC)),
      'ØøŁłĐđÐðĦħŦŧıÆŒÞ', 'oollddddhhttiæœþ'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), ''), words) end
$$;

-- What search finds a record by, as an index of each table has it. Marks are every three characters in a row of its
-- plain names, and the first one of each word; chr(31) stands for spaces and the ends of names.
create function signum_name_marks(variadic names text[]) returns text[]
language plpgsql immutable parallel safe cost 1000 set search_path = pg_catalog, pg_temp as $$
declare
  edge constant text := chr(31);
  characters constant text[] := string_to_array(
    edge || replace(public.signum_plain(array_to_string(names, edge)), ' ', edge) || edge, null);
  marks text[] := '{}';
begin
  for i in 1 .. cardinality(characters) - 2 loop
    marks := array_append(marks, characters[i] || characters[i + 1] || characters[i + 2]);
    if characters[i] = edge then
      marks := array_append(marks, edge || characters[i + 1]);
    end if;
  end loop;
  return marks;
end $$;

-- The marks that every name with this plain text in it has. Two characters are the beginning of a word; null for one.
create function signum_parts(words text) returns text[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select case length(words) when 1 then null when 2 then array[chr(31) || replace(lower(words), ' ', chr(31))] else (
    select array_agg(distinct replace(lower(substr(words, i, 3)), ' ', chr(31))) from generate_series(1, length(words) - 2) i) end
$$;

-- The marks that every name with each word of a plain text has, in any order. A word of one or two characters is the
-- beginning of one; null for a text of one character.
create function signum_word_parts(words text) returns text[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select array_agg(distinct case when length(w) < 3 then chr(31) || w else substr(w, i, 3) end)
  from unnest(string_to_array(words, ' ')) w, generate_series(1, greatest(length(w) - 2, 1)) i
  where w <> '' and length(words) > 1
$$;

-- Patterns of `like` for each word of a text: a plain name after a space is like all of them if it has every word. One
-- of one or two characters is the beginning of a word.
create function signum_patterns(words text) returns text[]
language sql immutable parallel safe set search_path = public, pg_temp as $$
  select array_agg(case when length(w) < 3 then '% ' else '%' end || regexp_replace(w, '([\\%_])', '\\\1', 'g') || '%')
  from unnest(string_to_array(signum_plain(words), ' ')) w where w <> ''
$$;

-- Whole codes (IDs, addresses, hashes) of a record.
create function signum_codes(variadic codes text[]) returns tsvector
language sql immutable parallel safe cost 100 set search_path = pg_catalog, pg_temp as $$
  select array_to_tsvector(array(select lower(c) from unnest(codes) c where c <> ''))
$$;

-- Whole plain names and codes of a record.
create function signum_name_codes(variadic names text[]) returns tsvector
language sql immutable parallel safe cost 100 set search_path = pg_catalog, pg_temp as $$
  select array_to_tsvector(array(select public.signum_plain(n) from unnest(names) n where n <> ''))
$$;

-- The query for a code: the whole one, or its beginning (`:*`).
create function signum_code(code text, ending text) returns tsquery
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select ('''' || replace(replace(lower(code), '\', '\\'), '''', '''''') || '''' || ending)::tsquery
$$;

create index marks_of_organizations on organizations using gin (signum_name_marks(name, email), signum_name_codes(name, email, id::text));
create index marks_of_assets on assets using gin (signum_name_marks(name, symbol), signum_name_codes(name, symbol, id::text));
create index marks_asset_deployments on asset_deployments using gin (signum_codes(token_address, tx_hash));
create index marks_markets on markets using gin (signum_codes(id::text, market_address));
create index marks_of_distributions on distributions using gin (signum_name_marks(name), signum_name_codes(name, id::text, merkle_root, distributor_address));
create index marks_of_parties on parties using gin (signum_name_marks(name, email), signum_name_codes(name, email, id::text, wallet_address));
create index marks_of_users on users using gin (signum_name_marks(display_name, email), signum_name_codes(display_name, email));
create index marks_user_wallets on user_wallets using gin (signum_codes(address));
create index marks_of_members on members using gin (signum_name_marks(display_name, email), signum_name_codes(display_name, email, id::text, user_id::text, asked_user_id::text, wallet_address));
create index marks_of_invitations on invitations using gin (signum_name_marks(email), signum_name_codes(email, id::text));
create index marks_of_wallets on wallets using gin (signum_name_marks(label), signum_name_codes(label, id::text, address));
create index marks_attestations on attestations using gin (signum_codes(id::text, uid, tx_hash, wallet_address));
create index marks_transfers on transfers using gin (signum_codes(id::text, tx_hash, to_address, from_address));
create index marks_bridges on bridges using gin (signum_codes(id::text, guid, source_tx_hash, destination_tx_hash));
create index marks_of_requests on requests using gin (signum_name_marks(title), signum_name_codes(title, id::text));
create index marks_request_steps on request_steps using gin (signum_codes(tx_hash));
create index marks_of_api_keys on api_keys using gin (signum_name_marks(name), signum_name_codes(name, id::text, prefix));

-- Search results, best first, in an organization this transaction has entered and (`deep`) in those below it that allow
-- an address; otherwise, only names of the organizations below. Without a factor (`factor`), results in or below an
-- organization that requires one are omitted, as are requests of kinds whose titles the caller may not read (`hidden`,
-- the first part of a kind). Names match without capitals and accents: the text anywhere in them (one or two characters:
-- at the beginning of a name or word), or each of its words. Codes (IDs, addresses, hashes) match from their beginning,
-- and in the shortened form that the console shows: beginning, `…` or dots, end. Chains are those of the root's network.
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
  plain constant text := signum_plain(words);
  -- A text with every word of it begins with whole words, unless its first one may be the end of one.
  parts constant text[] := signum_word_parts(plain);
  phrase constant text[] := case when plain ~ '^\S{1,2} ' then signum_parts(plain) end;
  -- The compatible form of `…` is three dots.
  short constant text[] := regexp_match(plain, '^([0-9a-z_-]{4,})\.{2,}([0-9a-z_-]*)$');
  shown constant text := coalesce(short[1], plain);
  whole constant tsquery := signum_code(plain, '');
  start constant tsquery := signum_code(shown, ':*');
  code constant tsquery := case when length(shown) >= 4 then start end;
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
        and signum_name_codes(o.name, o.email, o.id::text) @@ whole limit most_hits)
    union all
    (select 'organization', o.id from organizations o
      left join lateral (select organization_is_below(o.parent_id, tops, true, factor, ip) offset 0) up (seen) on true
      where 'organization' = any(kinds)
        and (o.id = any(tops)
          or seen and allows_address(o.allowed_ip_ranges, ip) and (factor or not o.require_second_factor))
        and (signum_name_marks(o.name, o.email) @> parts or signum_name_marks(o.name, o.email) @> phrase
          or signum_name_codes(o.name, o.email, o.id::text) @@ start) limit most_hits)
    union all
    (select 'asset', a.id from assets a
      join lateral (select organization_is_below(a.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'asset' = any(kinds)
        and (signum_name_marks(a.name, a.symbol) @> parts or signum_name_marks(a.name, a.symbol) @> phrase
          or signum_name_codes(a.name, a.symbol, a.id::text) @@ start) limit most_hits)
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
        and (signum_name_marks(a.name, a.symbol) @> parts or signum_name_marks(a.name, a.symbol) @> phrase
          or signum_name_codes(a.name, a.symbol, a.id::text) @@ start) limit most_hits)
    union all
    (select 'distribution', d.id from distributions d
      join lateral (select organization_is_below(d.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'distribution' = any(kinds)
        and (signum_name_marks(d.name) @> parts or signum_name_marks(d.name) @> phrase
          or signum_name_codes(d.name, d.id::text, d.merkle_root, d.distributor_address) @@ start) limit most_hits)
    union all
    (select 'distribution', d.id from assets a join distributions d on d.asset_id = a.id
      join lateral (select organization_is_below(d.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'distribution' = any(kinds)
        and (signum_name_marks(a.name, a.symbol) @> parts or signum_name_marks(a.name, a.symbol) @> phrase
          or signum_name_codes(a.name, a.symbol, a.id::text) @@ start) limit most_hits)
    union all
    (select 'party', p.id from parties p
      join lateral (select organization_is_below(p.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'party' = any(kinds) and signum_name_codes(p.name, p.email, p.id::text, p.wallet_address) @@ whole limit most_hits)
    union all
    (select 'party', p.id from parties p
      join lateral (select organization_is_below(p.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'party' = any(kinds)
        and (signum_name_marks(p.name, p.email) @> parts or signum_name_marks(p.name, p.email) @> phrase
          or signum_name_codes(p.name, p.email, p.id::text, p.wallet_address) @@ start) limit most_hits)
    union all
    (select 'member', m.id from members m
      join lateral (select organization_is_below(m.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'member' = any(kinds)
        and (signum_name_marks(m.display_name, m.email) @> parts or signum_name_marks(m.display_name, m.email) @> phrase
          or signum_name_codes(m.display_name, m.email, m.id::text, m.user_id::text, m.asked_user_id::text, m.wallet_address) @@ start) limit most_hits)
    union all
    (select 'member', m.id from users u join members m on m.user_id = u.id and m.status <> 'pending'
      join lateral (select organization_is_below(m.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'member' = any(kinds) and signum_name_codes(u.display_name, u.email) @@ whole limit most_hits)
    union all
    (select 'member', m.id from users u join members m on m.user_id = u.id and m.status <> 'pending'
      join lateral (select organization_is_below(m.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'member' = any(kinds)
        and (signum_name_marks(u.display_name, u.email) @> parts or signum_name_marks(u.display_name, u.email) @> phrase
          or signum_name_codes(u.display_name, u.email) @@ start) limit most_hits)
    union all
    (select 'member', m.id from user_wallets w join members m on m.user_id = w.user_id and m.status <> 'pending'
      join lateral (select organization_is_below(m.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'member' = any(kinds)
        and signum_codes(w.address) @@ code limit most_hits)
    union all
    (select 'invitation', i.id from invitations i
      join lateral (select organization_is_below(i.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'invitation' = any(kinds)
        and (signum_name_marks(i.email) @> parts or signum_name_marks(i.email) @> phrase
          or signum_name_codes(i.email, i.id::text) @@ start) limit most_hits)
    union all
    (select 'wallet', w.id from wallets w
      join lateral (select organization_is_below(w.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'wallet' = any(kinds)
        and (signum_name_marks(w.label) @> parts or signum_name_marks(w.label) @> phrase
          or signum_name_codes(w.label, w.id::text, w.address) @@ start) limit most_hits)
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
        and split_part(r.kind, '.', 1) <> all(hidden) and signum_name_codes(r.title, r.id::text) @@ whole limit most_hits)
    union all
    (select 'request', r.id from requests r
      join lateral (select organization_is_below(r.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'request' = any(kinds)
        and split_part(r.kind, '.', 1) <> all(hidden)
        and (signum_name_marks(r.title) @> parts or signum_name_marks(r.title) @> phrase
          or signum_name_codes(r.title, r.id::text) @@ start) limit most_hits)
    union all
    (select 'request', s.request_id from request_steps s
      join lateral (select organization_is_below(s.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'request' = any(kinds)
        and signum_codes(s.tx_hash) @@ code limit most_hits)
    union all
    (select 'api_key', k.id from api_keys k
      join lateral (select organization_is_below(k.organization_id, tops, deep, factor, ip) offset 0) up (seen) on seen
      where 'api_key' = any(kinds)
        and (signum_name_marks(k.name) @> parts or signum_name_marks(k.name) @> phrase
          or signum_name_codes(k.name, k.id::text, k.prefix) @@ start) limit most_hits)
    union all
    (select 'chain', c.id from organizations o join chains c on (c.environment = 'mainnet') = (o.network = 'mainnet')
      where 'chain' = any(kinds) and o.id = any(tops))
  ), wanted as materialized (
    select plain as word, chr(31) || plain as start, signum_patterns(words) as patterns,
           case when length(shown) >= 4 then chr(31) || shown end as code,
           chr(31) || short[1] || '[^' || chr(31) || ']*' || short[2] || chr(31) as shortened
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
    union all
    select 'chain', c.id, root, c.display_name, c.environment,
           concat_ws(chr(31), '', c.display_name, c.chain_name, c.chain_key, ''),
           concat_ws(chr(31), '', c.id, c.native_chain_id, c.xchain_eid, ''), c.created_at
    from chains c where c.id in (select h.id from hit h where h.kind = 'chain')
  ), ranked as (
    select c.*, case
      when strpos(l.names, w.start || chr(31)) > 0 then 0
      when strpos(l.names, w.start) > 0 then 1
      when strpos(l.names, ' ' || w.word) > 0 then 3
      when length(w.word) > 2 and strpos(l.names, w.word) > 0 then 4
      when translate(l.names, chr(31), ' ') like all (w.patterns) then 5
      when strpos(l.codes, w.code || chr(31)) > 0 then 0
      when strpos(l.codes, w.code) > 0 and (w.shortened is null or l.codes ~ w.shortened) then 2 end as rank
    from candidate c cross join wanted w cross join lateral (
      select case when octet_length(c.names) = length(c.names) then lower(c.names) else signum_plain(c.names) end as names,
             lower(c.codes) as codes offset 0) l
  ), placed as (
    select r.*, row_number() over (partition by r.kind order by r.rank, length(r.title), r.created_at desc, r.id) as place
    from ranked r where r.rank is not null
  )
  select p.kind, p.id, p.organization_id, b.name::text, p.title::text, coalesce(p.detail, '')::text
  from placed p join organizations b on b.id = p.organization_id where p.place <= each_kind
  order by p.rank, array_position(kinds, p.kind), length(p.title), p.created_at desc, p.id limit most;
end $$;
