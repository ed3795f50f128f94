do $$
begin
  if not exists (select from pg_roles where rolname = 'signum_app') then create role signum_app nologin; end if;
  if not exists (select from pg_roles where rolname = 'signum_worker') then create role signum_worker nologin; end if;
end $$;
grant usage on schema public to signum_app, signum_worker;
grant select, insert, update, delete on all tables in schema public to signum_app, signum_worker;
revoke insert, update, delete on schema_version from signum_app, signum_worker;
-- Every tenant relies on these tables, and no policy closes them. Only the worker's role records what is true of a chain.
revoke insert, update, delete on chains, chain_contracts, cursors, signers from signum_app;

-- Whether the connection is a worker's, also inside functions that run as the owner. Decided by the login role, which
-- no statement of the session can change, unlike the setting `role`.
create function signum_is_worker() returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
  select pg_has_role(session_user, 'signum_worker', 'member')
$$;
