-- The number of organizations directly below one is kept here as they are created and moved, whichever version writes them:
-- a page that shows an organization with 200,000 below it does not count them.
create function organizations_count_children() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update organizations o set child_count = o.child_count - 1 where o.id = old.parent_id;
  update organizations o set child_count = o.child_count + 1 where o.id = new.parent_id;
  return null;
end $$;
create trigger count_children after insert or delete or update of parent_id on organizations
  for each row execute function organizations_count_children();
revoke all on function organizations_count_children() from public;
