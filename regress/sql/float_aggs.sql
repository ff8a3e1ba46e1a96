-- Aggregates of floats: variances, covariances, regressions; sums of -0.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- sums are -0 where all values are
SELECT t, x, k, g, check_aggregated(format('SELECT %s, sum(%s) AS s, avg(x) AS a, sum(x) FILTER (WHERE x > 5), count(*) FROM (SELECT nn, CASE WHEN nn < 5 THEN ''-0''::%s WHEN nn < 9 THEN CASE WHEN id %% 2 = 0 THEN ''-0''::%3$s ELSE 0::%3$s END WHEN nn < 12 THEN 0::%3$s WHEN nn < 15 THEN ((id %% 2) * 2 - 1)::%3$s END AS x FROM types WHERE id <= 2992) AS q %s', k, x, t, g))
FROM (VALUES ('nn', 'GROUP BY nn'), ('min(nn)', ''), ('min(nn)', 'WHERE nn < 4'), ('min(nn)', 'WHERE nn BETWEEN 4 AND 6'), ('min(nn)', 'WHERE nn > 14'), ('nn', 'GROUP BY ROLLUP (nn)')) AS v (k, g), unnest('{float8,float4}'::text[]) AS t, unnest('{x,x::float8,-x}'::text[]) AS x;
SELECT check_aggregated('SELECT s_name, q.s FROM shop, (SELECT nn, sum(CASE WHEN nn < 5 THEN ''-0''::float8 WHEN nn < 9 THEN id - id ELSE i4 END) AS s FROM types GROUP BY nn) AS q WHERE nn = s_id');
-- values that are added up exactly
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT var_pop(x), var_samp(x), variance(x), stddev(x), stddev_pop(x), stddev_samp(x) FROM (VALUES (1.0::float8)) AS v (x), types WHERE id = 1', 'SELECT regr_count(i4, i2), regr_count(f8, f4) FILTER (WHERE id < 0) FROM types', 'SELECT nn, regr_count(i4, f8), regr_count(f4, i8) FILTER (WHERE b) FROM types GROUP BY nn', 'SELECT variance(f8), stddev(f4), corr(f8, f4), covar_pop(f4, f8), covar_samp(f8, f8), regr_sxx(f8, f4), regr_syy(f8, f4), regr_sxy(f8, f4), regr_avgx(f8, f4), regr_avgy(f8, f4), regr_r2(f8, f4), regr_slope(f8, f4), regr_intercept(f8, f4), regr_count(f8, f4) FROM types WHERE id < 0', 'SELECT nn, stddev(f8), corr(f8, i4) FROM types WHERE id < 0 GROUP BY nn',
	'SELECT id, variance(f8), stddev(f4), var_pop(f8), stddev_pop(f8), corr(f8, f4), covar_pop(f4, f8), covar_samp(f8, f8), regr_r2(f8, f4), regr_slope(f8, f4), regr_intercept(f8, f4), regr_count(f8, f4), regr_sxx(f8, f4), regr_avgx(f8, i4), regr_avgy(n, i4) FROM types GROUP BY id', 'SELECT nn, regr_avgx(x, x + 1), regr_avgy(x, i4) FROM (SELECT nn, i4, (id % 2)::float8 AS x FROM types WHERE id <= 2048) AS q GROUP BY nn', 'SELECT stddev(x), stddev_pop(x), variance(x), corr(x, x), regr_r2(x, x), regr_slope(i4, x) IS NULL AS n FROM (SELECT 1e9::float8 + id - id AS x, i4 FROM types) AS q GROUP BY i4 > 0'
]) AS q;
-- others are near: each function, by groups, of joins; integers and numerics; values that differ little; FILTER
SELECT q, check_near(q) FROM unnest(ARRAY[
	'SELECT variance(x) AS a, var_pop(x) AS b, regr_sxx(x, x) AS c, covar_pop(x, 2 * x) AS d FROM (SELECT (id % 2)::float8 AS x FROM types WHERE id <= 2048) AS q', 'SELECT variance(f8) AS a, stddev(f4) AS b, var_pop(f8) AS c, var_samp(f4) AS d, stddev_pop(f8) AS e, stddev_samp(f8) AS f FROM types', 'SELECT corr(f8, f4) AS a, covar_pop(f4, f8) AS b, covar_samp(f8, f8) AS c, regr_sxx(f8, f4) AS d, regr_syy(f8, f4) AS e, regr_sxy(f8, f4) AS f, regr_avgx(f8, f4) AS g, regr_avgy(f8, f4) AS h, regr_r2(f8, f4) AS i, regr_slope(f8, f4) AS j, regr_intercept(f8, f4) AS k, regr_count(f8, f4) AS l FROM types', 'SELECT nn, variance(f8) AS a, stddev(f4) AS b, corr(f8, f4) AS c, covar_pop(f4, f8) AS d, regr_slope(f4, f8) AS e, regr_intercept(f8, f4) AS f, regr_r2(f4, f4) AS g, avg(f8) AS h, sum(f4) AS i, count(*) AS j FROM types GROUP BY nn ORDER BY nn', 'SELECT corr(i4, i2) AS a, corr(n, i8) AS b, regr_slope(i8, n0) AS c, covar_samp(i4, n) AS d, regr_intercept(i8, i4) AS e FROM types', 'SELECT nt, nn, stddev(f8) AS a, corr(f8, n) AS b FROM types GROUP BY nt, nn ORDER BY nt, nn',
	'SELECT customer, stddev(weight) AS a, corr(weight, quantity) AS b, regr_slope(price, quantity) AS c FROM sales WHERE customer < 200 GROUP BY customer ORDER BY customer', 'SELECT stddev(f8) FILTER (WHERE b) AS a, corr(f8, f4) FILTER (WHERE i4 > 0) AS b, corr(f8, f4) FILTER (WHERE id < 0) AS c, variance(1.0::float8 / nn) FILTER (WHERE nn <> 0) AS d FROM types', 'SELECT s_name, stddev(weight) AS a, corr(weight, s_id) AS b FROM sales JOIN shop ON shop = s_id GROUP BY s_name ORDER BY s_name',
	'SELECT nn, b, GROUPING(nn, b) AS g, stddev(f8) AS a, corr(f8, i4) AS c, regr_count(f8, i4) AS d FROM types GROUP BY CUBE (nn, b) ORDER BY nn, b, g', 'SELECT nn, stddev(f8) AS s FROM types GROUP BY nn HAVING stddev(f8) > 3 AND corr(f8, f4) IS NOT NULL ORDER BY nn'
]) AS q;
-- where values differ little, PostgreSQL's own sums lose digits: as numeric shows
SET gpuconc.debug_offload = 'require';
SELECT stddev(x) AS s, var_pop(x) AS v, regr_slope(x, f8) AS l, corr(x, f8) AS c FROM (SELECT 1e12 + f8 AS x, f8 FROM types) AS q \gset
SET gpuconc.debug_offload = 'forbid';
SELECT abs(:s / stddev(x) - 1) < 1e-9 AS s, abs(:v / var_pop(x) - 1) < 1e-9 AS v, abs(:l - 1) < 1e-9 AS l, abs(:c - 1) < 1e-9 AS c FROM (SELECT (1e12 + f8)::numeric AS x FROM (SELECT f8::numeric FROM types) AS p) AS q;
RESET gpuconc.debug_offload;
EXPLAIN (COSTS OFF) SELECT nn, stddev(f8), corr(f8, i4) FROM types GROUP BY nn;
-- values that are not finite, or are not in between
SELECT q, check_same(q, '{cached}') FROM unnest(ARRAY['SELECT variance(f8), corr(f8, f8) FROM extremes WHERE id IN (3, 5)', 'SELECT variance(f8), corr(f8, i4) FROM extremes WHERE id IN (2, 5)', 'SELECT variance(f4), corr(f4, i4) FROM extremes WHERE id IN (1, 2)', 'SELECT id, stddev(f8), regr_slope(f8, f4) FROM extremes WHERE id < 7 GROUP BY id', 'SELECT stddev(x * 1e-160) FROM (SELECT id::float8 AS x FROM types) q', 'SELECT stddev(x * 1e-300) = 0 FROM (SELECT id::float8 AS x FROM types) q']) AS q;
SELECT q, check_error(q) FROM unnest(ARRAY['SELECT variance(x * 1e200) FROM (SELECT id::float8 AS x FROM types) q', 'SELECT corr(x * 1e160, x) FROM (SELECT id::float8 AS x FROM types) q', 'SELECT nn, regr_sxx(x, x * 1e300) FROM (SELECT nn, id::float8 AS x FROM types) q GROUP BY nn HAVING count(*) < 0', 'SELECT corr(1 / (id - 7), 1) FROM types', 'SELECT regr_count(1, 1 / (id - 7)) FROM types']) AS q;
-- of different values
SELECT q, check_near(q) FROM unnest(ARRAY['SELECT stddev(DISTINCT f8) AS a, sum(DISTINCT f4) AS b, avg(DISTINCT f8) AS c FROM types', 'SELECT nn, variance(DISTINCT f4) AS a, sum(DISTINCT f8) FILTER (WHERE b) AS b, count(DISTINCT f8) AS c FROM types GROUP BY ROLLUP (nn) ORDER BY nn']) AS q;
-- beside aggregates of different values: in parts, in rounds, by grouping sets, without rows
SELECT q, check_near(q) FROM unnest(ARRAY[
	'SELECT nn, count(DISTINCT i4) AS n, corr(f8, f4) AS c, stddev(f8) AS s, variance(f8) FILTER (WHERE b) AS v, regr_slope(f8, i2) AS l, regr_count(f8, i2) AS r, covar_pop(i4, f4) AS p FROM types GROUP BY nn ORDER BY nn',
	'SELECT count(DISTINCT i4) AS n, sum(DISTINCT i2) AS m, stddev(f8) AS s, corr(f8, i4) AS c, regr_r2(f8, f4) FILTER (WHERE b) AS r, count(DISTINCT f4) AS o FROM types',
	'SELECT nn, b, GROUPING(nn, b) AS g, count(DISTINCT d) AS n, stddev(f8) AS s, corr(f8, i4) AS c FROM types GROUP BY CUBE (nn, b) ORDER BY nn, b, g',
	'SELECT count(DISTINCT i4) AS n, stddev(f8) AS s, corr(f8, f4) AS c, regr_count(f8, f4) AS r FROM types WHERE id < 0'
]) AS q;
SELECT check_aggregated('SELECT nn, count(DISTINCT id), variance(x), corr(x, x), regr_sxx(x, x) FROM (SELECT nn, id, nn / 4.0::float8 AS x FROM types) AS q GROUP BY nn');
-- aggregates left to PostgreSQL
SET gpuconc.enable_float_aggs = off;
SELECT q, refusal(q) FROM unnest(ARRAY['SELECT stddev(f8) FROM types', 'SELECT corr(i4, i2) FROM types']) AS q;
SELECT check_aggregated('SELECT regr_count(i4, i2), stddev(i4) FROM types');
RESET gpuconc.enable_float_aggs;
