create table data_keys (
  purpose varchar not null,
  version integer not null,
  wrapped bytea,
  wrapped_by varchar not null,
  created_at timestamp with time zone default now() not null,
  retired_at timestamp with time zone,
  constraint pk_data_keys primary key (purpose, version)
);
create table wallet_keys (
  address varchar not null,
  sealed bytea not null,
  is_operator boolean default false not null,
  created_at timestamp with time zone default now() not null,
  constraint pk_wallet_keys primary key (address)
);
create unique index uq_wallet_keys_operator on wallet_keys using btree (is_operator) where is_operator;

-- Encrypted, and read by the process itself: no request needs them.
alter table data_keys enable row level security;
create policy worker on data_keys to signum_worker using (true) with check (true);
grant select, insert, update on data_keys to signum_worker;
alter table wallet_keys enable row level security;
create policy worker on wallet_keys to signum_worker using (true) with check (true);
grant select, insert, update, delete on wallet_keys to signum_worker;

-- As on every table with row-level security (investors.sql).
create policy investor on data_keys as restrictive to signum_app
  using ((select coalesce(current_setting('app.investor', true), '') = ''))
  with check ((select coalesce(current_setting('app.investor', true), '') = ''));
create policy investor on wallet_keys as restrictive to signum_app
  using ((select coalesce(current_setting('app.investor', true), '') = ''))
  with check ((select coalesce(current_setting('app.investor', true), '') = ''));

-- Rotation of keys encrypts the secrets of authenticator apps again, and reads nothing else of factors.
grant select (id, sealed), update (sealed) on factors to signum_worker;
