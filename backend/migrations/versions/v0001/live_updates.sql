-- Live updates: each committed change notifies the processes that have open event streams. The payload names the changed
-- log or request and nothing else: a process reads it with the rights of its streams. Equal payloads of a transaction are
-- one notification.

create function live_log() returns trigger language plpgsql as $$
begin
  perform pg_notify('signum_live', 'log ' || new.organization_id);
  return null;
end $$;
create trigger live after insert on audit_log for each row execute function live_log();

create function live_request() returns trigger language plpgsql as $$
begin
  perform pg_notify('signum_live', 'request ' || new.organization_id || ' ' || new.id);
  return null;
end $$;
create trigger live after insert or update on requests for each row execute function live_request();

create function live_part() returns trigger language plpgsql as $$
begin
  perform pg_notify('signum_live', 'request ' || new.organization_id || ' ' || new.request_id);
  return null;
end $$;
create trigger live after update on request_steps for each row execute function live_part();
create trigger live after update of finality on transactions for each row
  when (new.request_id is not null and new.organization_id is not null)
  execute function live_part();

-- What the indexer reads from chains is no event; a rule set wakes those who wait for the organization's log.
create trigger live after insert on asset_rule_sets for each row execute function live_log();

-- Attempts of deliveries are no events either: their endpoint's log is followed by its page only.
create function live_delivery() returns trigger language plpgsql as $$
begin
  perform pg_notify('signum_live', 'deliveries ' || new.organization_id || ' ' || new.endpoint_id);
  return null;
end $$;
create trigger live after update on webhook_deliveries for each row
  when (old.status is distinct from new.status or old.run is distinct from new.run)
  execute function live_delivery();
revoke all on function live_log(), live_request(), live_part(), live_delivery() from public;
