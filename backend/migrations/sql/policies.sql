-- Every table with an organization_id is closed to signum_app but for the organizations named in
-- app.organization_ids. The scalar subselect is computed once a statement, so the index is used.
do $$
declare t text;
begin
  for t in
    select c.table_name from information_schema.columns c
    where c.table_schema = 'public' and c.column_name = 'organization_id' and c.table_name <> 'sessions'
  loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy tenant on %I to signum_app
      using (organization_id = any((select string_to_array(current_setting(''app.organization_ids'', true), '','')::uuid[])::uuid[]))
      with check (organization_id = any((select string_to_array(current_setting(''app.organization_ids'', true), '','')::uuid[])::uuid[]))', t);
    execute format('create policy worker on %I to signum_worker using (true) with check (true)', t);
  end loop;
end $$;

alter table organizations enable row level security;
create policy tenant on organizations to signum_app
  using (id = any((select string_to_array(current_setting('app.organization_ids', true), ',')::uuid[])::uuid[]))
  with check (id = any((select string_to_array(current_setting('app.organization_ids', true), ',')::uuid[])::uuid[]));
create policy worker on organizations to signum_worker using (true) with check (true);

-- The operator's: no organization is shown another's differences.
alter table reconciliations enable row level security;
create policy worker on reconciliations to signum_worker using (true) with check (true);

-- Subjects of alarms may be one organization's: the API shows the chain's alarms through the worker's role only.
alter table chain_alarms enable row level security;
create policy worker on chain_alarms to signum_worker using (true) with check (true);

-- The indexer's own list, of every organization's contracts.
alter table followed_contracts enable row level security;
create policy worker on followed_contracts to signum_worker using (true) with check (true);
