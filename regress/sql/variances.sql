-- Quotients, variances and their square roots equal PostgreSQL's to the last digit: 140,000 states, of small and large values that differ little and much.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
SET client_min_messages = warning;
DROP TABLE IF EXISTS states;
RESET client_min_messages;
-- Of a group, values are about one number below 10^(g % 17), and differ by less than 10^(g / 17 % 17) or that.
CREATE TABLE states WITH (autovacuum_enabled = off) AS
SELECT g, w::smallint AS i2, v::int AS i4, x AS i8, (w % 100000 / 100.0)::numeric(9,2) AS n2, (x % 1000000000000000 / 1000000.0)::numeric(15,6) AS n6, (v / 1000000000000.0)::numeric(14,12) AS n12,
	trim_scale((w % 1000 / 8.0)::numeric(9,3)) AS n, nullif(w, w / 3 * 3) AS few
FROM (SELECT g, x, x % 2147483647 AS v, x % 32767 AS w
	FROM generate_series(1, 20000) AS g, generate_series(0, g % 7) AS i,
		LATERAL (SELECT hashint8extended(g, 1) % p + hashint8extended(g * 8 + i, 2) % least(p, (10 ^ (g / 17 % 17))::bigint) AS x FROM (SELECT (10 ^ (g % 17))::bigint AS p) AS q) AS r) AS s;
-- Of many large values, what a variance is made of is beyond 128 bits.
INSERT INTO states SELECT 20001 + i % 5, 32767 - i % 5 * (i % 2), 2147483647 - i % 3, 30000000000000000 + i % 2, i % 7, 999999999.999999 - i % 3, i % 2 * 0.000000000001, 1.5, NULL FROM generate_series(1, 5000) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) states;
SELECT q, check_here(q) FROM unnest(ARRAY[
	'SELECT g, count(*), avg(i2), var_samp(i2), var_pop(i2), stddev_samp(i2), stddev_pop(i2) FROM states GROUP BY g',
	'SELECT g, avg(i4), var_samp(i4), var_pop(i4), stddev_samp(i4), stddev_pop(i4) FROM states GROUP BY g',
	'SELECT g, avg(i8), var_samp(i8), var_pop(i8), stddev_samp(i8), stddev_pop(i8) FROM states GROUP BY g',
	'SELECT g, avg(n2), var_samp(n2), var_pop(n2), stddev_samp(n2), stddev_pop(n2) FROM states GROUP BY g',
	'SELECT g, avg(n6), var_samp(n6), var_pop(n6), stddev_samp(n6), stddev_pop(n6) FROM states GROUP BY g',
	'SELECT g, avg(n12), var_samp(n12), var_pop(n12), stddev_samp(n12), stddev_pop(n12) FROM states GROUP BY g',
	'SELECT g, avg(n), var_samp(n), var_pop(n), stddev_samp(n), stddev_pop(n) FROM states GROUP BY g',
	'SELECT g, avg(few), var_samp(few), stddev_pop(few) FROM states GROUP BY g',
	'SELECT n2 / n12, n6 / n2, n / i4, n6 / few, i8 / n FROM states WHERE n2 <> 0 AND n12 <> 0 AND i4 <> 0 AND n <> 0 AND g % 4 = 0',
	'SELECT i4 % 2, avg(i2), stddev(i4), var_pop(i8 % 1000000000), stddev_pop(n12), var_samp(n), avg(n6) FROM states GROUP BY 1'
]) AS q;
-- Variances and standard deviations of subqueries are computed on the device, where joins, conditions and aggregates use them.
SELECT q, check_aggregated(q, '{cached}') FROM unnest(ARRAY[
	'SELECT * FROM (SELECT g, count(*), stddev_samp(i2), stddev_pop(i2), stddev(n2), stddev_pop(n2), var_samp(i2), var_pop(n2) FROM states GROUP BY g) AS a JOIN (SELECT g, stddev(few), stddev_pop(few), variance(few), var_pop(few), stddev_samp(i4), stddev_pop(i4) FROM states GROUP BY g) AS b USING (g)',
	'SELECT * FROM (SELECT g, stddev_samp(i8), stddev_pop(i8) FROM states WHERE g % 17 < 12 AND g <= 20000 GROUP BY g) AS a JOIN (SELECT g, stddev(n2 * i4), stddev_pop(i4 * 1.5 - n2), var_samp(i4 * 1.5 - n2), var_pop(i8) FROM states WHERE g % 17 < 6 GROUP BY g) AS b USING (g)',
	'WITH spread AS (SELECT g, k, s, m, CASE m WHEN 0 THEN NULL ELSE s / m END AS c FROM (SELECT g / 2 AS g, g % 2 AS k, stddev_samp(i2) * 1.000 AS s, avg(few) AS m FROM states GROUP BY 1, 2) AS a WHERE CASE m WHEN 0 THEN 0 ELSE s / m END > 0.3)
		SELECT a.g, a.m, a.c, b.m, b.c, b.s FROM spread AS a, spread AS b WHERE a.g = b.g AND a.k = 0 AND b.k = 1',
	'SELECT a.g, b.s, b.p, b.s * 2 + b.p, b.v, b.v - b.p FROM (SELECT DISTINCT g FROM states) AS a LEFT JOIN (SELECT g, stddev(few) AS s, stddev_pop(i2) AS p, var_samp(n2) AS v FROM states WHERE g % 3 = 0 GROUP BY g) AS b USING (g)',
	'SELECT n, count(*), count(s), sum(s), avg(p), sum(v) FROM (SELECT g, count(*) AS n, stddev(few) AS s, stddev_pop(i2) AS p, variance(few) AS v FROM states GROUP BY g HAVING stddev(i2) IS NOT NULL AND stddev(few) >= 0) AS a GROUP BY n',
	'SELECT a.g, s FROM (SELECT g, stddev(i4) AS s FROM states WHERE few IS NULL GROUP BY g) AS a, (SELECT g, avg(i4) AS m FROM states GROUP BY g) AS b WHERE a.g = b.g AND s > m ORDER BY s DESC, a.g LIMIT 20',
	'SELECT a.g, s, m FROM (SELECT g, stddev(i2) FILTER (WHERE i2 > 5) AS s, stddev_samp(DISTINCT few) AS m FROM states GROUP BY g) AS a, (SELECT DISTINCT g FROM states WHERE g % 5 < 2) AS b WHERE a.g = b.g',
	'SELECT a.g, v, m FROM (SELECT g, variance(i2) AS v, var_pop(DISTINCT few) FILTER (WHERE few > 5) AS m FROM states GROUP BY g HAVING var_samp(i2) > 100) AS a, (SELECT g, avg(i2) AS m2 FROM states GROUP BY g) AS b WHERE a.g = b.g AND v > m2'
]) AS q;
-- PostgreSQL's: numerics of several scales or many digits, groups by a standard deviation; more digits than the device has
SELECT q, check_aggregated(q, '{cached}') FROM unnest(ARRAY[
	'SELECT * FROM (SELECT g, var_pop(i8) FROM states GROUP BY g) AS a JOIN (SELECT DISTINCT g FROM states) AS b USING (g)', 'SELECT * FROM (SELECT g, stddev(n) FROM states GROUP BY g) AS a JOIN (SELECT DISTINCT g FROM states) AS b USING (g)',
	'SELECT s, count(*) FROM (SELECT g, stddev(i2) AS s FROM states GROUP BY g) AS a GROUP BY s', 'SELECT * FROM (SELECT g, stddev(n6) FROM states GROUP BY g) AS a JOIN (SELECT DISTINCT g FROM states) AS b USING (g)',
	'SELECT * FROM (SELECT g, stddev(i8) FROM states GROUP BY g) AS a JOIN (SELECT DISTINCT g FROM states) AS b USING (g)'
]) AS q;
-- zero divides nothing
SELECT check_error('SELECT a.g, c FROM (SELECT g, stddev(i2) / (avg(few) - avg(few)) AS c FROM states GROUP BY g) AS a JOIN (SELECT DISTINCT g FROM states) AS b USING (g) WHERE c > 1', '{cached}');
-- nor is an error left out behind NULL, of one value, if another subquery groups by what raises it
SELECT check_error('SELECT count(*) FROM (SELECT g, 1 / i2 AS r FROM states WHERE i2 <> 0 GROUP BY g, 1 / i2) AS a JOIN (SELECT g, i2, stddev(n2) AS s FROM states GROUP BY g, i2 HAVING (stddev(n2) > 10000000 AND 1 / i2 > 0) OR count(*) > 10000) AS b ON a.g = b.g', '{cached}');
-- Where values make a node fall back, parts of PostgreSQL's own plan are offloaded, the next time, too.
CREATE FUNCTION pg_temp.nodes(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	line text;
	n int := 0;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' || query LOOP
		n := n + (line ~ 'Custom Scan .Gpuconc')::int;
	END LOOP;
	RETURN n;
END $$;
SELECT check_same(q, '{cached}'), pg_temp.nodes(q) > 1 AS first, pg_temp.nodes(q) > 1 AS second, pg_temp.nodes(q) > 1 AS third
FROM (VALUES ('SELECT a.g, s FROM (SELECT g, stddev_pop(i8) AS s FROM states GROUP BY g) AS a JOIN (SELECT DISTINCT g FROM states) AS b USING (g)')) AS v (q);
DROP TABLE states;
