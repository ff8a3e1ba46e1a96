-- Numerics whose display scales differ, in aggregates of several steps.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
SET client_min_messages = warning;
DROP TABLE IF EXISTS cached.scales, delta.scales, mixed.scales;
RESET client_min_messages;
-- n: equal values have one scale, same: they differ in it
CREATE TABLE cached.scales (id int, g int, v int, n numeric, same numeric) WITH (autovacuum_enabled = off);
INSERT INTO cached.scales SELECT i, i % 7, i % 30, CASE WHEN i % 11 > 0 THEN trim_scale(((i % 90) - 20) / 4.0) END, CASE WHEN i % 3 = 0 THEN i % 20 ELSE round(i % 20, 3) END
FROM generate_series(1, 3000) AS i;
INSERT INTO cached.scales VALUES (4001, 2, 1, 100, 7.25), (4002, 2, 1, 100.5, 7.25), (4003, 3, 1, -100.125, -7);
SELECT copy_states('scales', 'id');
SELECT settle();
VACUUM (FREEZE, ANALYZE) cached.scales, mixed.scales;
SELECT mix('scales', 'id % 300 = 3 OR id > 4001');

-- minima and maxima beside DISTINCT, which are those of smaller groups
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT g, count(DISTINCT v), min(n), max(n) FROM scales GROUP BY g', 'SELECT count(DISTINCT v), min(n), max(n), min(same), max(same) FROM scales WHERE id <> 4001',
	'SELECT g, count(DISTINCT v), min(n) FILTER (WHERE n > 0), max(CASE WHEN v > 3 THEN n END) FROM scales GROUP BY g',
	'SELECT g, count(DISTINCT v), max(same) FROM scales WHERE id < 4000 GROUP BY g'
]) AS q;
-- sums of groups: compared, they need no scale
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT v, sum(n), sum(same), count(*) FROM scales GROUP BY v HAVING sum(n) > 580.25 AND sum(same) < 700.0001', 'SELECT * FROM (SELECT v, sum(n) s, min(n) FROM scales GROUP BY v ORDER BY s DESC, v LIMIT 6) x',
	'SELECT g, v, sum(CASE WHEN v > 9 THEN n ELSE 0 END), avg(coalesce(n * v, 0)), sum(CASE WHEN g = 1 THEN 0.00 WHEN g < 4 THEN same END), stddev(CASE WHEN v > 9 THEN n ELSE 0 END), sum(n / (v + 1)) FROM scales GROUP BY CUBE (g, v)', 'SELECT g, count(DISTINCT v), sum(CASE WHEN v > 9 THEN n ELSE 0 END), avg(coalesce(n * v, 0)) FROM scales GROUP BY g',
	'SELECT g, count(DISTINCT v), sum(n), avg(same), variance(n) FROM scales GROUP BY g', 'SELECT count(DISTINCT v), sum(n) FILTER (WHERE same > 3), avg(n) FROM scales', 'SELECT g, v, sum(n) FROM scales WHERE v < 9 GROUP BY GROUPING SETS ((g, v), (g), ()) HAVING sum(n) > 20.125',
	'SELECT count(*) FROM (SELECT v, sum(n) s FROM scales GROUP BY v) x WHERE s > 580.25', 'SELECT v, round(sum(n), 1), sum(n)::int FROM scales GROUP BY v HAVING round(sum(n), 0) > 600 OR sum(n)::float8 < 7.5'
]) AS q;
-- queries that need it are left to PostgreSQL
SELECT q, check_same(q) FROM unnest(ARRAY[
	'SELECT max(s), sum(s) FROM (SELECT v, sum(n) s FROM scales GROUP BY v) x', 'SELECT v, avg(n) FROM scales GROUP BY v HAVING avg(n) > 6.5', 'SELECT a.id, x.s FROM scales a JOIN (SELECT v, sum(n) s FROM scales GROUP BY v) x ON x.v = a.g WHERE a.id < 50', 'SELECT v, sum(n) FROM scales GROUP BY v HAVING sum(n) / sum(same) > 1'
]) AS q;
-- a remainder has the larger scale of its arguments, which the planner knows
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT max(s), count(*) FROM (SELECT v, sum(CASE WHEN g > 1 THEN n::numeric(9,1) % 2.125 ELSE same::numeric(9,3) END) s FROM scales GROUP BY v) x'
]) AS q;

-- compared at a scale at which 128 bits do not hold them: a * a and b are equal in some rows, and nearly so in others
SET client_min_messages = warning;
DROP TABLE IF EXISTS cached.squares, delta.squares, mixed.squares;
RESET client_min_messages;
CREATE TABLE cached.squares (id int, g int, a numeric(18, 2), b numeric(18, 8), c numeric(14, 2)) WITH (autovacuum_enabled = off);
INSERT INTO cached.squares SELECT i, i % 7, x, CASE WHEN i % 13 = 0 THEN NULL ELSE least(x * x, 9e9) + (i % 3 - 1) * 1e-8 * (i % 2) END, (i - 1400) * 6e8
FROM (SELECT i, CASE WHEN i % 11 = 0 THEN NULL WHEN i % 50 = 0 THEN (i - 1500) * 6e12 ELSE (i - 1500) / 4.0 END AS x FROM generate_series(1, 3000) AS i) AS q;
SELECT copy_states('squares', 'id');
SELECT settle();
VACUUM (FREEZE, ANALYZE) cached.squares, mixed.squares;
SELECT mix('squares', 'id % 300 = 3');
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT count(*) FROM squares WHERE a * a = b', 'SELECT count(*), sum(id) FROM squares WHERE a * a <> b', 'SELECT g, count(*) FROM squares WHERE a * a > b GROUP BY g', 'SELECT g, count(*) FROM squares WHERE b > a * a GROUP BY g', 'SELECT count(*), sum(id) FROM squares WHERE a * a <= b OR b < 0',
	'SELECT g, count(*) FILTER (WHERE a * a IS DISTINCT FROM b), count(*) FILTER (WHERE b IS NOT DISTINCT FROM a * a), count(*) FILTER (WHERE a * a >= b), count(*) FILTER (WHERE a * a < b) FROM squares GROUP BY g', 'SELECT count(*) FROM squares WHERE NOT (a * a < b)', 'SELECT sum(CASE WHEN -(a * a) < -b THEN 1 ELSE -id END) FROM squares',
	'SELECT count(*), sum(id) FROM squares WHERE a * a > 12345678901234567890123456.000000005', 'SELECT count(*) FROM squares WHERE a * a BETWEEN 6.250000001 AND 81e24', 'SELECT count(*) FROM squares WHERE a * a > 1e-30', 'SELECT count(*) FROM squares WHERE a * a * 1.00 < 0.00000000000000000000000000000000000000000000001', 'SELECT count(*) FROM squares x JOIN squares y ON x.id = y.id WHERE x.a * y.a > x.b',
	'SELECT g, sum(c) FROM squares GROUP BY g HAVING sum(c) > 1.2 * avg(c)', 'SELECT id % 40, sum(c) FROM squares GROUP BY 1 HAVING avg(c) * 75 = sum(c) OR avg(c) * 7.5 > sum(c) + 1e15'
]) AS q;
DROP TABLE cached.squares, delta.squares, mixed.squares;
