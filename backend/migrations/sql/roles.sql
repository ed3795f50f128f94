do $$
begin
  if not exists (select from pg_roles where rolname = 'signum_app') then create role signum_app nologin; end if;
  if not exists (select from pg_roles where rolname = 'signum_worker') then create role signum_worker nologin; end if;
  -- The owner's connections enter these roles; a superuser may anyway.
  execute format('grant signum_app, signum_worker to %I', current_user);
end $$;
grant usage on schema public to signum_app, signum_worker;
grant select, insert, update, delete on all tables in schema public to signum_app, signum_worker;
revoke all on schema_version from signum_app, signum_worker;
