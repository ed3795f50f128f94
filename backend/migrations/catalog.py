"""The schema as PostgreSQL's catalog has it: every object's definition, for comparison."""

import hashlib
import re

import sqlalchemy as sa

_SHOWN = re.compile(r"::(text|character varying)(\[\])?|[()\s]")
OWN = ("schema_version", "schema_state")
"""Tables of the migrations themselves."""
_OBJECTS = sa.text("""
with tables as (
  select c.oid, c.relname as name, c.relrowsecurity, c.relforcerowsecurity from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> all(:own)
), rights(role) as (
  select rolname from pg_roles where rolname in ('signum_app', 'signum_worker')
)
select 'table ' || t.name, concat_ws(' ', t.relrowsecurity, t.relforcerowsecurity, (
  select string_agg(concat_ws(' ', r.role, has_table_privilege(r.role, t.oid, 'select'),
    has_table_privilege(r.role, t.oid, 'insert'), has_table_privilege(r.role, t.oid, 'update'),
    has_table_privilege(r.role, t.oid, 'delete')), ', ' order by r.role) from rights r)) from tables t
union all
select 'column ' || t.name || '.' || a.attname, concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull,
  a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid)) from tables t
  join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
union all
select 'index ' || i.relname, pg_get_indexdef(x.indexrelid) from tables t join pg_index x on x.indrelid = t.oid
  join pg_class i on i.oid = x.indexrelid
union all
select 'constraint ' || t.name || '.' || c.conname, pg_get_constraintdef(c.oid) from tables t
  join pg_constraint c on c.conrelid = t.oid and c.contype <> 'n'
union all
select 'policy ' || t.name || '.' || p.polname, concat_ws(' ', p.polcmd, p.polpermissive, (
  select string_agg(rolname, ',' order by rolname) from pg_roles where oid = any(p.polroles)),
  pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)) from tables t
  join pg_policy p on p.polrelid = t.oid
union all
select 'trigger ' || t.name || '.' || g.tgname, concat_ws(' ', g.tgenabled, pg_get_triggerdef(g.oid)) from tables t
  join pg_trigger g on g.tgrelid = t.oid and not g.tgisinternal
union all
select 'function ' || p.oid::regprocedure, concat_ws(' ', p.prosrc, p.prosecdef, p.provolatile, p.proconfig, (
  select string_agg(concat_ws(' ', r.role, has_function_privilege(r.role, p.oid, 'execute')), ', ' order by r.role)
  from rights r)) from pg_proc p where p.pronamespace = 'public'::regnamespace
""").bindparams(own=list(OWN))


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
