-- Arithmetic at the ends of the types' ranges: the value or the error, row by row.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- The outcome, rows or error, of an aggregate over each row alone; on the device it
-- may be that PostgreSQL's plan had to give it.
CREATE FUNCTION public.outcome(query text, mode text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN array_to_string(rows_of(query, mode), ' ');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION public.check_rows(expr text, t text DEFAULT 'extremes') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	s text;
	row_id int;
	q text;
	got text;
	expected text;
	values int := 0;
	errors int := 0;
	declined int := 0;
BEGIN
	FOREACH s IN ARRAY '{cached,delta}'::text[] LOOP
		PERFORM set_config('search_path', s || ', public', true);
		FOR row_id IN 1 .. 10 LOOP
			q := format('SELECT max(%s), count(*) FROM %I WHERE id = %s', expr, t, row_id);
			got := outcome(q, 'require');
			IF got LIKE '0A000 query is not offloaded%"require"' THEN
				RETURN 'not offloaded';
			ELSIF got LIKE '%query is not offloaded%' THEN
				got := outcome(q, 'allow');
				declined := declined + 1;
			END IF;
			expected := outcome(q, 'forbid');
			IF got IS DISTINCT FROM expected THEN
				RETURN format('%s, row %s: DIFFERENT: %s, not %s', s, row_id, got, expected);
			END IF;
			IF got ~ '^[0-9A-Z]{5} ' THEN
				errors := errors + 1;
			ELSE
				values := values + 1;
			END IF;
		END LOOP;
	END LOOP;
	RETURN concat_ws(', ', format('ok, %s values, %s errors', values, errors), nullif(declined, 0) || ' fell back');
END $$;

SELECT e, check_rows(e) FROM unnest(ARRAY[
	'-i2', '-i4', '-i8', 'abs(i2)', 'abs(i4)', 'abs(i8)', 'i2 + 1::int2', 'i4 + 1', 'i8 + 1', 'i2 - 1::int2', 'i4 - 1', 'i8 - 1', 'i2 * 2::int2', 'i4 * 2', 'i8 * 2', 'i2 * i2', 'i4 * i4', 'i8 * i8', 'i2 + i2', 'i4 + i4', 'i8 + i8', 'i2 - i4', 'i4 - i8', 'i8 - i2',
	'i2 / (-1)::int2', 'i4 / -1', 'i8 / -1', 'i2 % (-1)::int2', 'i4 % -1', 'i8 % -1', 'i4 / i4', 'i8 / i8', 'i4 % i2', 'i8 % i4', '5 / i2', 'i4::int2', 'i8::int4', 'i8::int2', 'i2::int8 * i4', 'i4::int8 * i4', 'i4::int8 * i4 * 4', 'i8 - i8', 'i8 + i4 - i8', '(i4 + i8) / 2', '- (i4 - 1)', 'i4 & i2', '~ i8', 'i4 << 1', 'i8 >> 3', 'i4 # -1'
]) AS e;
SELECT e, check_rows(e) FROM unnest(ARRAY[
	'i2::numeric', 'i8::numeric', 'i8::numeric * i8', 'i8::numeric * i4 * i2', 'n * n', 'n * n * n', 'n + 99999999999999.9999', '-n', 'abs(n)', 'n::int8', 'n::int4', 'n::int2', 'n::numeric(10,2)', 'n::numeric(5,0)', 'n::numeric(18,6)', '(n * 10000)::int8', 'n::float8', 'n * 0.0001', 'i8 + n', 'i8 * 0.5', '(i8 * 0.5)::int8', '(i4 + 0.5)::int4', '(i2 + 0.5)::int2', '(i8 + 0.5)::int8', 'n - i8'
]) AS e;
SELECT e, check_rows(e) FROM unnest(ARRAY[
	'-f8', '-f4', 'abs(f8)', 'f8 * 2', 'f4 * 2::float4', 'f8 + f8', 'f4 + f4', 'f8 - f8', 'f8 * f8', 'f8 / f8', 'f8 / 0', '0 / f8', '1 / f8', 'f8 / 1e300', 'f8 * 1e-300', 'f4 * 1e-30::float4', 'f8::float4', 'f4::float8', 'f8::int4', 'f8::int8', 'f4::int4', 'f4::int2', 'f4::int8', 'i8::float8', 'i8::float4', 'i4::float4', 'i8::float8::int8', '(i8::float8 / 2)::int8', '(i4::float8 + 0.5)::int4', 'f4 * f8', 'f8 + i8'
]) AS e;
SELECT e, check_rows(e) FROM unnest(ARRAY[
	'd + 1', 'd - 1', 'd + 2147483647', 'd - 2147483647', 'd - date ''2000-01-01''', 'date ''2000-01-01'' - d', 'd - d', 'd::timestamp', 'ts::date', 'd + i4', 'd - i2', 'd + interval ''1 day''', 'd - interval ''1 month''', 'd + interval ''1000000 years''', 'extract(year FROM d)', 'extract(epoch FROM d)', 'extract(century FROM d)', 'extract(julian FROM d)', 'date_trunc(''month'', d)', 'date_trunc(''century'', d)', 'date_part(''month'', d)', 'd::text', 'to_char(d, ''YYYY-MM-DD BC'')', 'isfinite(d)::int', 'd::timestamptz', 'GREATEST(d, ''2000-01-01'')', 'LEAST(ts, d)', 'COALESCE(d, ''infinity'')', 'CASE WHEN d > ts THEN 1 WHEN d = ts THEN 2 WHEN d < ts THEN 3 END', 'CASE WHEN ts < d + 1 THEN 1 ELSE 0 END', '(d = ts)::int', '(ts >= d)::int', '(d IS DISTINCT FROM ts)::int'
]) AS e;
SELECT e, check_rows(e) FROM unnest(ARRAY[
	'length(tx)', 'upper(tx)', 'tx || tx', 'tx::varchar(1)', 'substr(tx, 1, 1)', 'ascii(tx)', 'md5(tx)', 'tx::int4', 'tx::date', 'bc::text', 'bc || ''|''', 'length(bc)', 'octet_length(bc)', 'repeat(tx, 100)', 'repeat(tx, 1000000)', 'chr(i2)', 'left(tx, -1)', 'reverse(tx)', 'to_hex(i4)', 'lpad(bc, 6, ''*'')', 'quote_literal(tx)', 'encode(tx::bytea, ''hex'')', 'regexp_replace(tx, ''.'', ''\\0\\0'', ''g'')', '(tx ~ ''^a'' IS TRUE)::int', '(tx LIKE ''a%'')::int', '(bc = ''a'')::int', '(tx = ''a'')::int', '(bc < ''b'')::int'
]) AS e;
-- domains and lengths are checked by casts
SELECT e, check_rows(e, 'types') FROM unnest(ARRAY['(i4 * 1000)::small_int', '(i4 * 1000000)::small_int', 'n::money_amount', '(n * 1e12)::money_amount', 'n::numeric(4,2)', 'n::numeric(2,0)', 'tx::code_text', 'nt::char(1)', 'tx::varchar(3)', 'd::day', 'i4::bool::int', 'b::int', '(''2'' || nn)::int']) AS e;
DROP FUNCTION public.outcome, public.check_rows;

-- values outside of what their type holds are indexes of nothing
SELECT e, check_same(format('SELECT %s AS x, count(*) FROM types GROUP BY 1', e)) FROM unnest(ARRAY['date ''infinity'' + nn', 'date ''-infinity'' - nn', 'd + 2145000000 - 2145000000', 'date ''5874890-01-01'' + nn']) AS e;
SELECT e, check_error(format('SELECT %s AS x, count(*) FROM types GROUP BY 1', e)) FROM unnest(ARRAY['i2 + 32700::int2', 'nn::int2 * 3000::int2', '(f8 + 32700)::int2']) AS e;
SELECT check_error('SELECT count(*) FROM types a JOIN types b ON a.nn::int2 + 32760::int2 = b.nn::int2 + 32760::int2');
SELECT check_error('SELECT count(*) FROM types a JOIN shop ON a.nn::int2 + 32760::int2 = s_id');
