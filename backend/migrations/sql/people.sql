-- People belong to no organization. signum_app sees the signed-in person (app.user_id), the people in the organizations
-- it has entered, the staff of those above, and everyone who appears in their logs, so that an action keeps its actor's
-- name. It sees nothing of people who have not accepted a membership yet.

-- Through a view, because no one sees the members of the organizations above; its rows are filtered here. The scalar
-- subselects are computed once per statement.
create view signum_acquainted with (security_barrier) as
  select m.user_id from members m
  where m.organization_id = any((select signum_entered())::uuid[]) and m.status <> 'pending' and (
    m.organization_id = any((select string_to_array(current_setting('app.organization_ids', true), ',')::uuid[])::uuid[])
    or (m.status = 'active' and m.role <> 'client'));
revoke all on signum_acquainted from public;
grant select on signum_acquainted to signum_app;

alter table users enable row level security;
create policy seen on users for select to signum_app using (
  id = (select nullif(current_setting('app.user_id', true), '')::uuid)
  or exists (select 1 from signum_acquainted a where a.user_id = users.id)
  or exists (
    select 1 from audit_log l
    where l.organization_id = any((select string_to_array(current_setting('app.organization_ids', true), ',')::uuid[])::uuid[])
      and l.actor = users.id));
create policy made on users for insert to signum_app with check (true);
create policy themself on users for update to signum_app
  using (id = (select nullif(current_setting('app.user_id', true), '')::uuid));
create policy worker on users to signum_worker using (true) with check (true);

-- A password hash is inserted with a new person, read by signum_sign_in and replaced by signum_set_password: no query
-- of either role reads or replaces it. Only placeholders are deleted, by signum_forget_placeholder. The other columns
-- that a person may change about themselves are listed here.
revoke select, update, delete on users from signum_app, signum_worker;
grant select (id, created_at, updated_at, email, display_name, is_placeholder, last_login_at, origin_id) on users to signum_app, signum_worker;
grant update (updated_at, last_login_at) on users to signum_app, signum_worker;
revoke execute on function signum_sign_in(text), signum_account(text), signum_set_password(uuid, text, text, uuid) from signum_worker;

-- The wallets of visible people, except those who only appear in logs.
alter table user_wallets enable row level security;
create policy seen on user_wallets for select to signum_app using (
  user_id = (select nullif(current_setting('app.user_id', true), '')::uuid)
  or exists (select 1 from signum_acquainted a where a.user_id = user_wallets.user_id));
create policy themself on user_wallets to signum_app
  using (user_id = (select nullif(current_setting('app.user_id', true), '')::uuid))
  with check (user_id = (select nullif(current_setting('app.user_id', true), '')::uuid));
create policy worker on user_wallets to signum_worker using (true) with check (true);

-- Second factors and recovery codes are private to their person: no organization sees them. The operator's command
-- removes those of a person, and reads only whose they are.
do $$
declare t text;
begin
  foreach t in array array['factors', 'recovery_codes'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy themself on %I to signum_app
      using (user_id = (select nullif(current_setting(''app.user_id'', true), '''')::uuid))
      with check (user_id = (select nullif(current_setting(''app.user_id'', true), '''')::uuid))', t);
    execute format('create policy worker on %I to signum_worker using (true)', t);
    execute format('revoke all on %I from signum_worker', t);
    execute format('grant select (id, user_id), delete on %I to signum_worker', t);
  end loop;
end $$;

-- Rotation of keys encrypts the secrets of authenticator apps again, and reads nothing else of factors.
grant select (id, sealed), update (sealed) on factors to signum_worker;

-- Preferences are private to their person; the worker only sees who wants a daily email.
alter table preferences enable row level security;
create policy themself on preferences to signum_app
  using (user_id = (select nullif(current_setting('app.user_id', true), '')::uuid))
  with check (user_id = (select nullif(current_setting('app.user_id', true), '')::uuid));
create policy worker on preferences for select to signum_worker using (digest = 'daily');
revoke all on preferences from signum_worker;
grant select (user_id, digest, digest_on) on preferences to signum_worker;
