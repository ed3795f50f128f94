-- The balance of each account of a token is the sum of its transfers. It is kept here as they change, whichever version
-- writes them, so that a cap table does not add up every transfer. Only the indexer writes transfers, one process per
-- chain; rows are still locked in one order.
revoke insert, update, delete, truncate, references, trigger on token_balances from signum_app;

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
