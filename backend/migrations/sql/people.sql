-- People belong to no organization. signum_app sees the one who is signed in (app.user_id), those who are in the
-- organizations it has entered or are staff of those above, and whoever has left a trace in their logs, so that a name
-- stays beside what somebody did. Of who has not agreed to a membership yet it sees nothing.

-- By a view, because nobody sees the members of the organizations above; what it gives of them is filtered here. The
-- scalar subselects are computed once a statement.
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

-- A password's hash goes in with a new person. It comes out by signum_sign_in, and another one goes in by
-- signum_set_password: no query of either role reads or replaces it. Nobody is deleted but placeholders, by
-- signum_forget_placeholder. What else a person may change of themself is named here.
revoke select, update, delete on users from signum_app, signum_worker;
grant select (id, created_at, updated_at, email, display_name, is_placeholder, last_login_at) on users to signum_app, signum_worker;
grant update (updated_at, last_login_at) on users to signum_app, signum_worker;
revoke execute on function signum_sign_in(text), signum_account(text), signum_set_password(uuid, text, text, uuid) from signum_worker;

-- The wallets of whoever is seen, but for those who have only left a trace.
alter table user_wallets enable row level security;
create policy seen on user_wallets for select to signum_app using (
  user_id = (select nullif(current_setting('app.user_id', true), '')::uuid)
  or exists (select 1 from signum_acquainted a where a.user_id = user_wallets.user_id));
create policy themself on user_wallets to signum_app
  using (user_id = (select nullif(current_setting('app.user_id', true), '')::uuid))
  with check (user_id = (select nullif(current_setting('app.user_id', true), '')::uuid));
create policy worker on user_wallets to signum_worker using (true) with check (true);

-- Second factors and recovery codes are their person's alone: no organization sees them. The operator's command removes
-- those of a person, and reads no more of them than whose they are.
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
