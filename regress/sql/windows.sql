-- Window functions of rows and groups that the device returns: each function over each frame, partitions of all sizes,
-- NULLs, ties, extremes; and what is PostgreSQL's.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- check_same(), if the executor computes the windows, or the device does (outer_windows.sql); else says so.
CREATE FUNCTION public.check_window(query text, OUT verdict text) LANGUAGE plpgsql AS $$
DECLARE
	nodes text;
BEGIN
	verdict := check_same(query);
	SELECT string_agg(DISTINCT node, ', ') INTO nodes FROM plan_of(query) AS line, substring(line FROM 'WindowAgg|GpuconcWindow|Rows: ') AS node;
	IF nodes IS NULL OR nodes ~ 'WindowAgg' THEN
		verdict := verdict || ', ' || coalesce(nodes, 'no window');
	END IF;
END $$;

-- functions of places: ties have the same rank, so the order of columns decides all
SELECT f, check_window(format('SELECT id, %s OVER (PARTITION BY nn ORDER BY id) FROM types WHERE id < 900', f)) AS partitions,
	check_window(format('SELECT id, %s OVER (ORDER BY id DESC) FROM types WHERE id < 900', f)) AS one
FROM unnest(ARRAY['row_number()', 'rank()', 'dense_rank()', 'percent_rank()', 'cume_dist()', 'ntile(1)', 'ntile(7)', 'ntile(1000000)', 'ntile(NULL)',
	'lag(i4)', 'lead(tx)', 'lag(n, 3)', 'lead(nw, 2, 0)', 'lag(d, nn)', 'lead(i2, -1)', 'lag(vc, 0)', 'lag(i8, i2)', 'lead(i4, 5, id)', 'lag(f8, 2000000000)', 'lag(bc, 1, ''x'')']) AS f;
SELECT f, check_window(format('SELECT id, %s OVER (PARTITION BY bc ORDER BY i2 DESC NULLS LAST, nt) FROM types', f)) AS ties, check_window(format('SELECT id, %s OVER (ORDER BY tx) FROM types', f)) AS texts
FROM unnest(ARRAY['rank()', 'dense_rank()', 'percent_rank()', 'cume_dist()', 'count(*)', 'sum(i4)', 'max(vc)', 'min(d)', 'avg(nw)']) AS f;
SELECT c, check_window(format('SELECT id, ntile(%s) OVER (PARTITION BY b ORDER BY id) FROM types WHERE id < 300', c)) AS late_buckets
FROM unnest(ARRAY['nullif(id, 1)::int4', 'nn', 'CASE WHEN id > 20 THEN 4 END', 'CASE WHEN id > 20 THEN CASE WHEN id > 30 THEN -1 ELSE 290 END END']) AS c;

-- aggregates and values of frames
SELECT frame, check_window(format($$SELECT id, count(*) OVER w, count(i4) OVER w, sum(i4) OVER w, sum(n) OVER w, avg(i8) OVER w, min(n) OVER w, max(tx) OVER w,
	first_value(i4) OVER w, last_value(n) OVER w, nth_value(vc, 3) OVER w, nth_value(i2, nn) OVER w FROM types WHERE id < 500 WINDOW w AS (PARTITION BY b ORDER BY id %s)$$, frame)) AS partitions,
	check_window(format('SELECT id, sum(i2) OVER w, avg(n) OVER w, min(i8) OVER w, count(d) FILTER (WHERE nn > 3) OVER w, sum(n0) FILTER (WHERE b) OVER w FROM types WHERE id < 500 WINDOW w AS (ORDER BY id DESC %s)', frame)) AS one
FROM unnest(ARRAY['', 'ROWS UNBOUNDED PRECEDING', 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING', 'ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING', 'ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
	'ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING', 'ROWS BETWEEN 2 FOLLOWING AND 9 FOLLOWING', 'ROWS BETWEEN 1 PRECEDING AND 4 PRECEDING', 'ROWS 9223372036854775807 PRECEDING', 'ROWS BETWEEN CURRENT ROW AND 9223372036854775807 FOLLOWING', 'ROWS BETWEEN 0 PRECEDING AND 0 FOLLOWING',
	'RANGE CURRENT ROW', 'RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING', 'RANGE BETWEEN 40 PRECEDING AND 17 FOLLOWING', 'RANGE BETWEEN 30 PRECEDING AND 20 PRECEDING', 'RANGE BETWEEN 3 FOLLOWING AND UNBOUNDED FOLLOWING', 'RANGE 2147483647 PRECEDING',
	'GROUPS CURRENT ROW', 'GROUPS BETWEEN 2 PRECEDING AND 1 FOLLOWING', 'GROUPS BETWEEN 7 PRECEDING AND 3 PRECEDING', 'GROUPS BETWEEN 2 FOLLOWING AND 4 FOLLOWING', 'GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING', 'GROUPS 9223372036854775807 PRECEDING']) AS frame;
-- peers: values that do not depend on their order
SELECT sort, frame, check_window(format('SELECT id, count(*) OVER w, sum(n) OVER w, avg(i4) OVER w, min(i8) OVER w, max(d) OVER w FROM types WHERE id < 500 AND nt < ''H'' WINDOW w AS (PARTITION BY nt ORDER BY %s %s)', sort, frame)) AS verdict
FROM unnest(ARRAY['i2', 'i2 DESC', 'i2 NULLS FIRST', 'i2 DESC NULLS LAST', 'nn', 'nn DESC']) AS sort, unnest(ARRAY['', 'RANGE CURRENT ROW', 'RANGE BETWEEN 20 PRECEDING AND 5 FOLLOWING', 'RANGE BETWEEN 9 PRECEDING AND 3 PRECEDING', 'RANGE BETWEEN 3 FOLLOWING AND 9 FOLLOWING', 'GROUPS BETWEEN 1 PRECEDING AND 2 FOLLOWING', 'GROUPS BETWEEN 3 PRECEDING AND 2 PRECEDING']) AS frame;
SELECT sort, size, check_window(format('SELECT id, count(*) OVER w, sum(i4) OVER w FROM types WINDOW w AS (PARTITION BY nn ORDER BY %s RANGE BETWEEN %s PRECEDING AND %2$s FOLLOWING)', sort, size)) AS verdict
FROM (VALUES ('i8', '1000000000'), ('n DESC', '12.5'), ('nw', '0.00000001'), ('f8', '100.5'), ('f4 DESC NULLS FIRST', '3'), ('d', 'interval ''1 month'''), ('ts DESC', 'interval ''20 days'''), ('tz NULLS FIRST', 'interval ''1 year''')) AS q (sort, size);
-- what frames leave out, without ties and with them
SELECT frame, ex, check_window(format('SELECT id, count(*) OVER w, count(i4) OVER w, sum(n) OVER w, avg(i8) OVER w, min(n) OVER w, max(tx) OVER w, var_pop(i2) OVER w, sum(n0) FILTER (WHERE nn > 3) OVER w%s FROM types WHERE id < 500 WINDOW w AS (PARTITION BY b ORDER BY id %s EXCLUDE %s)', ', first_value(i4) OVER w, last_value(n) OVER w, nth_value(vc, 3) OVER w, nth_value(i2, abs(nn) + 1) OVER w' || lost, frame, ex)) AS places,
	check_window(format('SELECT nn, count(*) OVER w, sum(nn) OVER w, avg(nn * 0.5) OVER w, min(nn) OVER w, max(nn) FILTER (WHERE nn <> 4) OVER w, stddev(nn) OVER w%s FROM types WHERE id < 500 WINDOW w AS (PARTITION BY b ORDER BY nn DESC NULLS LAST %s EXCLUDE %s)', ', first_value(nn) OVER w, last_value(nn) OVER w, nth_value(nn, 3) OVER w' || lost, frame, ex)) AS ties
FROM unnest(ARRAY['ROWS UNBOUNDED PRECEDING', 'ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING', 'ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING', 'ROWS BETWEEN 2 FOLLOWING AND 9 FOLLOWING', 'ROWS BETWEEN 1 PRECEDING AND 4 PRECEDING', 'RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING', 'RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING', 'RANGE BETWEEN 3 PRECEDING AND 2 PRECEDING', 'GROUPS CURRENT ROW', 'GROUPS BETWEEN 2 PRECEDING AND 1 FOLLOWING']) AS frame,
	unnest(ARRAY['CURRENT ROW', 'GROUP', 'TIES']) AS ex, LATERAL (SELECT CASE WHEN ex <> 'TIES' OR frame !~ 'ROWS.*([0-9] PRECEDING$|BETWEEN [0-9] FOLLOWING)' THEN '' END) AS q (lost);
SELECT ex, check_window(format('SELECT nn, count(*) OVER w, sum(nn) OVER w, max(nn) OVER w, min(nn) OVER v FROM types WHERE id < 500 WINDOW w AS (PARTITION BY nn RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE %1$s), v AS (RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE %1$s)', ex)) AS all_ties FROM unnest(ARRAY['CURRENT ROW', 'GROUP']) AS ex;

-- keys of every type, and extremes
SELECT c, check_window(format('SELECT id, count(*) OVER (PARTITION BY %1$I), rank() OVER (ORDER BY %1$I), dense_rank() OVER (PARTITION BY b ORDER BY %1$I DESC NULLS LAST), min(%1$I) OVER (PARTITION BY nn), lag(%1$I) OVER (ORDER BY id) FROM types WHERE id < 800', c)) AS verdict
FROM unnest('{i2,i4,i8,f4,f8,n,nw,n0,d,ts,tz,tx,vc,bc,di,dn,dt,dd,nn,nt}'::text[]) AS c;
SELECT c, check_window(format('SELECT id, count(*) OVER (PARTITION BY %1$I), rank() OVER (ORDER BY %1$I), max(%1$I) OVER (ORDER BY id ROWS 2 PRECEDING) FROM extremes', c)) AS verdict
FROM unnest('{i2,i4,i8,f4,f8,n,nw,d,ts,tz,tx,bc}'::text[]) AS c;
SELECT c, check_window(format('SELECT id, sum(%1$I) OVER (ORDER BY id), avg(%1$I) OVER (ORDER BY id ROWS 3 PRECEDING) FROM extremes', c)) AS verdict FROM unnest('{i2,i4,i8,n,nw}'::text[]) AS c;
SELECT check_window('SELECT id, bool_and(b) OVER w, bool_or(i4 > 0) OVER w, every(b) OVER w FROM types WINDOW w AS (PARTITION BY nn ORDER BY id ROWS 3 PRECEDING)');

-- variances: frames of all kinds, in which there are NULLs, no value, one, equal ones
SELECT frame, check_window(format('SELECT id, var_pop(i2) OVER w, var_samp(i4) OVER w, variance(n) OVER w, stddev_pop(n0) OVER w, stddev_samp(nn) OVER w, stddev(i4) FILTER (WHERE b) OVER w, variance(i2) FILTER (WHERE id < 0) OVER w FROM types WHERE id < 500 WINDOW w AS (PARTITION BY nn %% 3 ORDER BY id %s)', frame)) AS partitions,
	check_window(format('SELECT id, var_samp(n) OVER w, stddev_pop(i4) OVER w FROM types WHERE id < 500 AND nt < ''H'' WINDOW w AS (ORDER BY nn %s)', CASE WHEN frame !~ 'ROWS' THEN frame END)) AS peers
FROM unnest(ARRAY['', 'ROWS UNBOUNDED PRECEDING', 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING', 'ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING', 'ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING', 'ROWS CURRENT ROW', 'ROWS BETWEEN 1 PRECEDING AND 4 PRECEDING',
	'RANGE BETWEEN 40 PRECEDING AND 17 FOLLOWING', 'RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING', 'GROUPS BETWEEN 2 PRECEDING AND 1 FOLLOWING', 'GROUPS BETWEEN 2 FOLLOWING AND 4 FOLLOWING']) AS frame;
SELECT q, check_window(q) AS variances FROM unnest(ARRAY['SELECT shop, variance(sum(quantity)) OVER (), stddev(sum(price)) OVER (ORDER BY shop ROWS 2 PRECEDING), var_pop(count(*)) OVER (PARTITION BY shop % 2) FROM sales GROUP BY shop', 'SELECT id, variance(1) OVER (), stddev(i2 * 0.5) OVER (PARTITION BY nn), var_pop(1000000 + nn) OVER (ORDER BY id) FROM types', 'SELECT id, stddev(i2) OVER (ORDER BY id), var_samp(i4) OVER (ORDER BY id ROWS 1 PRECEDING) FROM extremes',
	'SELECT id, variance(i8 % 100000000) OVER (PARTITION BY nn), stddev_pop(i8 % 100000000) OVER (ORDER BY id ROWS 9 PRECEDING) FROM types']) AS q;

-- extremes of equal values that differ: which one comes is PostgreSQL's choice
CREATE COLLATION public.no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE public.equals AS SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'a' ELSE rpad('a', i % 5 + 1) END AS padded, (1.0 + i % 2)::numeric * CASE WHEN i % 3 = 0 THEN 1.000 ELSE 1.0 END AS n,
	CASE WHEN i % 3 = 0 THEN '-0' ELSE '0' END::float8 AS f8, CASE WHEN i % 4 = 0 THEN '-0' ELSE '0' END::float4 AS f4, (ARRAY['a', 'A', 'b', 'B'])[i % 4 + 1] AS tx FROM generate_series(1, 200) AS i;
ANALYZE public.equals;
SELECT c, f, check_window(format('SELECT id, format(''[%%s]'', max(%1$s) OVER w), format(''[%%s]'', min(%1$s) OVER w) FROM public.equals WINDOW w AS (ORDER BY id %2$s)', c, f)) AS extremes
FROM unnest('{padded::bpchar,n,f8,f4,tx COLLATE no_case}'::text[]) AS c, unnest(ARRAY['', 'ROWS 3 PRECEDING', 'ROWS BETWEEN 2 FOLLOWING AND 5 FOLLOWING', 'ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW']) AS f;
-- a variance has the most digits of its frame's values
SELECT f, check_window(format('SELECT id, var_pop(x) OVER w, stddev(x) OVER w, var_samp(0 * x) OVER w FROM (SELECT id, n * id * CASE WHEN id %% 7 = 0 THEN 1.00 ELSE 1 END AS x FROM public.equals) AS q WINDOW w AS (ORDER BY id %s)', f)) AS variances
FROM unnest(ARRAY['', 'ROWS 3 PRECEDING', 'ROWS BETWEEN 2 FOLLOWING AND 5 FOLLOWING', 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING', 'ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW']) AS f;
-- values that are computed: flat, kept, and sums of frames beyond 128 bits
SELECT q, check_window(q) AS verdict FROM unnest(ARRAY['SELECT id, array_append(first_value(array_append(ARRAY[id], 1)) OVER (ORDER BY id), 2) FROM public.equals', 'SELECT id, lag(tx || padded, 2, padded || id) OVER (ORDER BY id), max(upper(tx) || id) OVER (PARTITION BY lower(tx) ORDER BY padded || id DESC) FROM public.equals',
	'SELECT id, sum(n) OVER (PARTITION BY n || tx ORDER BY id), avg(n * 1.5) OVER (ORDER BY id ROWS 3 PRECEDING) FROM public.equals', 'SELECT id, count(*) OVER (PARTITION BY ARRAY[tx, padded]) FROM public.equals',
	'SELECT id, sum(CASE id WHEN 1 THEN 1.6e38 ELSE -1.6e38 END) OVER (ORDER BY id ROWS 1 PRECEDING) FROM public.equals WHERE id < 4']) AS q;
-- a fallback after the device has answered is not offloaded, too
SET gpuconc.debug_offload = prefer;
SELECT offloaded, fallbacks FROM gpuconc_stat_get() \gset before_
SELECT id, sum(CASE id WHEN 1 THEN 1.6e38 ELSE -1.6e38 END) OVER (ORDER BY id ROWS 1 PRECEDING) FROM public.equals WHERE id < 4;
RESET gpuconc.debug_offload;
SELECT offloaded - :before_offloaded AS offloaded, fallbacks - :before_fallbacks AS fallbacks FROM gpuconc_stat_get();
DROP TABLE public.equals;
DROP COLLATION public.no_case;

-- several windows, expressions, joins, groups, grouping sets, HAVING, conditions above
SELECT q, check_window(q) AS verdict FROM unnest(ARRAY[
	'SELECT id, rank() OVER (PARTITION BY nn ORDER BY i4), sum(i4) OVER (PARTITION BY nn), row_number() OVER (PARTITION BY nn ORDER BY i4, id), count(*) OVER (), max(n) OVER (ORDER BY id) FROM types',
	'SELECT id, i4 - lag(i4) OVER (ORDER BY id) AS step, 100 * n / nullif(sum(n) OVER (PARTITION BY nt), 0) FROM types', 'SELECT rank() OVER (PARTITION BY i4 % 5, length(tx) ORDER BY abs(i2), upper(vc)) FROM types', 'SELECT lag(i4 + 1) OVER (ORDER BY id), sum(i2 * 2) OVER (ORDER BY id) FROM types WHERE nn < 5',
	'SELECT s.id, c_name, rank() OVER (PARTITION BY c_city ORDER BY price DESC), sum(price) OVER (PARTITION BY c_id ORDER BY s.id) FROM sales AS s JOIN customer ON customer = c_id WHERE quantity < 4',
	'SELECT shop, sum(price), sum(sum(price)) OVER (), rank() OVER (ORDER BY sum(price) DESC), sum(price) * 100 / sum(sum(price)) OVER () FROM sales GROUP BY shop', 'SELECT city, shop, sum(price), avg(sum(price)) OVER (PARTITION BY city) FROM sales GROUP BY city, shop HAVING sum(price) > 2000',
	'SELECT shop, quantity, count(*), lag(count(*)) OVER (PARTITION BY shop ORDER BY quantity), sum(sum(quantity)) OVER (PARTITION BY shop ORDER BY quantity ROWS UNBOUNDED PRECEDING) FROM sales GROUP BY shop, quantity', 'SELECT count(*), row_number() OVER () FROM sales',
	'SELECT city, shop, sum(price), grouping(city) + grouping(shop), rank() OVER (PARTITION BY grouping(city) + grouping(shop), CASE WHEN grouping(shop) = 0 THEN city END ORDER BY sum(price) DESC) FROM sales GROUP BY ROLLUP (city, shop)',
	'SELECT shop, avg(price), avg(avg(price)) OVER (ORDER BY shop ROWS 4 PRECEDING) FROM sales GROUP BY shop', 'SELECT * FROM (SELECT id, shop, row_number() OVER (PARTITION BY shop ORDER BY price DESC, id) AS n FROM sales) AS q WHERE n <= 3', 'SELECT * FROM (SELECT shop, quantity, rank() OVER (PARTITION BY shop ORDER BY sum(price) DESC) AS r, dense_rank() OVER (ORDER BY sum(price)) AS d FROM sales GROUP BY 1, 2) AS q WHERE r < 3 AND d <= 400',
	'SELECT shop, max(n) FROM (SELECT shop, row_number() OVER (PARTITION BY shop ORDER BY id) AS n FROM sales) AS q GROUP BY shop', 'SELECT id, rank() OVER (ORDER BY price) AS r FROM sales ORDER BY r DESC, id LIMIT 20', 'SELECT DISTINCT quantity, count(*) OVER (PARTITION BY quantity) FROM sales',
	'SELECT id, row_number() OVER (ORDER BY id) FROM types WHERE nn = -1', 'SELECT id, count(*) OVER (ORDER BY id ROWS 1 PRECEDING) FROM types WHERE id = 5', 'SELECT id, ntile(3) OVER (ORDER BY id) FROM types WHERE id < 3'
]) AS q;
PREPARE p(int8, int4) AS SELECT sum(s), max(l), count(*) FROM (SELECT sum(i4) OVER (ORDER BY id ROWS $1 PRECEDING) AS s, lag(i4, $2) OVER (ORDER BY id) AS l FROM types OFFSET 0) AS q;
SET plan_cache_mode = force_generic_plan;
SET gpuconc.debug_offload = require;
EXECUTE p(3, 1);
EXECUTE p(0, 7);
RESET plan_cache_mode;
DEALLOCATE p;

-- errors are PostgreSQL's
SELECT id, sum(i4) OVER (ORDER BY id ROWS -1 PRECEDING) FROM types;
SELECT id, sum(i4) OVER (ORDER BY id ROWS NULL PRECEDING) FROM types;
SELECT id, sum(i4) OVER (ORDER BY id RANGE -1 PRECEDING) FROM types;
SELECT lag(i4) OVER (ORDER BY id RANGE BETWEEN CURRENT ROW AND -1 FOLLOWING) FROM types;
SELECT id, sum(i4) OVER (ORDER BY id GROUPS BETWEEN 1 PRECEDING AND -1 FOLLOWING) FROM types;
SELECT id, ntile(0) OVER (ORDER BY id) FROM types;
SELECT id, nth_value(i4, 0) OVER (ORDER BY id) FROM types;
SELECT lag(1 / (id - 1)) OVER (ORDER BY id) FROM types;
SELECT sum(i4) OVER (ORDER BY id ROWS -1 PRECEDING) FROM types WHERE nn < 0;
RESET gpuconc.debug_offload;

-- awkward sizes: no row, one, two, those around a chunk's border; one partition, and as many as rows
CREATE TABLE public.many AS SELECT i AS id, i % 7 AS g, (CASE i % 3 WHEN 0 THEN i * 7919 % 10007 WHEN 1 THEN i * 0.1 ELSE i % 977 * 0.125 END)::numeric AS n, nullif(i % 5, 0) AS k FROM generate_series(1, 70000) AS i;
VACUUM ANALYZE public.many;
SELECT size, check_window(format('SELECT id, count(*) OVER (), row_number() OVER (ORDER BY id), sum(n) OVER (PARTITION BY id), lag(n) OVER (PARTITION BY g ORDER BY id DESC), avg(k) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), percent_rank() OVER (ORDER BY k NULLS FIRST), cume_dist() OVER (PARTITION BY k ORDER BY g DESC) FROM public.many WHERE id <= %s', size)) AS verdict
FROM unnest(ARRAY[0, 1, 2, 3, 8191, 8192, 8193, 65535, 65536, 65537, 70000]) AS size;

-- keys and values that compare in ways of their own: NaN, -0, infinite dates, texts that are equal, blanks, booleans
CREATE COLLATION public.no_accent (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE TABLE public.odd AS SELECT i AS id, (ARRAY['NaN', '-0', '0', 'Infinity', '-Infinity', '1.5', NULL])[i % 7 + 1]::float8 AS f8, (ARRAY['NaN', '-0', '0', '2', NULL])[i % 5 + 1]::float4 AS f4,
	(ARRAY['infinity', '-infinity', '2020-01-01', '2020-01-31', '2020-02-29', NULL])[i % 6 + 1]::date AS d, (ARRAY['infinity', '-infinity', '2020-01-01 10:00', '2020-01-31', NULL])[i % 5 + 1]::timestamp AS ts,
	(ARRAY['a', 'A', 'ä', 'b', 'B ', 'b  ', NULL, ''])[i % 8 + 1] AS tx, (ARRAY['a', 'a ', 'b', NULL])[i % 4 + 1]::char(4) AS bc, (ARRAY[true, false, NULL])[i % 3 + 1] AS b,
	(ARRAY[1, 1.0, 1.00, 0, 0.000, -2.50, 123456789.123456789, NULL])[i % 8 + 1]::numeric AS n, (ARRAY['2 days', '30 days', '23:00', '-1 day', NULL])[i % 5 + 1]::interval AS iv FROM generate_series(1, 211) AS i;
VACUUM ANALYZE public.odd;
SELECT c, check_window(format($$SELECT id, count(*) OVER (PARTITION BY %1$s), rank() OVER (ORDER BY %1$s), dense_rank() OVER (ORDER BY %1$s DESC NULLS LAST), format('%%s', first_value(%1$s) OVER (ORDER BY %1$s, id)),
	format('%%s', last_value(%1$s) OVER (ORDER BY id ROWS 3 PRECEDING)), format('%%s', nth_value(%1$s, 2) OVER (PARTITION BY b ORDER BY id RANGE BETWEEN 30 PRECEDING AND 1 FOLLOWING)), format('%%s', lead(%1$s, 2, %1$s) OVER (ORDER BY %1$s NULLS FIRST, id)) FROM public.odd$$, c)) AS verdict
FROM unnest(ARRAY['f8', 'f4', 'd', 'ts', 'tx', 'tx COLLATE "en-x-icu"', 'tx COLLATE no_accent', 'tx COLLATE "C"', 'bc', 'b', 'n', 'iv', 'ROW(n, tx)', 'ARRAY[f8]']) AS c;
SELECT c, check_window(format($$SELECT id, format('%%s', min(%1$s) OVER w), format('%%s', max(%1$s) OVER w), count(%1$s) FILTER (WHERE b) OVER w FROM public.odd WINDOW w AS (PARTITION BY f4 ORDER BY id GROUPS BETWEEN 4 PRECEDING AND 1 FOLLOWING)$$, c)) AS verdict
FROM unnest(ARRAY['f8', 'f4', 'd', 'ts', 'tx', 'tx COLLATE "en-x-icu"', 'tx COLLATE no_accent', 'bc', 'n', 'iv']) AS c;
SELECT c, size, check_window(format('SELECT id, count(*) OVER w, sum(n) OVER w, avg(n) OVER w, sum(id) OVER w, avg(id::int8) OVER w FROM public.odd WINDOW w AS (PARTITION BY b ORDER BY %s RANGE BETWEEN %s PRECEDING AND %2$s FOLLOWING)', c, size)) AS verdict
FROM (VALUES ('f8', '1.5'), ('f8 DESC', '''Infinity'''), ('f4 NULLS FIRST', '0'), ('d DESC NULLS LAST', 'interval ''1 month'''), ('ts', 'interval ''0'''), ('n', '0.5'), ('n DESC', '''Infinity'''), ('iv', 'interval ''1 day''')) AS q (c, size);

-- floats are added up in PostgreSQL's order, to the same digits where that order is total; -0, NaN, infinite values
SELECT frame, ex, check_window(format($$SELECT id, (sum(f8) OVER w)::text, (avg(f8) OVER w)::text, (sum(f4) OVER w)::text, (avg(f4) OVER w)::text, (var_pop(f8) OVER w)::text, (stddev(f4) OVER w)::text, (variance(f8) FILTER (WHERE nn > 3) OVER w)::text, (sum(f8) FILTER (WHERE id < 0) OVER w)::text, bit_and(i4) OVER w, bit_or(i2) OVER w
	FROM types WHERE id < 500 WINDOW w AS (PARTITION BY b ORDER BY id %1$s %2$s)$$, frame, ex)) AS types,
	check_window(format('SELECT id, (sum(f8) OVER w)::text, (sum(f4) OVER w)::text, (avg(f8) OVER w)::text, (var_samp(f4) OVER w)::text, (sum(f8) OVER (ORDER BY id DESC ROWS 4 PRECEDING))::text FROM public.odd WINDOW w AS (PARTITION BY bc ORDER BY id %s %s)', frame, ex)) AS odd
FROM unnest(ARRAY['', 'ROWS UNBOUNDED PRECEDING', 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING', 'ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING', 'ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING', 'ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING', 'ROWS BETWEEN 2 FOLLOWING AND 9 FOLLOWING', 'RANGE BETWEEN 40 PRECEDING AND 17 FOLLOWING', 'GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING']) AS frame,
	unnest(ARRAY['', 'EXCLUDE CURRENT ROW', 'EXCLUDE TIES']) AS ex WHERE frame <> '' OR ex = '';
SELECT q, check_window(q) AS verdict FROM unnest(ARRAY['SELECT nn, sum(nn::float8 / 8) OVER w, avg(nn::float4) OVER w, stddev_pop(nn::float8) OVER (PARTITION BY nn) FROM types WINDOW w AS (PARTITION BY b ORDER BY nn GROUPS BETWEEN 2 PRECEDING AND 1 FOLLOWING)', 'SELECT shop, sum(sum(price)::float8) OVER (ORDER BY shop ROWS 2 PRECEDING), sum(bit_or(quantity)) OVER (), bit_or(bit_or(quantity)) OVER (ORDER BY shop) FROM sales GROUP BY shop',
	'SELECT s, q.* FROM generate_series(1, 3) AS s, LATERAL (SELECT id, (sum(f8 + 0.1) OVER (ORDER BY id ROWS 2 PRECEDING))::text FROM public.odd WHERE id % 3 = s - 1) AS q', 'SELECT id, (sum(f8 * 0.3) OVER (ORDER BY id))::text FROM public.odd WHERE f8 > 0 AND id < 0', 'SELECT id, (sum(1.1::float8 * id) OVER (ORDER BY id))::text, (avg(id::float4) OVER (PARTITION BY g ORDER BY id DESC))::text FROM public.many']) AS q;
-- from 17 on, the state of a sum of intervals is not shown
SELECT replace(verdict, CASE WHEN current_setting('server_version_num')::int >= 170000 THEN ', WindowAgg' ELSE '' END, '') AS intervals
FROM check_window('SELECT id, sum(iv) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING), sum(id::money) OVER (PARTITION BY b ORDER BY id) FROM public.odd') AS verdict;
PREPARE f (int8) AS SELECT id, (sum(f8 / 3) OVER (ORDER BY id ROWS $1 PRECEDING))::text, (avg(f4 * 0.7) OVER (PARTITION BY b ORDER BY id ROWS BETWEEN CURRENT ROW AND $1 FOLLOWING))::text FROM public.odd WHERE id < 9;
SET plan_cache_mode = force_generic_plan;
SET gpuconc.debug_offload = require;
EXECUTE f(1);
EXECUTE f(4);
SELECT id, sum(f8) OVER (ORDER BY id) FROM extremes;
SELECT sum(f4 * 0 + 1.7e308::float8) OVER (ORDER BY id ROWS 1 PRECEDING) FROM types WHERE f4 = 0 OR f4 > 1;
RESET gpuconc.debug_offload;
SET gpuconc.enabled = off;
EXECUTE f(1);
EXECUTE f(4);
SET gpuconc.enabled = on;
RESET plan_cache_mode;
DEALLOCATE f;
SET gpuconc.enable_float_aggs = off;
SELECT check_window('SELECT id, sum(f8) OVER (ORDER BY id) FROM types') AS no_floats, check_window('SELECT id, bit_or(i4) OVER (ORDER BY id), max(f8) OVER (ORDER BY id) FROM types') AS others;
RESET gpuconc.enable_float_aggs;

-- offsets that are not compared with anything, or with all
SELECT q, check_window(q) AS verdict FROM unnest(ARRAY['SELECT id, sum(n) OVER (ORDER BY f8 RANGE BETWEEN -1 PRECEDING AND CURRENT ROW) FROM public.odd WHERE f8 IS NULL', 'SELECT id, count(*) OVER (ORDER BY id RANGE BETWEEN 2147483647 PRECEDING AND 2147483647 FOLLOWING) FROM public.odd',
	'SELECT id, lag(n) OVER (ORDER BY id RANGE BETWEEN 9 PRECEDING AND 0 FOLLOWING), first_value(id) OVER (ORDER BY id GROUPS 0 PRECEDING) FROM public.odd']) AS q;

-- rescans, cursors, and conditions and limits above
SELECT q, check_window(q) AS verdict FROM unnest(ARRAY[
	'SELECT s.*, q.* FROM generate_series(1, 3) AS s, LATERAL (SELECT id, rank() OVER (ORDER BY n DESC, id) AS r FROM public.odd WHERE id % 3 = s - 1) AS q',
	'SELECT s, (SELECT max(c) FROM (SELECT count(*) OVER (PARTITION BY f4 ORDER BY id) AS c FROM public.odd WHERE id < s OFFSET 0) AS q) FROM generate_series(0, 60, 20) AS s',
	'SELECT * FROM (SELECT id, g, row_number() OVER (PARTITION BY g ORDER BY n, id) AS r, count(*) OVER (PARTITION BY g) AS c FROM public.many) AS q WHERE r <= 10 AND c > 5', 'SELECT * FROM (SELECT id, rank() OVER (ORDER BY k) AS r FROM public.many) AS q WHERE r = 1',
	'SELECT * FROM (SELECT id, count(*) OVER (ORDER BY n DESC ROWS UNBOUNDED PRECEDING) AS c FROM public.many WHERE id < 900) AS q WHERE c < 40 AND id > 100', 'SELECT id, sum(n) OVER (PARTITION BY g) AS s FROM public.many ORDER BY s DESC, id DESC LIMIT 30 OFFSET 5',
	'SELECT a.id, b.r FROM (SELECT id, rank() OVER (ORDER BY n, id) AS r FROM public.odd) AS b JOIN public.odd AS a ON a.id = b.r', 'SELECT id, r, rank() OVER (ORDER BY r DESC, id) FROM (SELECT id, dense_rank() OVER (ORDER BY tx) AS r FROM public.odd) AS q']) AS q;
SET gpuconc.debug_offload = require;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, row_number() OVER (ORDER BY id DESC), sum(id) OVER (ORDER BY id) FROM public.many WHERE id <= 5 ORDER BY id;
FETCH 2 FROM c;
FETCH LAST FROM c;
FETCH BACKWARD 2 FROM c;
FETCH FIRST FROM c;
COMMIT;
-- parameters in frames and offsets, with errors between
PREPARE q (int8, interval, int4) AS SELECT sum(s), sum(c), count(l) FROM (SELECT sum(id) OVER (ORDER BY id ROWS BETWEEN $1 PRECEDING AND $1 FOLLOWING) AS s, count(*) OVER (ORDER BY ts RANGE $2 PRECEDING) AS c, nth_value(id, $3) OVER (PARTITION BY tx) AS l FROM public.odd OFFSET 0) AS q;
SET plan_cache_mode = force_generic_plan;
EXECUTE q(1, '1 day', 2);
EXECUTE q(-1, '1 day', 2);
EXECUTE q(1, NULL, 2);
EXECUTE q(1, '1 day', 0);
EXECUTE q(2, '40 days', 3);
RESET gpuconc.debug_offload;
SET gpuconc.enabled = off;
EXECUTE q(1, '1 day', 2);
EXECUTE q(2, '40 days', 3);
SET gpuconc.enabled = on;
RESET plan_cache_mode;
DEALLOCATE q;

-- what could not be computed is not tried again: the second time it is a data condition, before the device is asked; other windows are computed
SELECT coalesce(sum(count) FILTER (WHERE reason = 'unsupported value'), 0) AS unsupported, coalesce(sum(count) FILTER (WHERE reason = 'data condition'), 0) AS data FROM gpuconc_stat_get_fallbacks() \gset before_
SET gpuconc.debug_tuple_cost = 0;
SELECT sum(s) FROM (SELECT sum(k * CASE id WHEN 1 THEN 1.6e38 ELSE -1.6e38 END) OVER (ORDER BY id ROWS 1 PRECEDING) + lag(g, k, 0) OVER (ORDER BY id) AS s FROM public.many) AS q;
SELECT sum(s) FROM (SELECT sum(k * CASE id WHEN 1 THEN 1.6e38 ELSE -1.6e38 END) OVER (ORDER BY id ROWS 1 PRECEDING) + lag(g, k, 0) OVER (ORDER BY id) AS s FROM public.many) AS q;
SELECT sum(count) FILTER (WHERE reason = 'unsupported value') - :before_unsupported AS unsupported, sum(count) FILTER (WHERE reason = 'data condition') - :before_data AS data FROM gpuconc_stat_get_fallbacks();
SELECT offloaded FROM gpuconc_stat_get() \gset before_
SELECT sum(s) FROM (SELECT sum(k * CASE id WHEN 1 THEN 1.6 ELSE -1.6 END) OVER (ORDER BY id ROWS 1 PRECEDING) + lag(g, k, 0) OVER (ORDER BY id) AS s FROM public.many) AS q;
SELECT offloaded - :before_offloaded AS offloaded FROM gpuconc_stat_get();
RESET gpuconc.debug_tuple_cost;

-- what windows take is bounded, where rows are planned, and where there are more than were planned
SET gpuconc.debug_offload = prefer;
SELECT line FROM plan_of('SELECT lag(a.k, a.id, 0) OVER (ORDER BY a.k) FROM public.many AS a JOIN public.many AS b USING (k) WHERE b.id <= 1000') AS line WHERE line ~ 'WindowAgg|GpuconcWindow';
SELECT coalesce(sum(count) FILTER (WHERE reason = 'unsupported value'), 0) AS unsupported FROM gpuconc_stat_get_fallbacks() \gset before_
SELECT max(c), max(d), max(e) FROM (SELECT count(*) OVER () AS c, max(a.id) OVER () AS d, lag(a.k, a.g, 0) OVER () AS e FROM public.many AS a, public.many AS b WHERE a.id % 7 = a.g AND b.id <= 20) AS q;
SELECT sum(count) FILTER (WHERE reason = 'unsupported value') - :before_unsupported AS unsupported FROM gpuconc_stat_get_fallbacks();
RESET gpuconc.debug_offload;
-- EXPLAIN shows FILTER, which 18 can show of its own nodes alone
SELECT current_setting('server_version_num')::int >= 180000 OR line ~ 'FILTER' AS filter FROM plan_of('SELECT id, sum(n) FILTER (WHERE g < 3) OVER (PARTITION BY k ORDER BY id) FROM public.many', 'VERBOSE, COSTS OFF') AS line WHERE line ~ 'Output' LIMIT 1;
DROP TABLE public.many, public.odd;
DROP COLLATION public.no_accent;

-- what is PostgreSQL's, with the reason
SELECT q, check_window(q) AS verdict FROM unnest(ARRAY[
	'SELECT nn, last_value(nn) OVER (PARTITION BY b ORDER BY nn ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING EXCLUDE TIES) FROM types', 'SELECT id, string_agg(nt, '','') OVER (ORDER BY id) FROM types', 'SELECT id, regr_count(f4, f8) OVER (PARTITION BY nn) FROM types', 'SELECT id, sum(id::money) OVER (ORDER BY id ROWS 3 PRECEDING) FROM types', 'SELECT id, sum(id * interval ''1 day'') OVER (ORDER BY id RANGE 3 PRECEDING) FROM types',
	'SELECT count(*) OVER (PARTITION BY random() < 2) FROM types', 'SELECT id, ntile((SELECT 3)) OVER (ORDER BY id) FROM types'
]) AS q;
SET gpuconc.debug_offload = require;
EXPLAIN (COSTS OFF) SELECT shop, sum(sum(price)) OVER (ORDER BY shop) FROM sales GROUP BY shop ORDER BY 2;
RESET gpuconc.debug_offload;
-- long values that are computed take memory, too; once more of it may be taken, the same request is computed
CREATE FUNCTION plan_lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query;
END $$;
CREATE TABLE public.long AS SELECT i AS id, 'text' || i % 1000 AS t FROM generate_series(1, 40000) AS i;
VACUUM ANALYZE public.long;
SET gpuconc.debug_offload = prefer;
SET work_mem = '64MB';
SELECT line FROM plan_lines('SELECT length(max(repeat(t, 2000)) OVER (ORDER BY id)) FROM long') AS line WHERE line ~ 'Fallback|Pages';
SELECT line FROM plan_lines('SELECT length(max(repeat(t, 20)) OVER (ORDER BY id)) FROM long') AS line WHERE line ~ 'Fallback|Pages';
SET work_mem = '1GB';
SELECT line FROM plan_lines('SELECT length(max(repeat(t, 2000)) OVER (ORDER BY id)) FROM long') AS line WHERE line ~ 'Fallback|Pages';
RESET work_mem;
RESET gpuconc.debug_offload;
DROP TABLE public.long;
DROP FUNCTION plan_lines;
DROP FUNCTION check_window;
