-- Bad input for aggregates: PostgreSQL's own error, or its own answer.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- overflow: of an aggregate's result, of its argument, on the way to a result that fits
SELECT q, check_error(q) FROM unnest(ARRAY[
	'SELECT sum(i8::int4) FROM types', 'SELECT shop, sum(id * 1000000) FROM sales GROUP BY shop', 'SELECT avg(i8 * i8) FROM types', 'SELECT nn, max(i4 * i4 * i4) FROM types GROUP BY nn', 'SELECT sum(f8 * 1e305) FROM types WHERE f8 > 600', 'SELECT sum(i8 + 8999999999999999999)::int8 FROM types', 'SELECT sum(x) FROM (SELECT nn, sum(i8 * 1000)::int4 AS x FROM types GROUP BY nn) AS q'
]) AS q;
SELECT q, check_same(q) FROM unnest(ARRAY[
	'SELECT sum(i8), avg(i8), min(i8), max(i8), sum(i4), avg(i4), variance(i8), stddev(i4) FROM extremes WHERE id <= 2', 'SELECT sum(nw), avg(nw), sum(n), avg(n), variance(n) FROM extremes WHERE id <= 2', 'SELECT one, sum(i8), sum(i8 - 1) FILTER (WHERE i8 > 0), sum(-(i8 + 1)) FILTER (WHERE i8 < 0) FROM extremes GROUP BY one', 'SELECT sum(a.i8), sum(-a.i8), avg(a.i8) FROM extremes a JOIN types b ON a.one = b.nn WHERE a.id = 2', 'SELECT sum(DISTINCT i8), count(DISTINCT n), avg(DISTINCT i4) FROM extremes WHERE id <= 2'
]) AS q;
-- division by zero in a row that is filtered out, and in one that is not
SELECT q, check_same(q) FROM unnest(ARRAY[
	'SELECT sum(id / nn) FROM types WHERE nn <> 0', 'SELECT nn, sum(id / nn) FILTER (WHERE nn <> 0) FROM types GROUP BY nn', 'SELECT b, sum(CASE WHEN nn <> 0 THEN id % nn END), count(DISTINCT id / NULLIF(nn, 0)) FROM types GROUP BY b', 'SELECT nn, b, sum(id / nn) FILTER (WHERE nn > 0), stddev(1.0::float8 / nn) FILTER (WHERE false) FROM types GROUP BY ROLLUP (nn, b)', 'SELECT nn, 100 / nn, count(*) FROM types GROUP BY nn HAVING nn > 0', 'SELECT sum(x) FROM (SELECT nn, sum(id / nn) AS x FROM types WHERE nn > 0 GROUP BY nn) AS q'
]) AS q;
SELECT q, check_error(q) FROM unnest(ARRAY[
	'SELECT sum(id / nn) FROM types', 'SELECT b, sum(id / nn) FILTER (WHERE b) FROM types GROUP BY b', 'SELECT nn, count(DISTINCT id / nn), count(DISTINCT b) FROM types GROUP BY nn', 'SELECT nn, b, min(id % nn) FROM types GROUP BY CUBE (nn, b)', 'SELECT id / nn, count(*) FROM types GROUP BY 1', 'SELECT nn, sum(i4) / (nn - 3) FROM types GROUP BY nn', 'SELECT nn FROM types GROUP BY nn HAVING 7 / nn > 0', 'SELECT corr(id, 1.0::float8 / nn), count(*) FROM types'
]) AS q;
-- grouping sets of many columns, NULLs among their keys
SELECT q, check_aggregated(q, '{cached}') FROM unnest(ARRAY[
	'SELECT b, i2, i4, i8, n, n0, d, tx, vc, dt, nn, nt, count(*), sum(i4), avg(n), min(d), max(tx), stddev(i2), GROUPING(b, i2, i4, i8, n, n0, d, tx, vc, dt, nn, nt) FROM types GROUP BY ROLLUP (b, i2, i4, i8, n, n0, d, tx, vc, dt, nn, nt)', 'SELECT b, nt, nn % 2, i2 % 2, i4 % 2, i8 % 2, d IS NULL, tx IS NULL, count(*), sum(n) FROM types GROUP BY CUBE (b, nt, nn % 2, i2 % 2, i4 % 2, i8 % 2, d IS NULL, tx IS NULL)', 'SELECT count(*) FROM types GROUP BY ROLLUP (b, nn, nt, d, tx, vc, bc, dt, i2, i4, i8, n, n0, nw, ts)'
]) AS q;
SELECT refusal('SELECT count(*) FROM types GROUP BY ROLLUP (b, nn, nt, d, tx, vc, bc, dt, i2, i4, i8, n, n0, nw, ts, tz)');
-- hundreds of aggregates
CREATE FUNCTION aggregates(n int, what text, k text) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT %s, %s FROM types GROUP BY 1', k, string_agg(format(what, i), ', ')) FROM generate_series(1, n) AS i
$$;
SELECT n, what, k, check_same(aggregates(n, what, k), '{cached}') FROM (VALUES (100, 'sum(i4 + %s)'), (199, 'avg(nn + %s)'), (195, 'count(CASE WHEN i4 > %1$s THEN i2 END), count(CASE WHEN i4 > %1$s THEN i8 END)')) AS v (n, what), unnest('{nn,id % 997}'::text[]) AS k;
SELECT refusal(aggregates(199, 'count(CASE WHEN i4 > %1$s THEN i2 END), max(CASE WHEN i4 > %1$s THEN i8 END)', 'nn'));
DROP FUNCTION aggregates;
