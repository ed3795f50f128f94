-- The audit log is append-only: through privileges for the run-time roles, and through triggers for its owner.
revoke update, delete, truncate, references, trigger on audit_log from signum_app, signum_worker;
revoke insert, update, delete, truncate, references, trigger on audit_heads from signum_app, signum_worker;

-- Return the head of an organization's chain, locked until the transaction ends.
create function signum_audit_head(org uuid) returns table (seq bigint, hash text)
language plpgsql volatile security definer set search_path = public, pg_temp as $$
begin
  if not signum_is_worker() and not organization_written(org) then
    raise exception 'the organization % was not entered', org using errcode = 'insufficient_privilege';
  end if;
  insert into audit_heads (organization_id, seq, hash) values (org, 0, repeat('0', 64)) on conflict do nothing;
  return query select h.seq, h.hash::text from audit_heads h where h.organization_id = org for update;
end $$;
revoke all on function signum_audit_head(uuid) from public;
grant execute on function signum_audit_head(uuid) to signum_app, signum_worker;

-- A row can only be the next one: the head of the chain advances only with it.
create function audit_append() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if new.erased_by is not null then
    raise exception 'a new audit entry cannot be erased' using errcode = 'insufficient_privilege';
  end if;
  update audit_heads h set seq = new.seq, hash = new.hash
  where h.organization_id = new.organization_id and h.seq = new.seq - 1 and h.hash = new.previous_hash;
  if not found then
    raise exception 'audit entry % of % does not follow the last one', new.seq, new.organization_id;
  end if;
  return new;
end $$;
create trigger append before insert on audit_log for each row execute function audit_append();

create function audit_refuse() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'audit_heads' and tg_op = 'UPDATE' and pg_trigger_depth() > 1 then
    return null;
  end if;
  if tg_table_name = 'audit_log' and tg_op = 'UPDATE' then
    return null; -- audit_erase decides about each row
  end if;
  raise exception 'the audit log is append-only: % of % is refused', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end $$;
create trigger refuse before update or delete or truncate on audit_log for each statement execute function audit_refuse();
create trigger refuse before update or delete or truncate on audit_heads for each statement execute function audit_refuse();

-- Only the owner of the table has the privilege to update it, and only to erase personal data from values and addresses
-- of an entry: a later entry of the same log is the erasure, and lists the hash of what is left. The hash of the original
-- content stays.
create function audit_erase() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if (to_jsonb(new) - array['before', 'after', 'address', 'erased_by'])
      <> (to_jsonb(old) - array['before', 'after', 'address', 'erased_by'])
    or new.action in ('party.erased', 'user.erased')
    or not exists (
      select from audit_log e
      where e.organization_id = new.organization_id and e.seq = new.erased_by and e.seq > new.seq
        and e.action in ('party.erased', 'user.erased')
        and e.after -> 'entries' @> jsonb_build_array(jsonb_build_object('seq', new.seq)))
  then
    raise exception 'the audit log is append-only: UPDATE of entry % is refused', old.seq
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger erase before update on audit_log for each row execute function audit_erase();
revoke all on function audit_append(), audit_refuse(), audit_erase() from public;

-- Return the current names of the subjects of entries, as far as the caller may see the subjects.
create function signum_shown(amount numeric, decimals int) returns text language sql immutable as $$
  select rtrim(to_char(amount / power(10::numeric, decimals), 'FM999,999,999,999,999,999,990.999999'), '.')
$$;
create function signum_subject_names(kinds text[], ids uuid[]) returns table (kind text, id uuid, name text)
language sql stable set search_path = public, pg_temp set jit = off as $$
  select 'organization', o.id, o.name::text from organizations o where 'organization' = any(kinds) and o.id = any(ids)
  union all
  select 'member', m.id, coalesce(m.display_name, m.email, case when m.status = 'active' then coalesce(u.display_name, u.email) end)
  from members m left join users u on u.id = m.user_id where 'member' = any(kinds) and m.id = any(ids)
  union all
  select 'invitation', i.id, i.email from invitations i where 'invitation' = any(kinds) and i.id = any(ids)
  union all
  select 'api_key', k.id, k.name from api_keys k where 'api_key' = any(kinds) and k.id = any(ids)
  union all
  select 'oauth_client', c.id, c.name from oauth_clients c where 'oauth_client' = any(kinds) and c.id = any(ids)
  union all
  select 'wallet', w.id, w.label from wallets w where 'wallet' = any(kinds) and w.id = any(ids)
  union all
  select 'chain', c.id, c.display_name from chains c where 'chain' = any(kinds) and c.id = any(ids)
  union all
  select 'party', p.id, p.name from parties p where 'party' = any(kinds) and p.id = any(ids)
  union all
  select 'issuer', i.id, i.name from issuers i where 'issuer' = any(kinds) and i.id = any(ids)
  union all
  select 'attestation', t.id, concat_ws(' on ', p.name, coalesce(c.display_name, t.chain_eid::text))
  from attestations t join parties p on p.id = t.party_id left join chains c on c.xchain_eid = t.chain_eid
  where 'attestation' = any(kinds) and t.id = any(ids)
  union all
  select 'asset', a.id, concat(a.name, ' (', a.symbol, ')') from assets a where 'asset' = any(kinds) and a.id = any(ids)
  union all
  select 'bridge', b.id,
    concat_ws(' ', signum_shown(b.amount, a.decimals), a.symbol, 'to', coalesce(c.display_name, b.destination_chain_eid::text))
  from bridges b join assets a on a.id = b.asset_id left join chains c on c.xchain_eid = b.destination_chain_eid
  where 'bridge' = any(kinds) and b.id = any(ids)
  union all
  select 'market', m.id, concat_ws(' on ', a.symbol, coalesce(c.display_name, m.chain_eid::text))
  from markets m join assets a on a.id = m.asset_id left join chains c on c.xchain_eid = m.chain_eid
  where 'market' = any(kinds) and m.id = any(ids)
  union all
  select 'order', o.id, concat_ws(' ', initcap(o.side), signum_shown(o.amount, a.decimals), a.symbol,
    'at ' || signum_shown(o.price, m.quote_decimals) || ' ' || m.quote_symbol,
    'for ' || coalesce(
      (select p.name from parties p where p.organization_id = o.organization_id and p.wallet_address = o.maker_address limit 1),
      (select w.label from wallets w where w.organization_id = o.organization_id and w.address = o.maker_address limit 1)))
  from orders o join markets m on m.id = o.market_id join assets a on a.id = m.asset_id
  where 'order' = any(kinds) and o.id = any(ids)
  union all
  select 'trade', t.id, concat_ws(' ', signum_shown(t.amount, a.decimals), a.symbol)
  from trades t join markets m on m.id = t.market_id join assets a on a.id = m.asset_id
  where 'trade' = any(kinds) and t.id = any(ids)
  union all
  select 'distribution', d.id, d.name from distributions d where 'distribution' = any(kinds) and d.id = any(ids)
  union all
  select 'transfer', t.id, concat_ws(' ', signum_shown(t.amount, a.decimals), a.symbol, 'to', coalesce(
    (select w.label from wallets w where w.organization_id = t.organization_id and w.address = t.to_address limit 1), t.to_address))
  from transfers t join assets a on a.id = t.asset_id where 'transfer' = any(kinds) and t.id = any(ids)
  union all
  select 'request', r.id, r.title from requests r where 'request' = any(kinds) and r.id = any(ids)
  union all
  select 'approval', p.id, r.title from approvals p join requests r on r.id = p.request_id
  where 'approval' = any(kinds) and p.id = any(ids)
  union all
  select 'webhook', e.id, e.url from webhook_endpoints e where 'webhook' = any(kinds) and e.id = any(ids)
$$;
revoke all on function signum_shown(numeric, int), signum_subject_names(text[], uuid[]) from public;
grant execute on function signum_shown(numeric, int), signum_subject_names(text[], uuid[]) to signum_app, signum_worker;
