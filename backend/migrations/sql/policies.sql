-- Every table with an organization_id is closed to signum_app except for the organizations named in
-- app.organization_ids. The scalar subselect is computed once per statement, so the index is used.
do $$
declare t text;
begin
  for t in
    select c.table_name from information_schema.columns c
    where c.table_schema = 'public' and c.column_name = 'organization_id' and c.table_name <> 'sessions'
  loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy tenant on %I to signum_app
      using (organization_id = any((select string_to_array(current_setting(''app.organization_ids'', true), '','')::uuid[])::uuid[]))
      with check (organization_id = any((select string_to_array(current_setting(''app.organization_ids'', true), '','')::uuid[])::uuid[]))', t);
    execute format('create policy worker on %I to signum_worker using (true) with check (true)', t);
  end loop;
end $$;

-- Of a person within an organization: colleagues do not see them.
do $$
declare t text;
begin
  foreach t in array array['form_drafts', 'saved_views'] loop
    execute format('create policy themself on %I as restrictive to signum_app
      using (user_id = (select nullif(current_setting(''app.user_id'', true), '''')::uuid))
      with check (user_id = (select nullif(current_setting(''app.user_id'', true), '''')::uuid))', t);
  end loop;
end $$;

alter table organizations enable row level security;
create policy tenant on organizations to signum_app
  using (id = any((select string_to_array(current_setting('app.organization_ids', true), ',')::uuid[])::uuid[]))
  with check (id = any((select string_to_array(current_setting('app.organization_ids', true), ',')::uuid[])::uuid[]));
create policy worker on organizations to signum_worker using (true) with check (true);

-- For the operator: no organization sees another's differences.
alter table reconciliations enable row level security;
create policy worker on reconciliations to signum_worker using (true) with check (true);

-- Subjects of alarms may belong to one organization: the API shows the chain's alarms through the worker's role only.
alter table chain_alarms enable row level security;
create policy worker on chain_alarms to signum_worker using (true) with check (true);

-- Of the processes that run workflows: no request concerns them.
alter table executor_leases enable row level security;
create policy worker on executor_leases to signum_worker using (true) with check (true);

-- The indexer's own list, with every organization's contracts.
alter table followed_contracts enable row level security;
create policy worker on followed_contracts to signum_worker using (true) with check (true);

-- Credentials of people and programs. signum_app sees the rows of the signed-in person (app.user_id), and the rows that
-- a secret presented in this transaction opens (app.proven has its digest, or the id of the session it leads to).
alter table sessions enable row level security;
create policy own on sessions to signum_app using (
  user_id = (select nullif(current_setting('app.user_id', true), '')::uuid)
  or token_hash = any((select string_to_array(current_setting('app.proven', true), ','))::text[])
  or id::text = any((select string_to_array(current_setting('app.proven', true), ','))::text[])
  -- An organization can end sessions of its own applications.
  or exists (select 1 from oauth_clients c where c.id = client_id));
create policy made on sessions for insert to signum_app with check (true);
create policy worker on sessions to signum_worker using (true) with check (true);

alter table refresh_tokens enable row level security;
create policy own on refresh_tokens to signum_app using (
  token_hash = any((select string_to_array(current_setting('app.proven', true), ','))::text[])
  or exists (select 1 from sessions s where s.id = session_id));
create policy made on refresh_tokens for insert to signum_app with check (true);
create policy worker on refresh_tokens to signum_worker using (true) with check (true);

alter table one_time_secrets enable row level security;
create policy own on one_time_secrets to signum_app using (
  user_id = (select nullif(current_setting('app.user_id', true), '')::uuid)
  or secret_hash = any((select string_to_array(current_setting('app.proven', true), ','))::text[]));
create policy made on one_time_secrets for insert to signum_app with check (true);
create policy worker on one_time_secrets to signum_worker using (true) with check (true);

alter table oauth_codes enable row level security;
create policy own on oauth_codes to signum_app using (
  user_id = (select nullif(current_setting('app.user_id', true), '')::uuid)
  or code_hash = any((select string_to_array(current_setting('app.proven', true), ','))::text[]));
create policy worker on oauth_codes to signum_worker using (true) with check (true);

alter table oauth_consents enable row level security;
create policy own on oauth_consents to signum_app using (
  user_id = (select nullif(current_setting('app.user_id', true), '')::uuid)
  or exists (select 1 from oauth_clients c where c.id = client_id));
create policy worker on oauth_consents to signum_worker using (true) with check (true);

-- Responses are replayed to their first recipient only.
alter table idempotency_keys enable row level security;
create policy own on idempotency_keys to signum_app
  using (principal = (select nullif(current_setting('app.principal', true), '')));
create policy worker on idempotency_keys to signum_worker using (true) with check (true);

-- Sealed, and read by the process itself: no request needs them.
alter table signing_keys enable row level security;
create policy worker on signing_keys to signum_worker using (true) with check (true);
revoke all on signing_keys from signum_app;

-- Encrypted, and read by the process itself: no request needs them.
alter table data_keys enable row level security;
create policy worker on data_keys to signum_worker using (true) with check (true);
revoke all on data_keys from signum_app;
revoke delete on data_keys from signum_worker;
alter table wallet_keys enable row level security;
create policy worker on wallet_keys to signum_worker using (true) with check (true);
revoke all on wallet_keys from signum_app;
