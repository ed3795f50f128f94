"""The statement that reads a cap table: holdings at the blocks of a time and, if wanted, of an earlier one.

Everything comes from indexed events with a block: transfers, trades and freezes. What a market holds for a seller is
the seller's: deposits count until they return, are sold, or the order ends. Markets, orders and trades are read by
table name, as in `backend.assets.holders`.
"""

_EVENTS = """
  places as (
    select * from unnest(cast(:eids as bigint[]), cast(:blocks as bigint[]), cast(:earlier as bigint[]))
      as p (chain_eid, block, earlier)
  ),
  venues as (select market_address from markets where asset_id = :asset and market_address is not null),
  deposits as (
    select chain_eid, block_number, from_address, to_address, amount from token_transfers
    where asset_id = :asset and from_address = any(array(select market_address from venues))
    union all
    select chain_eid, block_number, from_address, to_address, amount from token_transfers
    where asset_id = :asset and to_address = any(array(select market_address from venues))
  ),
  later as (
    select t.chain_eid, t.block_number, t.from_address, t.to_address, t.amount
    from places p join token_transfers t on t.asset_id = :asset and t.chain_eid = p.chain_eid
      and t.block_number > least(p.block, p.earlier)
  ),
  facts as (
    select chain_eid, null as block_number, address, balance as kept, 0 as moved, 0 as escrowed
    from token_balances where asset_id = :asset
    union all select chain_eid, block_number, to_address, 0, amount, 0 from later
    union all select chain_eid, block_number, from_address, 0, -amount, 0 from later
    union all select chain_eid, block_number, from_address, 0, 0, amount from deposits
      where to_address in (select market_address from venues)
    union all select chain_eid, block_number, to_address, 0, 0, -amount from deposits
      where from_address in (select market_address from venues)
    union all
    select m.chain_eid, t.block_number, o.maker_address, 0, 0, case when o.side = 'buy' then t.amount else -t.amount end
    from trades t join markets m on m.id = t.market_id
      join orders o on o.market_id = t.market_id and o.chain_order_id in (t.maker_chain_id, t.taker_chain_id)
    where m.asset_id = :asset
  ),
"""
"""What an account holds at a block is what it holds now, without what moved later (`moved`), and what markets hold for
it: deposits, until they are returned or traded (`escrowed`)."""
_HOLDINGS = """
  sums as materialized (
    select f.address, f.chain_eid,
      sum(f.kept) - coalesce(sum(f.moved) filter (where f.block_number > p.block), 0)
        + coalesce(sum(f.escrowed) filter (where f.block_number <= p.block), 0) as balance,
      coalesce(sum(f.escrowed) filter (where f.block_number <= p.block), 0) as escrowed,
      case when p.earlier is null then 0 else
        sum(f.kept) - coalesce(sum(f.moved) filter (where f.block_number > p.earlier), 0)
          + coalesce(sum(f.escrowed) filter (where f.block_number <= p.earlier), 0) end as earlier
    from facts f join places p on p.chain_eid = f.chain_eid
    where f.address <> :zero and f.address not in (select market_address from venues)
    group by f.address, f.chain_eid, p.earlier
  ),
  freezes as (
    select distinct on (c.chain_eid, c.subject) c.chain_eid, c.subject as address,
      cast(c.arguments ->> 'amount' as numeric) as amount
    from chain_events c join places p on p.chain_eid = c.chain_eid
      join asset_deployments d on d.asset_id = :asset and d.chain_eid = c.chain_eid and d.token_address = c.address
    where c.name = 'Frozen' and c.block_number <= p.block
    order by c.chain_eid, c.subject, c.block_number desc, c.log_index desc
  ),
  parts as materialized (
    select s.*, least(coalesce(f.amount, 0), greatest(s.balance - s.escrowed, 0)) as frozen
    from sums s left join freezes f on f.chain_eid = s.chain_eid and f.address = s.address
  ),
  owned as (
    select address, sum(balance) as balance, sum(escrowed) as escrowed, sum(frozen) as frozen, sum(earlier) as earlier
    from parts group by address having sum(balance) > 0 or sum(earlier) > 0
  ),
"""
_NAMED = """
  totals as (select coalesce(sum(balance), 0) as total from owned),
  exact as (
    select o.*, coalesce(div(o.balance * 10000, nullif(t.total, 0)), 0) as whole,
      coalesce(mod(o.balance * 10000, nullif(t.total, 0)), 0) as rest
    from owned o cross join totals t
  ),
  rounded_up as (
    select address from exact where balance > 0 order by rest desc, balance desc, address
    limit (select 10000 - sum(whole) from exact)
  ),
  distributors as (
    select distributor_address from distributions where organization_id = :org and distributor_address is not null
  ),
  known as %s (select id, name, email, country, wallet_address from parties where organization_id = :org),
  named as materialized (
    select e.*, p.id as party_id, p.country, coalesce(w.is_default, false) as is_treasury,
      not coalesce(w.is_default, false) and e.address not in (select distributor_address from distributors)
        as is_investor,
      case when cast(:search as text) is not null
        then lower(concat_ws(chr(31), p.name, p.email, w.label, p.country)) end as names,
      case when not cast(:compares as boolean) or balance = earlier then null when earlier = 0 then 'joined'
        when balance = 0 then 'left' when balance > earlier then 'grew' else 'shrank' end as change
    from exact e
      left join known p on p.wallet_address = e.address
      left join wallets w on w.organization_id = :org and w.address = e.address
  ),
  investors as (select * from named where is_investor),
  holding as (select * from investors where balance > 0),
  largest as (
    select balance, row_number() over (order by balance desc, address) as place
    from (select balance, address from holding order by balance desc, address limit 10) h
  ),
"""
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
_ANSWER = """
  select jsonb_build_object(
    'chains', (
      select coalesce(jsonb_object_agg(chain_eid, jsonb_build_object('held', cast(held as text),
        'escrowed', cast(escrowed as text), 'frozen', cast(frozen as text), 'holders', holders)), '{}')
      from (select chain_eid, sum(balance) as held, sum(escrowed) as escrowed, sum(frozen) as frozen,
        count(*) filter (where balance > 0) as holders from parts group by chain_eid) c),
    'sums', (
      select jsonb_build_object('total', cast(coalesce(sum(balance), 0) as text),
        'escrowed', cast(coalesce(sum(escrowed), 0) as text), 'frozen', cast(coalesce(sum(frozen), 0) as text))
      from owned),
    'investors', (
      select jsonb_build_object('count', count(*), 'balance', cast(coalesce(sum(balance), 0) as text),
        'top_1', (select cast(coalesce(sum(balance) filter (where place <= 1), 0) as text) from largest),
        'top_5', (select cast(coalesce(sum(balance) filter (where place <= 5), 0) as text) from largest),
        'top_10', (select cast(coalesce(sum(balance), 0) as text) from largest))
      from holding),
    'countries', (
      select coalesce(jsonb_agg(jsonb_build_object('country', country, 'holders', holders,
        'balance', cast(balance as text)) order by balance desc, country), '[]')
      from (select country, count(*) as holders, sum(balance) as balance from holding group by country) c),
    'changes', (
      select jsonb_build_object('joined', count(*) filter (where change = 'joined'),
        'left', count(*) filter (where change = 'left'), 'grew', count(*) filter (where change = 'grew'),
        'shrank', count(*) filter (where change = 'shrank')) from investors),
    'found', (select count(*) from found),
    'rows', (
      select coalesce(jsonb_agg(jsonb_build_object('address', address, 'balance', cast(balance as text),
        'escrowed', cast(escrowed as text), 'frozen', cast(frozen as text), 'earlier', cast(earlier as text),
        'chains', coalesce(chains, '[]'), 'party_id', party_id, 'country', country, 'is_treasury', is_treasury,
        'is_investor', is_investor, 'change', change,
        'share_bps', whole + case when address in (select address from rounded_up) then 1 else 0 end)
        order by balance desc, earlier desc, address desc), '[]')
      from page left join (
        select address, jsonb_agg(jsonb_build_object('chain_eid', chain_eid, 'balance', cast(balance as text))
          order by chain_eid) filter (where balance > 0) as chains
        from parts where address in (select address from page) group by address
      ) by_chain using (address)))
"""
_READ = f"with {_EVENTS} {_HOLDINGS} {_NAMED} {_PAGE} {_ANSWER}"
READ, READ_MANY = (_READ % how for how in ("not materialized", "materialized"))
"""One JSON object. The blocks are given per chain; `:earlier` is null per chain without a comparison. The second reads
all parties once instead of one per holder."""
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
