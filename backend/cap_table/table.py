"""The statement that reads a cap table: holdings at the blocks of a time and, if wanted, of an earlier one.

Everything comes from indexed events with a block: transfers, trades and freezes. What a market holds for a seller is
the seller's: deposits count until they return, are sold, or the order ends. Markets, orders and trades are read by
table name, as in `backend.assets.holders`.

It reads the holders as rarely as it can: one query counts them and adds them up by country, for every sum.
"""

_CHANGES = """
  places as (
    select * from unnest(cast(:eids as bigint[]), cast(:blocks as bigint[]), cast(:earlier as bigint[]))
      as p (chain_eid, block, earlier)
  ),
  venues as (select market_address from markets where asset_id = :asset and market_address is not null),
  later as not materialized (
    select t.*, p.block, p.earlier from places p cross join lateral (
      select chain_eid, block_number, from_address, to_address, amount from token_transfers
      where asset_id = :asset and chain_eid = p.chain_eid and block_number > least(p.block, p.earlier)
        and block_number < 9223372036854775807 offset 0
    ) t
  ),
  moves as (
    select chain_eid, to_address as address, sum(amount) filter (where block_number > block) as moved,
      sum(amount) filter (where block_number > earlier) as earlier_moved
    from later group by chain_eid, to_address
    union all
    select chain_eid, from_address, -sum(amount) filter (where block_number > block),
      -sum(amount) filter (where block_number > earlier)
    from later group by chain_eid, from_address
  ),
  deposits as (
    select d.* from venues v cross join lateral (
      select chain_eid, block_number, from_address as address, amount from token_transfers
      where asset_id = :asset and to_address = v.market_address
      union all
      select chain_eid, block_number, to_address, -amount from token_transfers
      where asset_id = :asset and from_address = v.market_address
    ) d
  ),
  fills as (
    select m.chain_eid, t.block_number, o.maker_address as address,
      case when o.side = 'buy' then t.amount else -t.amount end as amount
    from trades t join markets m on m.id = t.market_id
      join orders o on o.market_id = t.market_id and o.chain_order_id in (t.maker_chain_id, t.taker_chain_id)
    where m.asset_id = :asset
  ),
  escrows as (
    select e.chain_eid, e.address, case when e.block_number <= p.block then e.amount end as escrowed,
      case when e.block_number <= p.earlier then e.amount end as earlier_escrowed
    from places p join (select * from deposits union all select * from fills) e on e.chain_eid = p.chain_eid
  ),
  changes as (
    select chain_eid, address, sum(moved) as moved, sum(earlier_moved) as earlier_moved, sum(escrowed) as escrowed,
      sum(earlier_escrowed) as earlier_escrowed
    from (
      select chain_eid, address, moved, earlier_moved, cast(null as numeric) as escrowed,
        cast(null as numeric) as earlier_escrowed from moves
      union all
      select chain_eid, address, null, null, escrowed, earlier_escrowed from escrows
    ) c group by chain_eid, address
  ),
"""
# The subquery is read for each chain, with its block. It has two bounds because the planner knows neither: of one it
# would expect a third of all transfers, and rather read those of the whole organization.
"""What differs from the balances of today, which nearly all accounts have: what moved after a block, and what markets
held for an account at it, which is its deposits until they are returned or traded. Columns are null rather than 0 where
few accounts have an amount: a sum skips those."""
_HOLDINGS = """
  freezes as (
    select distinct on (c.chain_eid, c.subject) c.chain_eid, c.subject as address,
      cast(c.arguments ->> 'amount' as numeric) as amount
    from chain_events c join places p on p.chain_eid = c.chain_eid
      join asset_deployments d on d.asset_id = :asset and d.chain_eid = c.chain_eid and d.token_address = c.address
    where c.name = 'Frozen' and c.block_number <= p.block
    order by c.chain_eid, c.subject, c.block_number desc, c.log_index desc
  ),
  sums as (
    select address, chain_eid, c.escrowed,
      coalesce(b.balance, 0) - coalesce(c.moved, 0) + coalesce(c.escrowed, 0) as balance,
      case when p.earlier is null then 0
        else coalesce(b.balance, 0) - coalesce(c.earlier_moved, 0) + coalesce(c.earlier_escrowed, 0) end as earlier
    from (select chain_eid, address, balance from token_balances where asset_id = :asset) b
      full join changes c using (chain_eid, address) join places p using (chain_eid)
    where address <> :zero and address not in (select market_address from venues)
  ),
  parts as materialized (
    select s.*,
      case when f.amount > 0 then least(f.amount, greatest(s.balance - coalesce(s.escrowed, 0), 0)) end as frozen
    from sums s left join freezes f on f.chain_eid = s.chain_eid and f.address = s.address
  ),
  owned as materialized (
    select address, balance, escrowed, frozen, earlier from parts
    where (select count(*) from places) = 1 and (balance > 0 or earlier > 0)
    union all
    select address, sum(balance), sum(escrowed), sum(frozen), sum(earlier) from parts
    where (select count(*) from places) > 1 group by address having sum(balance) > 0 or sum(earlier) > 0
  ),
"""
"""`parts` are the holdings on each chain, and `owned` those on all chains: the same where there is one."""
_NAMED = """
  totals as materialized (select nullif(sum(balance), 0) as total from owned),
  exact as materialized (
    select *, coalesce(div(balance * 10000, (select total from totals)), 0) as whole from owned
  ),
  rounded_up as (
    select address from exact where balance > 0
    order by balance * 10000 - whole * (select total from totals) desc, balance desc, address
    limit (select 10000 - sum(whole) from exact)
  ),
  distributors as (
    select distributor_address from distributions where organization_id = :org and distributor_address is not null
  ),
  known as not materialized (
    select id, name, email, country, wallet_address from parties where organization_id = :org %s
  ),
  named as materialized (
    select e.*, coalesce(p.id, f.id) as party_id, coalesce(p.country, f.country) as country,
      coalesce(w.is_default, false) as is_treasury,
      not coalesce(w.is_default, false) and e.address not in (select distributor_address from distributors)
        as is_investor,
      case when cast(:search as text) is not null
        then lower(concat_ws(chr(31), p.name, f.name, p.email, f.email, w.label, p.country, f.country)) end as names,
      case when not cast(:compares as boolean) or balance = earlier then null when earlier = 0 then 'joined'
        when balance = 0 then 'left' when balance > earlier then 'grew' else 'shrank' end as change
    from exact e
      left join known p on p.wallet_address = e.address
      left join wallets w on w.organization_id = :org and w.address = e.address
      left join lateral (
        select q.id, q.name, q.email, q.country from attestations a join parties q on q.id = a.party_id
        where p.id is null and a.organization_id = :org and a.wallet_address = e.address and a.attested_at is not null
        order by a.attested_at desc limit 1
      ) f on true
  ),
  counted as materialized (
    select is_investor, balance > 0 as is_holding, country, change, count(*) as holders, sum(balance) as balance,
      sum(escrowed) as escrowed, sum(frozen) as frozen
    from named group by 1, 2, 3, 4
  ),
  investors as (select * from counted where is_investor),
  holding as (select * from investors where is_holding),
  largest as (
    select balance, row_number() over (order by balance desc) as place
    from (select balance from named where is_investor and balance > 0 order by balance desc limit 10) h
  ),
"""
"""`f` is the party of a wallet that it no longer uses, such as a lost one: the one that was last attested with it."""
_PAGE = """
  found as (
    select * from named
    where (cast(:change as text) is null or is_investor and change = :change)
      and (cast(:search as text) is null
        or strpos(names, lower(cast(:search as text))) > 0
        or length(cast(:search as text)) >= 4 and starts_with(lower(address), lower(cast(:search as text))))
  ),
  page as (
    select * from found
    where cast(:balance as numeric) is null
      or (balance, earlier, address) < (cast(:balance as numeric), cast(:before as numeric), cast(:address as text))
    order by balance desc, earlier desc, address desc limit :most
  )
"""
# `is true` lets the planner look each holder up in a hash table of the page instead of comparing all with each of it.
_ANSWER = """
  select jsonb_build_object(
    'chains', (
      select coalesce(jsonb_object_agg(chain_eid, jsonb_build_object('held', cast(held as text),
        'escrowed', cast(escrowed as text), 'frozen', cast(frozen as text), 'holders', holders)), '{}')
      from (select chain_eid, sum(balance) as held, coalesce(sum(escrowed), 0) as escrowed,
        coalesce(sum(frozen), 0) as frozen, count(*) filter (where balance > 0) as holders
        from parts group by chain_eid) c),
    'sums', (
      select jsonb_build_object('total', cast(coalesce(sum(balance), 0) as text),
        'escrowed', cast(coalesce(sum(escrowed), 0) as text), 'frozen', cast(coalesce(sum(frozen), 0) as text))
      from counted),
    'investors', (
      select jsonb_build_object('count', coalesce(sum(holders), 0), 'balance', cast(coalesce(sum(balance), 0) as text),
        'top_1', (select cast(coalesce(sum(balance) filter (where place <= 1), 0) as text) from largest),
        'top_5', (select cast(coalesce(sum(balance) filter (where place <= 5), 0) as text) from largest),
        'top_10', (select cast(coalesce(sum(balance), 0) as text) from largest))
      from holding),
    'countries', (
      select coalesce(jsonb_agg(jsonb_build_object('country', country, 'holders', holders,
        'balance', cast(balance as text)) order by balance desc, country), '[]')
      from (select country, sum(holders) as holders, sum(balance) as balance from holding group by country) c),
    'changes', (
      select jsonb_build_object('joined', coalesce(sum(holders) filter (where change = 'joined'), 0),
        'left', coalesce(sum(holders) filter (where change = 'left'), 0),
        'grew', coalesce(sum(holders) filter (where change = 'grew'), 0),
        'shrank', coalesce(sum(holders) filter (where change = 'shrank'), 0)) from investors),
    'found', (select count(*) from found),
    'rows', (
      select coalesce(jsonb_agg(jsonb_build_object('address', address, 'balance', cast(balance as text),
        'escrowed', cast(coalesce(escrowed, 0) as text), 'frozen', cast(coalesce(frozen, 0) as text),
        'earlier', cast(earlier as text), 'chains', coalesce(chains, '[]'), 'party_id', party_id, 'country', country,
        'is_treasury', is_treasury, 'is_investor', is_investor, 'change', change,
        'share_bps', whole + case when address in (select address from rounded_up) then 1 else 0 end)
        order by balance desc, earlier desc, address desc), '[]')
      from page left join (
        select address, jsonb_agg(jsonb_build_object('chain_eid', chain_eid, 'balance', cast(balance as text))
          order by chain_eid) filter (where balance > 0) as chains
        from parts where (address in (select address from page)) is true group by address
      ) by_chain using (address)))
"""
_READ = f"with {_CHANGES} {_HOLDINGS} {_NAMED} {_PAGE} {_ANSWER}"
READ, READ_MANY = (_READ % how for how in ("", "offset 0"))
"""One JSON object. The blocks are given per chain; `:earlier` is null per chain without a comparison. The second reads
all parties once instead of one per holder: the planner joins nothing into a query with an offset."""
MEMORY = "select set_config('work_mem', '32MB', true)"
"""For the second: with the default, each intermediate result of many holders is written to disk."""
IN_TRANSIT = """
  with places as (
    select * from unnest(cast(:eids as bigint[]), cast(:blocks as bigint[])) as p (chain_eid, block)
  )
  select b.source_chain_eid, b.destination_chain_eid, sum(b.amount) as amount
  from bridges b join places s on s.chain_eid = b.source_chain_eid
    join token_transfers sent on sent.asset_id = b.asset_id and sent.chain_eid = b.source_chain_eid
      and sent.tx_hash = b.source_tx_hash and sent.to_address = :zero and sent.block_number <= s.block
  where b.asset_id = :asset and b.organization_id = :org and b.amount > 0
    and not exists (
      select from token_transfers back join places d on d.chain_eid = back.chain_eid
      where back.asset_id = b.asset_id and back.from_address = :zero and back.block_number <= d.block
        and (back.chain_eid = b.destination_chain_eid and back.tx_hash = b.destination_tx_hash
          or back.tx_hash = b.return_tx_hash))
  group by 1, 2 order by 1, 2
"""
