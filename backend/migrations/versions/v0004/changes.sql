-- The person whom the investor can contact, by name and email: who added them, while that person belongs to the staff
-- of the organization or of one above; otherwise the compliance officer or admin of the nearest organization who has
-- been there longest. Nothing else about staff is visible.
create function signum_investor_contact() returns table (name text, email text)
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(u.display_name, u.email)::text, u.email::text
  from members m, signum_path(m.organization_id) p
    join members s on s.organization_id = p.id and s.status = 'active' and s.role <> 'client'
    join users u on u.id = s.user_id and not u.is_placeholder and u.email is not null
  where m.id = nullif(current_setting('app.investor', true), '')::uuid
    and m.user_id = nullif(current_setting('app.user_id', true), '')::uuid
    and m.status = 'active' and m.role = 'client'
    and (s.user_id = m.added_by or s.role in ('compliance_officer', 'admin'))
  order by coalesce(s.user_id = m.added_by, false) desc, p.height, s.role = 'admin', s.created_at, s.id
  limit 1
$$;
revoke all on function signum_investor_contact() from public;
grant execute on function signum_investor_contact() to signum_app;
