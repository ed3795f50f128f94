-- A text without capitals and accents, which is how search compares: `Émile` is `emile`, `Straße` is `strasse`.
create or replace function signum_plain(words text) returns text
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp as $$
  select case when octet_length(words) = length(words) then lower(words) else
    coalesce(nullif(replace(replace(replace(replace(translate(
      lower(normalize(regexp_replace(normalize(words, NFKD), '[\u0300-\u036f]', '', 'g'), NFC)),
      'ØøŁłĐđÐðĦħŦŧıÆŒÞ', 'oollddddhhttiæœþ'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), ''), words) end
$$;

-- What search finds a record by, as an index of each table has it. Marks are every three characters in a row of its
-- plain names, and the first one of each word; chr(31) stands for spaces and the ends of names.
create or replace function signum_name_marks(variadic names text[]) returns text[]
language plpgsql immutable parallel safe cost 1000 set search_path = pg_catalog, pg_temp as $$
declare
  edge constant text := chr(31);
  characters constant text[] := string_to_array(
    edge || replace(public.signum_plain(array_to_string(names, edge)), ' ', edge) || edge, null);
  marks text[] := '{}';
begin
  for i in 1 .. cardinality(characters) - 2 loop
    marks := array_append(marks, characters[i] || characters[i + 1] || characters[i + 2]);
    if characters[i] = edge then
      marks := array_append(marks, edge || characters[i + 1]);
    end if;
  end loop;
  return marks;
end $$;

-- The marks that every name with each word of a plain text has, in any order. A word of one or two characters is the
-- beginning of one; null for a text of one character.
create or replace function signum_word_parts(words text) returns text[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select array_agg(distinct case when length(w) < 3 then chr(31) || w else substr(w, i, 3) end)
  from unnest(string_to_array(words, ' ')) w, generate_series(1, greatest(length(w) - 2, 1)) i
  where w <> '' and length(words) > 1
$$;

-- Patterns of `like` for each word of a text: a plain name after a space is like all of them if it has every word. One
-- of one or two characters is the beginning of a word.
create or replace function signum_patterns(words text) returns text[]
language sql immutable parallel safe set search_path = public, pg_temp as $$
  select array_agg(case when length(w) < 3 then '% ' else '%' end || regexp_replace(w, '([\\%_])', '\\\1', 'g') || '%')
  from unnest(string_to_array(signum_plain(words), ' ')) w where w <> ''
$$;

-- Whole plain names and codes of a record.
create or replace function signum_name_codes(variadic names text[]) returns tsvector
language sql immutable parallel safe cost 100 set search_path = pg_catalog, pg_temp as $$
  select array_to_tsvector(array(select public.signum_plain(n) from unnest(names) n where n <> ''))
$$;

revoke all on function signum_plain(text) from public;
grant execute on function signum_plain(text) to signum_app, signum_worker;
revoke all on function signum_name_marks(text[]) from public;
grant execute on function signum_name_marks(text[]) to signum_app, signum_worker;
revoke all on function signum_word_parts(text) from public;
grant execute on function signum_word_parts(text) to signum_app, signum_worker;
revoke all on function signum_patterns(text) from public;
grant execute on function signum_patterns(text) to signum_app, signum_worker;
revoke all on function signum_name_codes(text[]) from public;
grant execute on function signum_name_codes(text[]) to signum_app, signum_worker;
