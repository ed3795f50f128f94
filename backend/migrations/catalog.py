"""The schema as PostgreSQL's catalog has it: every object's definition, for comparison."""

import hashlib
import re

import sqlalchemy as sa

_SHOWN = re.compile(r"::(text|character varying)(\[\])?|[()\s]")
OWN = ("schema_version", "schema_state")
"""Tables of the migrations themselves."""
# Rights are those of Signum's roles and of everyone: an operator may give others, such as a reporting role, their own.
# A restored dump has the same checks and predicates with other casts and parentheses, so these are not compared.
_OBJECTS = sa.text(r"""
with roles(oid, role) as (
  select oid, rolname from pg_roles where rolname in ('signum_app', 'signum_worker') union all select 0, 'public'
), foreign_objects as (
  select objid from pg_depend where deptype = 'e' and classid in ('pg_class'::regclass, 'pg_proc'::regclass)
), tables as (
  select c.oid, c.relname as name, c.relkind, c.relowner, c.relacl, c.relrowsecurity, c.relforcerowsecurity,
    c.reloptions
  from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
    and c.relname <> all(:own) and c.oid not in (select objid from foreign_objects)
), functions as (
  select p.* from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prokind in ('f', 'p')
    and p.oid not in (select objid from foreign_objects)
)
select 'table ' || t.name, concat_ws(' ', t.relkind, t.relrowsecurity, t.relforcerowsecurity, t.reloptions::text,
  case when t.relkind in ('v', 'm') then pg_get_viewdef(t.oid) end, (
    select string_agg(concat_ws(' ', r.role, a.privilege_type), ', ' order by r.role, a.privilege_type)
    from aclexplode(t.relacl) a join roles r on r.oid = a.grantee)) from tables t
union all
select 'column ' || t.name || '.' || a.attname, concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull,
  a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid), (
    select string_agg(concat_ws(' ', r.role, x.privilege_type), ', ' order by r.role, x.privilege_type)
    from aclexplode(a.attacl) x join roles r on r.oid = x.grantee)) from tables t
  join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
union all
select 'index ' || i.relname, x.indisvalid || regexp_replace(
  pg_get_indexdef(x.indexrelid), '::(text|character varying)(\[\])?|[()]', '', 'g') from tables t
  join pg_index x on x.indrelid = t.oid join pg_class i on i.oid = x.indexrelid
union all
select 'constraint ' || t.name || '.' || c.conname, c.convalidated || regexp_replace(
  pg_get_constraintdef(c.oid), '::(text|character varying)(\[\])?|[()]', '', 'g') from tables t
  join pg_constraint c on c.conrelid = t.oid and c.contype in ('c', 'f', 'p', 'u', 'x')
union all
select 'policy ' || t.name || '.' || p.polname, concat_ws(' ', p.polcmd, p.polpermissive, (
  select string_agg(role, ',' order by role) from roles where oid = any(p.polroles)),
  pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)) from tables t
  join pg_policy p on p.polrelid = t.oid
union all
select 'trigger ' || t.name || '.' || g.tgname, concat_ws(' ', g.tgenabled, pg_get_triggerdef(g.oid)) from tables t
  join pg_trigger g on g.tgrelid = t.oid and not g.tgisinternal
union all
select 'function ' || p.oid::regprocedure, concat_ws(' ', pg_get_functiondef(p.oid), (
  select string_agg(concat_ws(' ', r.role, a.privilege_type), ', ' order by r.role)
  from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
  join roles r on r.oid = a.grantee)) from functions p
""").bindparams(own=list(OWN))
FORMAT = hashlib.sha256(_OBJECTS.text.encode()).hexdigest()[:16]
"""Identifies how definitions are read."""


def objects(connection: sa.Connection) -> dict[str, str]:
    """Return the digest of each object's definition, by its kind and name."""
    connection.execute(sa.text("set local search_path = public, pg_catalog"))
    return {name: _digest(definition) for name, definition in connection.execute(_OBJECTS)}


def differences(expected: dict[str, str], found: dict[str, str]) -> list[str]:
    """Return what is missing, what is additional and what is defined otherwise, sorted by name."""
    lines = {name: f"{name} is missing" for name in expected.keys() - found.keys()}
    lines |= {name: f"{name} is not Signum's" for name in found.keys() - expected.keys()}
    lines |= {n: f"{n} differs" for n in expected.keys() & found.keys() if expected[n] != found[n]}
    return [lines[name] for name in sorted(lines)]


def _digest(definition: str) -> str:
    """PostgreSQL shows an expression with other casts and parentheses after a dump was restored."""
    return hashlib.sha256(_SHOWN.sub("", definition).encode()).hexdigest()[:16]
