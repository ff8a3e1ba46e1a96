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
