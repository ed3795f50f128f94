"""The entries of an asset's activity, from the tables of several verticals; read by name, because each belongs to
another one.
"""

import sqlalchemy as sa

_ENTRIES = sa.text("""
  with sent as (
    select distinct on (s.chain_eid, s.tx_hash) s.chain_eid, s.tx_hash, r.id, r.kind, r.created_by,
      r.created_at as requested_at
    from request_steps s join requests r on r.id = s.request_id
    where r.organization_id = :org and s.tx_hash is not null
      and split_part(r.kind, '.', 1) in ('asset', 'token', 'bridge', 'market', 'distribution')
    order by s.chain_eid, s.tx_hash, r.created_at
  ),
  requested as (select chain_eid, tx_hash from transactions where organization_id = :org),
  moved as (
    select t.*, r.id as request_id, r.kind, r.created_by,
      greatest(t.created_at, r.requested_at + interval '1 microsecond') as at
    from token_transfers t left join sent r on r.chain_eid = t.chain_eid and r.tx_hash = t.tx_hash
    where t.organization_id = :org and t.asset_id = :asset
  )
  select r.id,
    case
      when r.kind = 'token.mint' then 'mint' when r.kind = 'token.burn' then 'burn'
      when r.kind like 'bridge.%' or r.kind like 'token.%\\_path' then 'bridge'
      when r.kind like 'token.%' then 'control' when r.kind like 'market.%' then 'market'
      when r.kind like 'distribution.%' then 'distribution' when r.kind like 'order.%' then 'order' else 'operation'
    end as kind,
    r.created_at, r.title as name, r.kind as code, cast(r.status as text) as status,
    cast(null as bigint) as chain_eid, cast(null as text) as tx_hash, cast(null as uuid) as market_id,
    r.id as request_id, r.created_by, cast(null as text) as side, cast(null as numeric) as amount,
    cast(null as numeric) as price, cast(null as text) as actor, cast(null as text) as giver,
    cast(null as text) as receiver
  from requests r
  where r.organization_id = :org and (r.subject_type not in ('order', 'transfer') or r.kind = 'order.cancel') and (
    r.subject_id = :asset
    or r.subject_id in (select id from markets where organization_id = :org and asset_id = :asset)
    or r.subject_id in (select id from bridges where organization_id = :org and asset_id = :asset)
    or r.subject_id in (select id from distributions where organization_id = :org and asset_id = :asset)
    or r.kind = 'order.cancel' and r.subject_id in (
      select o.id from orders o join markets m on m.id = o.market_id
      where m.organization_id = :org and m.asset_id = :asset)
  )
  union all
  select t.id, 'transfer', t.created_at, null, null, cast(t.status as text), t.chain_eid, t.tx_hash, null,
    t.request_id, r.created_by, null, t.amount, null, t.from_address, t.from_address, t.to_address
  from transfers t left join requests r on r.id = t.request_id
  where t.organization_id = :org and t.asset_id = :asset
  union all
  select o.id, 'order', o.created_at, m.quote_symbol, cast(m.quote_decimals as text), cast(o.status as text),
    m.chain_eid, o.tx_hash, m.id, o.request_id, r.created_by, cast(o.side as text), o.amount, o.price, o.maker_address,
    case cast(o.side as text) when 'sell' then o.maker_address end,
    case cast(o.side as text) when 'buy' then o.maker_address end
  from orders o join markets m on m.id = o.market_id left join requests r on r.id = o.request_id
  where m.organization_id = :org and m.asset_id = :asset
  union all
  select t.id, 'trade', greatest(t.created_at, greatest(taker.created_at, maker.created_at) + interval '1 microsecond'),
    m.quote_symbol, cast(m.quote_decimals as text), null, m.chain_eid, t.tx_hash,
    m.id, null, r.created_by, null, t.amount, t.price, taker.maker_address,
    case cast(maker.side as text) when 'sell' then maker.maker_address else taker.maker_address end,
    case cast(maker.side as text) when 'sell' then taker.maker_address else maker.maker_address end
  from trades t join markets m on m.id = t.market_id
    left join orders maker on maker.market_id = m.id and maker.chain_order_id = t.maker_chain_id
    left join orders taker on taker.market_id = m.id and taker.chain_order_id = t.taker_chain_id
    left join requests r on r.id = taker.request_id
  where m.organization_id = :org and m.asset_id = :asset
  union all
  select s.id, 'rules', s.created_at, cast(s.version as text), null, null, s.chain_eid, s.tx_hash, null, null,
    r.created_by, null, null, null, null, null, null
  from asset_rule_sets s left join sent r on r.chain_eid = s.chain_eid and r.tx_hash = s.tx_hash
  where s.organization_id = :org and s.asset_id = :asset
  union all
  select d.id, 'distribution', d.created_at, d.name, cast(d.currency_decimals as text), cast(d.status as text),
    d.chain_eid, null, null, null,
    (select a.actor from audit_log a where a.organization_id = :org and a.subject_id = cast(d.id as text)
      and a.action = 'distribution.created' order by a.seq limit 1), d.currency_symbol, d.total_amount, null, null,
    null, null
  from distributions d
  where d.organization_id = :org and d.asset_id = :asset
  union all
  select c.id, 'claim', greatest(c.created_at, r.created_at + interval '2 microseconds'), d.currency_symbol,
    cast(d.currency_decimals as text), null, d.chain_eid,
    c.tx_hash, null, null, null, null, c.amount, null, c.address, d.distributor_address, c.address
  from distribution_claims c join distributions d on d.id = c.distribution_id
    left join requests r on r.id = d.request_id and r.kind = 'distribution.activate'
  where d.organization_id = :org and d.asset_id = :asset
  union all
  select b.id, 'bridge', b.created_at, source.display_name, destination.display_name, cast(b.status as text),
    b.source_chain_eid, b.source_tx_hash, null, b.request_id, r.created_by, null, coalesce(b.amount, 0), null, null,
    null, null
  from bridges b left join requests r on r.id = b.request_id
    left join chains source on source.xchain_eid = b.source_chain_eid
    left join chains destination on destination.xchain_eid = b.destination_chain_eid
  where b.organization_id = :org and b.asset_id = :asset and coalesce(r.kind, '') not like 'bridge.%'
  union all
  select t.id, 'funding', t.at, null, null, null, t.chain_eid, t.tx_hash, null, t.request_id, t.created_by,
    null, t.amount, null, t.from_address, t.from_address, t.to_address
  from moved t join distributions d on d.distributor_address = t.to_address and d.chain_eid = t.chain_eid
  where d.organization_id = :org and d.asset_id = :asset
  union all
  select s.id, 'funding', greatest(d.activated_at, r.created_at + interval '1 microsecond'), d.currency_symbol,
    cast(d.currency_decimals as text), null, d.chain_eid,
    s.tx_hash, null, r.id, r.created_by, null, d.total_amount, null, x.signer, x.signer, d.distributor_address
  from distributions d join requests r on r.subject_id = d.id and r.kind = 'distribution.activate'
    join request_steps s on s.request_id = r.id and s.name = 'distribution_active' and s.tx_hash is not null
    left join transactions x on (x.chain_eid, x.tx_hash) = (s.chain_eid, s.tx_hash)
  where d.organization_id = :org and d.asset_id = :asset and d.currency_address is not null
    and d.activated_at is not null and d.total_amount > 0
  union all
  select t.id, case t.from_address when :zero then 'mint' else 'burn' end, t.at, null, null, null, t.chain_eid,
    t.tx_hash, null, t.request_id, t.created_by, null, t.amount, null,
    case t.from_address when :zero then null else t.from_address end,
    case t.from_address when :zero then null else t.from_address end,
    case t.to_address when :zero then null else t.to_address end
  from moved t
  where :zero in (t.from_address, t.to_address) and coalesce(t.kind, 'asset.deploy') = 'asset.deploy'
    and not exists (
      select from bridges b where b.organization_id = :org and b.asset_id = :asset
        and t.tx_hash in (b.source_tx_hash, b.destination_tx_hash, b.return_tx_hash)
    )
  union all
  select t.id, 'transfer', t.created_at, null, null, null, t.chain_eid, t.tx_hash, null, null, null, null, t.amount,
    null, t.from_address, t.from_address, t.to_address
  from moved t
  where t.kind is null and :zero not in (t.from_address, t.to_address)
    and not exists (select from requested q where (q.chain_eid, q.tx_hash) = (t.chain_eid, t.tx_hash))
    and not exists (
      select from transfers s where s.organization_id = :org and s.asset_id = :asset and s.tx_hash = t.tx_hash
    )
    and not exists (
      select from markets m where m.organization_id = :org and m.asset_id = :asset
        and m.market_address in (t.from_address, t.to_address)
    )
    and not exists (
      select from distributions d where d.organization_id = :org and d.asset_id = :asset
        and d.distributor_address in (t.from_address, t.to_address)
    )
  union all
  select e.id, case e.name when 'VenueSet' then 'market' else 'control' end, e.created_at, e.name,
    case e.name when 'VenueSet' then e.arguments ->> 'allowed' else e.subject end, null, e.chain_eid, e.tx_hash, m.id,
    null, null, null, cast(e.arguments ->> 'amount' as numeric), null, null, null, null
  from chain_events e
    join asset_deployments d on d.asset_id = :asset and (d.chain_eid, d.token_address) = (e.chain_eid, e.address)
    left join markets m on (m.chain_eid, m.market_address) = (e.chain_eid, e.subject) and m.asset_id = :asset
  where d.organization_id = :org and e.name in ('Paused', 'Unpaused', 'Frozen', 'VenueSet')
    and not exists (select from requested q where (q.chain_eid, q.tx_hash) = (e.chain_eid, e.tx_hash))
  union all
  select e.id, 'market', e.created_at, e.name, e.arguments ->> 'halted', null, e.chain_eid, e.tx_hash, m.id, null, null,
    null, null, null, null, null, null
  from chain_events e
    join markets m on m.asset_id = :asset and (m.chain_eid, m.market_address) = (e.chain_eid, e.address)
  where m.organization_id = :org and e.name = 'Halted'
    and not exists (select from requested q where (q.chain_eid, q.tx_hash) = (e.chain_eid, e.tx_hash))
""").columns(
    id=sa.Uuid, kind=sa.Text, created_at=sa.DateTime(timezone=True), name=sa.Text, code=sa.Text, status=sa.Text,
    chain_eid=sa.BigInteger, tx_hash=sa.Text, market_id=sa.Uuid, request_id=sa.Uuid, created_by=sa.Uuid, side=sa.Text,
    amount=sa.Numeric, price=sa.Numeric, actor=sa.Text, giver=sa.Text, receiver=sa.Text,
)  # fmt: skip
ENTRIES = _ENTRIES.subquery("entries")
"""`name` and `code` depend on the kind: the title and kind of a request, the currency of an order, a trade, a claim
or a funding in another currency. A distribution has its currency in `side`. The time of a block has whole seconds:
what a request or an order caused is a microsecond later, so that it is listed after it.
`created_by` requested it; `actor` is the wallet that acted where no one requested it here. A mint or burn that was
requested is listed as its request; one that a bridge made, as the bridge. Of an event of a contract, `name` is the
event and `code` its argument or the account. Of a bridge that is part of another request, as of a market's deployment,
they are the chains. Transfers and events are those that no transaction of the organization
made: an investor's own transfer, or a halt by the key of the market's owner."""
