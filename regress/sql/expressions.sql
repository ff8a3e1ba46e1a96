-- Expressions: arithmetic, casts, logic, choices, dates, functions of one column,
-- each over every row of a table with NULLs, compared row by row.
--
-- A plain list of outputs would be computed above the scan, by PostgreSQL: so each
-- expression is aggregated, one row a group, or is a key of the groups.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- Four expressions a query, which is one kernel.
CREATE FUNCTION in_fours(aggregates text, expressions text[]) RETURNS TABLE (asked text, answer text) LANGUAGE sql AS $$
SELECT string_agg(e, '; ' ORDER BY i), check_same(format('SELECT id, %s FROM types GROUP BY id', string_agg(format(aggregates, e), ', ' ORDER BY i)))
FROM unnest(expressions) WITH ORDINALITY AS t (e, i) GROUP BY (i - 1) / 4 ORDER BY min(i) $$;

-- arithmetic
SELECT * FROM in_fours('max(%s)', ARRAY[
	'i2 + i2', 'i2 + i4', 'i4 + i8', 'i8 - i4', 'i4 - i4', 'i2 * i2', 'i2::int4 * i2', 'i4 * 3', 'i8 * nn', '-i2', '-i4', '-i8', '+i4',
	'abs(i2)', 'abs(i4)', '@ i8', 'i4 / 7', 'i4 / -7', 'i4 % 7', 'i4 % -7', 'i2 / 3::int2', 'i8 % 1000', 'i8 / 10007',
	'i4 / (nn + 1)', 'i4 % (nn + 1)', 'i4 / nullif(nn, 0)', 'i2 + 1', 'i4 + 10000000000', 'i4 * i4::int8 * i2',
	'(i4 + nn) * (i4 - nn)', 'di + di', 'di * 2'
]);
SELECT * FROM in_fours('max(%1$s), sum(%1$s)', ARRAY[
	'n + n', 'n - n0', 'n * n', 'n * n0 * 0.5', '-n', 'abs(n)', 'n + 1', 'n * i4', 'n * (1 - 0.05)', 'n * 1.000',
	'nw + n', 'n + 0.00001', 'n * 0', 'n - n', 'dn * 3.10', 'dn + n', 'n0 * 1.5', 'i4 + 0.5', 'i8 * 1.25', 'n * n * n'
]);
SELECT * FROM in_fours('max(%s)', ARRAY[
	'f8 + f8', 'f8 - 0.1', 'f8 * f8', 'f8 / 3', 'f4 + f4', 'f4 * f4', 'f4 / 7::float4', 'f4 + f8', 'f4 - 0.1', '-f8', '-f4', 'abs(f8)',
	'f8 / (nn + 1)', 'f8 * i4', 'f4 * i2', 'f8 + n::float8', 'f4 / 0.1', 'f8 * 1e300 * 0', 'f8 - f8', 'f8 * f4'
]);

-- casts
SELECT * FROM in_fours('max(%s)', ARRAY[
	'i2::int4', 'i2::int8', 'i4::int8', 'i4::int2', 'nn::int2', 'i8::numeric', 'i4::numeric', 'i2::numeric', 'i4::float8', 'i4::float4', 'i8::float8', 'i8::float4', 'i2::float4',
	'f4::float8', '(f8 / 100)::float4', 'f8::int4', 'f4::int4', 'f8::int8', 'f4::int2', '(f8 / 1000)::int2', 'n::int4', 'n::int8', '(n / 1)::int4', 'n::float8',
	'n::numeric(12,1)', 'n::numeric(12,0)', 'n::numeric(14,4)', 'n::numeric', 'nw::numeric(30,2)', 'n0::int2', 'i4::numeric(10,2)', 'dn::numeric(8,1)',
	'b::int4', 'd::timestamp', 'ts::date', 'tx::varchar', 'vc::text', 'dt::text', 'di::int8', 'dd::timestamp'
]);
-- halves round away from zero in numeric, to even in float
SELECT check_same('SELECT id, max((f8 * 4)::int4), max((n0 + 0.5)::int4), max((i2 * 0.5)::int8), max((i2 * 0.5::float8)::int4) FROM types GROUP BY id');
SELECT check_same('SELECT id, max((i2 + 0.5)::int2), max((i2 + 0.5)::numeric(5,0)), max((i2 + 0.5::float8)::int4), max((-i2 - 0.5::float8)::int8) FROM types GROUP BY id');

-- as oid, an integer is unsigned
SELECT min(i4::oid), max(i4::oid) FROM types;

-- logic has three values
SELECT e, check_same(format('SELECT id, %1$s FROM types GROUP BY id, %1$s', e)) AS value, check_same(format('SELECT id FROM types WHERE %s', e)) AS filter,
	check_same(format('SELECT id FROM types WHERE NOT (%s)', e)) AS negated
FROM unnest(ARRAY[
	'b', 'NOT b', 'b AND i4 > 0', 'b OR i4 > 0', 'b AND NOT b', 'b OR NOT b', '(b AND i4 > 0) IS NULL', '(b OR i4 > 0) IS NOT NULL',
	'b IS TRUE', 'b IS NOT TRUE', 'b IS FALSE', 'b IS NOT FALSE', 'b IS UNKNOWN', 'b IS NOT UNKNOWN', 'b = (i4 > 0)', 'b <> (i4 > 0)',
	'(i4 > 0) IS TRUE', '(i4 > i2) IS NOT FALSE', 'i4 > 0 AND i2 > 0 AND i8 > 0', 'i4 > 0 OR i2 > 0 OR i8 > 0', '(i4 > 0) IS DISTINCT FROM b',
	'i4 IS NULL', 'i4 IS NOT NULL', '(i4 + i2) IS NULL', 'i4 IS DISTINCT FROM i2', 'i4 IS NOT DISTINCT FROM nn', 'tx IS DISTINCT FROM vc',
	'b AND NULL', 'b OR NULL', 'NOT (b AND NULL)', 'i4 > NULL OR b', '(i4 = 1 OR NULL) IS NULL'
]) AS e;
SELECT e, check_same(format('SELECT id, %1$s FROM types GROUP BY id, %1$s', e)) AS value, check_same(format('SELECT count(*) FROM types WHERE %s', e)) AS filter
FROM unnest(ARRAY[
	'i4 BETWEEN -100 AND 1000', 'i4 NOT BETWEEN -100 AND 1000', 'i4 BETWEEN i2 AND i8', 'i4 BETWEEN 10 AND 5', 'i4 BETWEEN SYMMETRIC 1000 AND -100', 'n BETWEEN 0.5 AND 20.25',
	'd BETWEEN date ''1996-02-28'' AND date ''1996-03-01''', 'f8 BETWEEN -1 AND 1', 'ts BETWEEN d AND d + 1',
	'i4 IN (1, 2, -3, 79, 2839)', 'i4 NOT IN (1, 2, -3)', 'i4 IN (1, NULL)', 'i4 NOT IN (1, NULL)', 'i2 IN (1, 31, 62)', 'i8 IN (1, 5)', 'i8 = ANY (ARRAY[1, 2]::int8[])', 'nn = ANY (ARRAY[]::int4[])', 'nn <> ALL (ARRAY[]::int4[])',
	'nn = ANY (NULL::int4[])', 'i4 = ANY (''{1,2,NULL}'')', 'n IN (0.5, 29.19, -3)', 'n IN (0.50, 29.190)', 'd IN (date ''1995-01-14'', date ''1996-05-05'')', 'tx IN ('''', ''a'', ''nowhere'')', 'tx NOT IN ('''', ''a'')', 'tx NOT IN (''a'', NULL)',
	'vc IN (''v1'', ''v99'', ''v100'')', 'bc IN (''c'', ''d   '')', 'dt IN (''d1'', ''d2'')', 'ts IN (timestamp ''1995-01-14 00:00:01.000001'')', 'i4 IN (nn, i2)',
	'i4 < 10.5', 'i2 < 100000', 'i2 = 100000', 'i4 > 3000000000', 'i8 < 1', 'n > 1', 'n = 29.19', 'n = 29.190', 'n <> 29.191', 'n < n0', 'n = nw', 'n0 = i4', 'f4 < f8', 'f8 > 1', 'f4 = 0.125', 'f8 = n0',
	'd = ts', 'd < ts', 'ts >= d', 'd < timestamp ''1996-01-01 12:00''', 'ts = ''1995-01-14 00:00:01.000001''', 'tz > ''1995-06-01 00:00+02''', 'tz < ''1996-01-01''::date', 'd > current_date'
]) AS e;

-- choices
SELECT * FROM in_fours('max(%s)', ARRAY[
	'CASE WHEN i4 > 0 THEN i4 END', 'CASE WHEN i4 > 0 THEN i4 ELSE -i4 END', 'CASE WHEN i4 > 1000 THEN 1 WHEN i4 > 0 THEN 2 WHEN i4 IS NULL THEN 3 ELSE 4 END',
	'CASE nn WHEN 1 THEN 10 WHEN 2 THEN 20 ELSE 0 END', 'CASE tx WHEN ''a'' THEN 1 WHEN ''ab'' THEN 2 END', 'CASE WHEN b THEN i2 ELSE i8 END',
	'CASE WHEN b THEN n END', 'CASE WHEN b THEN f8 ELSE 0 END', 'CASE WHEN b THEN d ELSE dd END', 'CASE WHEN b THEN ts ELSE d END', 'CASE WHEN b THEN tx ELSE tx END',
	'CASE WHEN b THEN tx END', 'CASE WHEN tx = ''a'' THEN ''is a'' ELSE ''is not'' END', 'CASE WHEN i4 > 0 THEN NULL ELSE 1 END', 'CASE WHEN NULL THEN 1 ELSE i4 END', 'CASE WHEN true THEN i4 ELSE 1 END',
	'COALESCE(i4, 0)', 'COALESCE(i4, i2, i8, nn)', 'COALESCE(d, dd)', 'COALESCE(f8, f4)', 'COALESCE(tx, ''none'')', 'COALESCE(ts, d)', 'COALESCE(NULL, i4)',
	'NULLIF(i4, 79)', 'NULLIF(nn, 3)', 'NULLIF(n, 29.190)', 'NULLIF(tx, '''')', 'NULLIF(d, dd)', 'NULLIF(i4, n0)', 'NULLIF(f8, 1)', 'NULLIF(bc, ''c  '')', 'NULLIF(vc, ''v3'')',
	'GREATEST(i4, i2)', 'LEAST(i4, i2, nn)', 'GREATEST(d, dd)', 'LEAST(ts, d)', 'GREATEST(f8, f4)', 'LEAST(f8, 0)', 'GREATEST(i4, NULL)', 'GREATEST(f8, ''NaN'')', 'LEAST(tz, tz)'
]);

SELECT e, check_same(format('SELECT id, %1$s FROM types GROUP BY id, %1$s', e)) FROM unnest(ARRAY[
	'CASE WHEN b THEN b ELSE i4 > 0 END', 'COALESCE(b, true)', 'COALESCE(b, i4 > 0)', 'NULLIF(b, true)', 'NULLIF(i4 > 0, b)', 'GREATEST(b, i4 > 0)', 'LEAST(b, i4 > 0)', 'isfinite(d)', 'nn::bool'
]) AS e;

-- dates and times
SELECT * FROM in_fours('max(%s)', ARRAY[
	'd + 1', 'd - 1', '1 + d', 'd - dd', 'd + i2', 'd - nn', 'd + i4', 'dd + 3', '(d + 30) - dd', 'd + interval ''1 month''', 'd - interval ''1 year 2 days''', 'd + interval ''3 hours''',
	'extract(year FROM d)', 'extract(month FROM d)::int4', 'extract(dow FROM d)', 'extract(epoch FROM d)', 'date_part(''year'', d)', 'date_trunc(''month'', d)', 'date_trunc(''year'', d)::date',
	'date_trunc(''month'', d::timestamp)::date', 'to_char(d, ''YYYY-MM'')', 'd::text', 'd::timestamp', 'date_trunc(''day'', ts)', 'extract(hour FROM ts)', 'ts + interval ''1 hour''', 'ts - ts', 'd::timestamptz', 'tz::date', 'make_date(1990 + nn, 1, 1)'
]);
SELECT e, check_same(format('SELECT count(*) FROM types WHERE %s', e)) FROM unnest(ARRAY[
	'd >= date ''1996-01-01'' AND d < date ''1996-01-01'' + interval ''1 year''', 'extract(year FROM d) = 1997', 'extract(year FROM d) * 100 + extract(month FROM d) = 199703', 'date_trunc(''month'', d) = ''1996-03-01''', 'd + 7 > ts', 'd - interval ''1 day'' < ts', 'extract(isodow FROM dd) > 5'
]) AS e;

-- functions of one column with few values
SELECT * FROM in_fours('max(%s)', ARRAY[
	'upper(tx)', 'lower(tx)', 'initcap(tx)', 'length(tx)', 'char_length(bc)', 'octet_length(tx)', 'substring(tx FROM 1 FOR 2)', 'substr(tx, 2)', 'left(tx, 1)', 'right(vc, 2)', 'tx || ''!''', '''<'' || vc || ''>''', 'trim(tx)', 'replace(tx, ''a'', ''bb'')',
	'reverse(tx)', 'md5(tx)', 'position(''b'' IN tx)', 'split_part(vc, ''v'', 2)', 'vc::varchar(2)', 'bc::text', 'ascii(nt)', 'nt || nt', 'concat(tx, 1)', 'repeat(nt, 3)', 'lpad(vc, 5, ''0'')', 'translate(tx, ''ab'', ''xy'')', 'tx COLLATE "C"', 'to_hex(nn)', 'nn::text', 'i2::text', 'b::text', 'chr(65 + nn)', 'power(nn, 2)', 'sqrt(nn)', 'round(n)', 'floor(f8)', 'ceil(n)', 'trunc(n, 1)', 'round(n, 1)', 'mod(nn, 5)', 'sign(n)', 'width_bucket(nn, 0, 20, 4)', 'i4 & 255', 'nn | 1', 'nn << 2', 'nn # 3', '~ nn', 'gcd(nn, 6)'
]);
SELECT e, check_same(format('SELECT id, %1$s FROM types GROUP BY id, %1$s', e)) AS value, check_same(format('SELECT count(*), min(i4) FROM types WHERE %s', e)) AS filter
FROM unnest(ARRAY[
	'tx LIKE ''a%''', 'tx NOT LIKE ''%b''', 'tx LIKE ''_''', 'tx LIKE ''x\%y\_z''', 'tx LIKE ''''', 'tx LIKE ''日%''', 'tx ILIKE ''A%''', 'vc LIKE ''v1%''', 'bc LIKE ''c%''', 'bc LIKE ''c''', 'nt LIKE ANY (ARRAY[''A'', ''B%''])',
	'tx ~ ''^[a-z]+$''', 'tx !~ ''b$''', 'tx ~* ''^AB''', 'vc ~ ''[02468]$''', 'tx SIMILAR TO ''(a|ab)''', 'tx < ''b''', 'tx >= ''Ab'' COLLATE "C"', 'vc BETWEEN ''v1'' AND ''v2''', 'bc > ''c''', 'length(tx) > 5', 'upper(tx) = ''AB''', 'substring(vc FROM 2)::int4 > 50', 'starts_with(vc, ''v9'')', 'tx = vc', 'tx <> vc', 'vc = dt', 'bc = bc', 'tx = upper(tx)', 'tx || ''x'' = ''ax''', 'tx = ''a''', 'tx = ''nowhere''', 'bc = ''c''', 'bc = ''c   ''', 'bc = ''c''::text', 'bc::text = ''c''', 'vc = ''v3''', 'dt = ''d3''', '''a'' = tx', 'nt > ''M''', 'tx IS NULL OR tx = ''''', 'COALESCE(tx, '''') = ''''', 'COALESCE(tx, ''none'') = ''none'''
]) AS e;
-- expressions left to PostgreSQL, alone, as it would take others along
SELECT e, check_same(format('SELECT id, max(%s) FROM types GROUP BY id', e)) FROM unnest(ARRAY[
	'nw * 2', 'n::float4', 'CASE WHEN b THEN n ELSE 0 END', 'CASE WHEN b THEN n ELSE nw END', 'CASE WHEN b THEN 1.5 ELSE 2 END', 'COALESCE(n, 0)', 'COALESCE(n, nw)', 'COALESCE(n, 0.000)', 'GREATEST(n, n0)', 'LEAST(n, 1.5)', 'd + (nn || '' days'')::interval', 'age(d, dd)', 'tx::char(3)', 'n / 3'
]) AS e;
DROP FUNCTION in_fours;
