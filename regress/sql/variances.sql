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
DROP TABLE states;
