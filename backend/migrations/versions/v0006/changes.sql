create table token_balances (
  organization_id uuid not null,
  asset_id uuid not null,
  chain_eid bigint not null,
  address varchar not null,
  balance numeric(78, 0) not null,
  constraint pk_token_balances primary key (asset_id, chain_eid, address),
  constraint fk_token_balances_organization_id foreign key (organization_id) references organizations (id),
  constraint fk_token_balances_asset_id foreign key (asset_id) references assets (id)
);
create index ix_token_balances_address on token_balances (organization_id, address);

alter table token_balances enable row level security;
create policy tenant on token_balances to signum_app
  using (organization_id = any((select string_to_array(current_setting('app.organization_ids', true), ',')::uuid[])::uuid[]))
  with check (organization_id = any((select string_to_array(current_setting('app.organization_ids', true), ',')::uuid[])::uuid[]));
create policy worker on token_balances to signum_worker using (true) with check (true);
-- As on every table with row-level security (investors.sql).
create policy investor on token_balances as restrictive to signum_app
  using ((select coalesce(current_setting('app.investor', true), '') = ''))
  with check ((select coalesce(current_setting('app.investor', true), '') = ''));
grant select on token_balances to signum_app;
grant select, insert, update, delete on token_balances to signum_worker;

create function token_balances_follow() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into token_balances as b (organization_id, asset_id, chain_eid, address, balance)
  select m.organization_id, m.asset_id, m.chain_eid, m.address,
    sum(cast(tg_argv[0] as integer) * m.amount)
  from (
    select organization_id, asset_id, chain_eid, to_address as address, amount from moved
    union all
    select organization_id, asset_id, chain_eid, from_address, -amount from moved
  ) m
  group by 1, 2, 3, 4
  order by 2, 3, 4
  on conflict (asset_id, chain_eid, address) do update set balance = b.balance + excluded.balance;
  return null;
end $$;
create trigger balances_inserted after insert on token_transfers referencing new table as moved
  for each statement execute function token_balances_follow('1');
create trigger balances_deleted after delete on token_transfers referencing old table as moved
  for each statement execute function token_balances_follow('-1');
create trigger balances_before_update after update on token_transfers referencing old table as moved
  for each statement execute function token_balances_follow('-1');
create trigger balances_after_update after update on token_transfers referencing new table as moved
  for each statement execute function token_balances_follow('1');
revoke all on function token_balances_follow() from public;

-- The triggers lock the table against writing until the end, so that no transfer is missed: the indexers wait, readers do
-- not.
insert into token_balances (organization_id, asset_id, chain_eid, address, balance)
select organization_id, asset_id, chain_eid, address, sum(amount)
from (
  select organization_id, asset_id, chain_eid, to_address as address, amount from token_transfers
  union all
  select organization_id, asset_id, chain_eid, from_address, -amount from token_transfers
) moved
group by 1, 2, 3, 4;
create index ix_token_balances_largest on token_balances (asset_id, balance, chain_eid, address);
analyze token_balances;
