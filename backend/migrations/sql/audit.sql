-- The audit log is only ever appended to: by privileges for the roles that work at run time, by triggers for its owner.
revoke update, delete, truncate, references, trigger on audit_log from signum_app, signum_worker;
revoke insert, update, delete, truncate, references, trigger on audit_heads from signum_app, signum_worker;

-- The end of an organization's chain, locked until the transaction ends.
create function signum_audit_head(org uuid) returns table (seq bigint, hash text)
language plpgsql volatile security definer set search_path = public, pg_temp as $$
begin
  if current_setting('role') = 'signum_app' and not organization_entered(org) then
    raise exception 'the organization % was not entered', org using errcode = 'insufficient_privilege';
  end if;
  insert into audit_heads (organization_id, seq, hash) values (org, 0, repeat('0', 64)) on conflict do nothing;
  return query select h.seq, h.hash::text from audit_heads h where h.organization_id = org for update;
end $$;
revoke all on function signum_audit_head(uuid) from public;
grant execute on function signum_audit_head(uuid) to signum_app, signum_worker;

-- A row can only be the next one: the end of the chain moves on with it, and with nothing else.
create function audit_append() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
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
  raise exception 'the audit log is append-only: % of % is refused', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end $$;
create trigger refuse before update or delete or truncate on audit_log for each statement execute function audit_refuse();
create trigger refuse before update or delete or truncate on audit_heads for each statement execute function audit_refuse();
revoke all on function audit_append(), audit_refuse() from public;
