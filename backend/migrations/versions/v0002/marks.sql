-- What search finds a record by, as an index of each table has it. Marks are every three characters in a row of its
-- names; chr(31) stands for spaces and the ends of names.
create function signum_marks(variadic names text[]) returns text[]
language plpgsql immutable parallel safe cost 1000 set search_path = pg_catalog, pg_temp as $$
declare
  characters constant text[] :=
    string_to_array(chr(31) || replace(lower(array_to_string(names, chr(31))), ' ', chr(31)) || chr(31), null);
  marks text[] := '{}';
begin
  for i in 1 .. cardinality(characters) - 2 loop
    marks[i] := characters[i] || characters[i + 1] || characters[i + 2];
  end loop;
  return marks;
end $$;

-- The marks that every name with these words has. Two characters are the beginning of a word; null for a single one.
create function signum_parts(words text) returns text[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select case length(words) when 1 then null when 2 then array[chr(31) || replace(lower(words), ' ', chr(31))] else (
    select array_agg(distinct replace(lower(substr(words, i, 3)), ' ', chr(31))) from generate_series(1, length(words) - 2) i) end
$$;

-- Whole names and codes (IDs, addresses, hashes) of a record.
create function signum_codes(variadic codes text[]) returns tsvector
language sql immutable parallel safe cost 100 set search_path = pg_catalog, pg_temp as $$
  select array_to_tsvector(array(select lower(c) from unnest(codes) c where c <> ''))
$$;

-- The query for a code: the whole one, or its beginning (`:*`).
create function signum_code(code text, ending text) returns tsquery
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select (quote_literal(replace(lower(code), '\', '\\')) || ending)::tsquery
$$;

revoke all on function signum_marks(text[]) from public;
grant execute on function signum_marks(text[]) to signum_app, signum_worker;
revoke all on function signum_parts(text) from public;
grant execute on function signum_parts(text) to signum_app, signum_worker;
revoke all on function signum_codes(text[]) from public;
grant execute on function signum_codes(text[]) to signum_app, signum_worker;
revoke all on function signum_code(text, text) from public;
grant execute on function signum_code(text, text) to signum_app, signum_worker;
