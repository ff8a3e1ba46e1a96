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
	'SELECT g, count(DISTINCT v), sum(n), avg(same), variance(n) FROM scales GROUP BY g', 'SELECT count(DISTINCT v), sum(n) FILTER (WHERE same > 3), avg(n) FROM scales', 'SELECT g, v, sum(n) FROM scales WHERE v < 9 GROUP BY GROUPING SETS ((g, v), (g), ()) HAVING sum(n) > 20.125',
	'SELECT count(*) FROM (SELECT v, sum(n) s FROM scales GROUP BY v) x WHERE s > 580.25', 'SELECT v, round(sum(n), 1), sum(n)::int FROM scales GROUP BY v HAVING round(sum(n), 0) > 600 OR sum(n)::float8 < 7.5'
]) AS q;
-- what needs it is left to PostgreSQL
SELECT q, check_same(q) FROM unnest(ARRAY[
	'SELECT max(s), sum(s) FROM (SELECT v, sum(n) s FROM scales GROUP BY v) x', 'SELECT v, avg(n) FROM scales GROUP BY v HAVING avg(n) > 6.5', 'SELECT a.id, x.s FROM scales a JOIN (SELECT v, sum(n) s FROM scales GROUP BY v) x ON x.v = a.g WHERE a.id < 50', 'SELECT v, sum(n) FROM scales GROUP BY v HAVING sum(n) / sum(same) > 1'
]) AS q;
-- a remainder has the larger scale of its arguments, which the planner knows
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT max(s), count(*) FROM (SELECT v, sum(CASE WHEN g > 1 THEN n::numeric(9,1) % 2.125 ELSE same::numeric(9,3) END) s FROM scales GROUP BY v) x'
]) AS q;
