-- Personal data can be erased from an entry of the audit log, by the owner of the table only. Older versions write entries
-- without the new column, and verify logs without erasures as before.
alter table audit_log add column erased_by bigint;

create or replace function audit_append() returns trigger
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

create or replace function audit_refuse() returns trigger language plpgsql as $$
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
revoke all on function audit_erase() from public;
