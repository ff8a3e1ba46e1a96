-- Rows of a CTE that are kept on the device, for several readers.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA rows_read;
SET search_path = rows_read, public;

CREATE TABLE l (id int, k int, c1 int, c2 int, c3 int, v int, t text, b char(4), n numeric(10,2), w numeric(30,10), nv numeric, f4 float4, f8 float8, d date, ts timestamp, y bool, i8 int8);
INSERT INTO l SELECT i, CASE WHEN i % 17 > 0 THEN i % 600 END, i % 10, i % 10, i % 10, CASE WHEN i % 7 > 0 THEN i % 100 - 50 END, CASE WHEN i % 13 > 0 THEN 't' || i % 40 END, 'b' || i % 30,
	CASE WHEN i % 11 > 0 THEN (i % 2000 - 1000) / 100.0 END, (i * 104729::int8 % 1000003) * 567.0123456789, CASE WHEN i % 3 = 0 THEN i % 50 WHEN i % 3 = 1 THEN (i % 50)::numeric(8,1) ELSE (i % 50)::numeric(8,3) + 0.125 END,
	(i % 64 - 32) / 4.0, CASE WHEN i % 9 > 0 THEN (i % 512 - 256) / 8.0 END, date '2000-01-01' + i % 90, timestamp '2000-01-01' + i % 50 * interval '1 hour', CASE WHEN i % 5 > 0 THEN i % 3 = 0 END, i * 1000003::int8
FROM generate_series(1, 30000) AS i;
CREATE TABLE o (k int PRIMARY KEY, x int, name text, n numeric(12,4));
INSERT INTO o SELECT i, nullif(i % 50, 3), 't' || i % 37, i / 16.0 FROM generate_series(0, 499) AS i;
CREATE TABLE none (k int, v int);
CREATE TABLE few AS SELECT i AS k FROM generate_series(1, 20) AS i;
SELECT settle();
VACUUM ANALYZE l, o, none, few;

CREATE FUNCTION check_rows(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('search_path', 'rows_read, public', true);
	RETURN check_here(query);
END $$;
-- Pipelines of the first node that keep rows, and those that read such.
CREATE FUNCTION kept(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	nodes int := 0;
	made int := 0;
	read int := 0;
BEGIN
	PERFORM set_config('search_path', 'rows_read, public', true), set_config('gpuconc.debug_offload', 'prefer', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		EXIT WHEN nodes > 0 AND line ~ '->';
		nodes := nodes + (line ~ 'Custom Scan')::int;
		made := made + (line ~ '^ *Rows: ')::int;
		read := read + (line ~ '^ *[A-Z][a-z]+: rows of ')::int;
	END LOOP;
	PERFORM set_config('gpuconc.debug_offload', 'allow', true);
	RETURN made || ' of ' || read;
END $$;

EXPLAIN (COSTS OFF) WITH w AS MATERIALIZED (SELECT l.*, o.x FROM l JOIN o USING (k) WHERE o.x < 30)
SELECT a.x, count(*), sum(b.v) FROM w a JOIN w b ON a.id = b.id + 1 GROUP BY a.x;

-- a self join; as build and streamed; three readers, one with a filter; outer, semi and anti joins; UNION ALL; DISTINCT; rows themselves
SELECT q, kept(q), check_rows(q) FROM unnest(ARRAY[
	'WITH w AS MATERIALIZED (SELECT l.*, o.x FROM l JOIN o USING (k) WHERE o.x < 30) SELECT a.x, count(*), sum(b.v) FROM w a JOIN w b ON a.id = b.id + 1 GROUP BY a.x',
	'WITH w AS MATERIALIZED (SELECT l.*, o.x FROM l JOIN o USING (k) WHERE o.x < 30) SELECT count(*), sum(a.v), sum(c.i8) FROM w a, w b, w c WHERE a.id = b.id + 1 AND b.id = c.id - 2 AND c.v > 20',
	'WITH w AS MATERIALIZED (SELECT l.*, o.x FROM l JOIN o USING (k) WHERE o.x < 30) SELECT a.x, count(*), sum(b.v) FROM w a LEFT JOIN w b ON a.id = b.id + 1 AND b.v > 0 GROUP BY a.x',
	'WITH w AS MATERIALIZED (SELECT l.*, o.x FROM l JOIN o USING (k) WHERE o.x < 30) SELECT a.v, b.v, count(*) FROM w a FULL JOIN w b ON a.id = b.id + 7 GROUP BY a.v, b.v',
	'WITH w AS MATERIALIZED (SELECT l.*, o.x FROM l JOIN o USING (k) WHERE o.x < 30) SELECT count(*), sum(v) FROM w WHERE EXISTS (SELECT FROM w z WHERE z.id = w.id + 3) AND NOT EXISTS (SELECT FROM w z WHERE z.id = w.id + 1)',
	'WITH w AS MATERIALIZED (SELECT l.*, o.x FROM l JOIN o USING (k) WHERE o.x < 30) SELECT x, count(*), sum(v) FROM (SELECT x, v FROM w WHERE v > 10 UNION ALL SELECT v, x FROM w UNION ALL SELECT k, k FROM few) u GROUP BY x',
	'WITH w AS MATERIALIZED (SELECT l.*, o.x FROM l LEFT JOIN o USING (k)) SELECT few.k, count(*), sum(a.v) FROM few, w a, w b WHERE few.k = a.x AND b.id = a.id GROUP BY few.k',
	'WITH w AS MATERIALIZED (SELECT l.id, l.v, o.x FROM l FULL JOIN o USING (k)) SELECT a.x, count(*), count(a.v), count(b.x) FROM w a LEFT JOIN w b ON a.id = b.id - 1 GROUP BY a.x',
	'WITH w AS MATERIALIZED (SELECT id, v FROM l WHERE v > 40) SELECT count(DISTINCT a.v), sum(DISTINCT b.v) FROM w a JOIN w b ON a.id = b.id + 1',
	'WITH w AS MATERIALIZED (SELECT id, v, k FROM l WHERE v > 40) SELECT a.id, b.id, a.v + b.v FROM w a JOIN w b ON a.k = b.k + 1 AND a.id < 1000',
	'WITH w AS MATERIALIZED (SELECT id, v, k FROM l WHERE v > 40) SELECT a.id, b.id, a.v FROM w a JOIN w b ON a.k = b.k + 1 ORDER BY a.id, b.id LIMIT 7',
	'WITH w AS MATERIALIZED (SELECT id, k FROM l WHERE v = 40), u AS MATERIALIZED (SELECT a.id, o.x FROM w a JOIN w b ON a.k = b.k JOIN o ON o.k = b.k) SELECT count(*), sum(a.x) FROM u a JOIN u b ON a.id = b.id',
	'WITH w AS MATERIALIZED (SELECT id, k, v FROM l WHERE v > 30), g AS MATERIALIZED (SELECT k, sum(v) AS s FROM w GROUP BY k) SELECT count(*), sum(a.s) FROM g a JOIN g b ON a.k = b.k + 1 JOIN w ON w.k = a.k',
	'WITH w AS MATERIALIZED (SELECT k, v FROM l UNION ALL SELECT k, x FROM o) SELECT count(*), sum(a.v) FROM w a JOIN w b ON a.k = b.k + 1 WHERE a.v > 0 AND b.v < 10',
	'WITH w AS MATERIALIZED (SELECT l.k, v FROM l JOIN few ON few.k = l.v UNION ALL SELECT k, x FROM o) SELECT count(*), sum(a.v) FROM w a JOIN w b ON a.k = b.k + 1 WHERE a.v > 0 AND b.v < 10',
	'WITH w AS MATERIALIZED (SELECT x.k, x.v FROM (SELECT l.k, v FROM l JOIN few ON few.k = l.v UNION ALL SELECT k, x FROM o) x JOIN few ON few.k = x.v) SELECT count(*), sum(a.v) FROM w a JOIN w b ON a.k = b.k + 1 WHERE a.v > 0',
	'WITH w AS MATERIALIZED (SELECT a.k AS p, b.k AS q FROM few a, few b WHERE a.k < b.k) SELECT x.p, count(*) FROM w x JOIN w y ON x.q = y.p GROUP BY x.p',
	'WITH w AS MATERIALIZED (SELECT g.k, g.s, o.x FROM o JOIN (SELECT k, sum(v) AS s FROM l GROUP BY k) g USING (k)) SELECT count(*), sum(a.s - b.s) FROM w a JOIN w b ON a.k = b.k + 1'
]) AS q;
-- kept apart as well: what would fail for rows that no reader wants; not if nobody reads an output that would
SELECT q, kept(q), check_rows(q) FROM unnest(ARRAY[
	'WITH w AS (SELECT id, l.k, 1000 / (x + 1) AS r FROM l JOIN o USING (k) WHERE 5000 / (l.k + 1) > 10) SELECT count(*), sum(a.id) FROM w a JOIN w b ON a.id = b.id + 1',
	'WITH w AS (SELECT id, l.k, 1000 / (x + 1) AS r FROM l JOIN o USING (k) WHERE 5000 / (l.k + 1) > 10) SELECT count(*), sum(a.r) FROM w a JOIN w b ON a.id = b.id + 1',
	'WITH w AS (SELECT id, l.k, 1000 / (x + 1) AS r FROM l JOIN o USING (k)) SELECT count(*) FROM w a JOIN w b ON a.id = b.id + 1 AND b.r > 7',
	'WITH w AS MATERIALIZED (SELECT id, l.k, 1000 / x AS r FROM l JOIN o USING (k)) SELECT count(*), sum(a.r) FROM w a JOIN w b ON a.id = b.id + 1',
	'WITH w AS MATERIALIZED (SELECT id, l.k, 1000 / x AS r FROM l JOIN o USING (k)) SELECT count(*) FROM (SELECT a.r, b.id FROM w a JOIN w b ON a.id = b.id + 1) y',
	'WITH w AS MATERIALIZED (SELECT k, count(*) AS c, 10 / sum(id - id) AS r FROM l GROUP BY k) SELECT count(*) FROM w a JOIN w b USING (k)',
	'WITH w AS (SELECT id, l.k, x FROM l JOIN o USING (k)) SELECT a.k, count(*) FROM w a JOIN w b ON a.id = b.id + 1 GROUP BY a.k HAVING 10 / (a.k - 550) > -5',
	'WITH w AS (SELECT k, 10 / (k - 550) AS r, c FROM (SELECT k, count(*) AS c FROM l GROUP BY k) g WHERE k < 500) SELECT count(*) FROM w a JOIN w b ON (1 / (a.c - a.c + 1) > 0 AND b.k = 1 AND a.k = 3) OR (a.k = 2 AND b.k = 2)',
	'WITH w AS (SELECT id, l.k, x FROM l JOIN o USING (k) WHERE 5000 / (l.k + 1) > 10) SELECT count(*), sum(a.x) FROM w a JOIN w b ON a.id = b.id + 1',
	'WITH w AS MATERIALIZED (SELECT id, l.k, x FROM l JOIN o USING (k) WHERE 5000 / (l.k - 3) > 10) SELECT count(*), sum(a.x) FROM w a JOIN w b ON a.id = b.id + 1'
]) AS q;
-- 0 rows, 1 row, and many more than are expected
SELECT q, kept(q), check_rows(q) FROM unnest(ARRAY[
	'WITH w AS MATERIALIZED (SELECT * FROM l WHERE v > 1000) SELECT count(*), sum(a.v) FROM w a JOIN w b ON a.id = b.id',
	'WITH w AS MATERIALIZED (SELECT none.v, o.k FROM none JOIN o USING (k)) SELECT count(*), sum(a.v) FROM w a LEFT JOIN w b ON a.k = b.k',
	'WITH w AS MATERIALIZED (SELECT none.v, o.k FROM none JOIN o USING (k)) SELECT few.k, a.v, b.k FROM few LEFT JOIN w a USING (k) LEFT JOIN w b USING (k)',
	'WITH w AS MATERIALIZED (SELECT * FROM l WHERE id = 77) SELECT a.t, b.v, a.n FROM w a JOIN w b ON a.id = b.id',
	'WITH w AS MATERIALIZED (SELECT l.* FROM l JOIN few ON few.k > c1 WHERE c1 = 4 AND c2 = 4 AND c3 = 4) SELECT count(*), sum(a.v), sum(b.i8) FROM w a JOIN w b ON a.id = b.id + 10 AND a.k = b.k',
	'WITH w AS MATERIALIZED (SELECT l.* FROM l JOIN few ON few.k > c1 WHERE c1 = 4 AND c2 = 4 AND c3 = 4) SELECT count(*), sum(v) FROM (SELECT v FROM w UNION ALL SELECT id FROM w) u'
]) AS q;
-- each type, NULLs among them
SELECT q, kept(q), check_rows(q) FROM unnest(ARRAY[
	'WITH w AS MATERIALIZED (SELECT * FROM l WHERE id % 3 = 0) SELECT a.id, b.* FROM w a JOIN w b ON a.id = b.id + 3',
	'WITH w AS MATERIALIZED (SELECT id, t, b, o.name FROM l LEFT JOIN o ON o.k = l.k) SELECT a.t, a.name, count(*), min(b.t), max(b.b) FROM w a JOIN w b ON a.t = b.t AND a.id = b.id + 40 GROUP BY a.t, a.name',
	'WITH w AS MATERIALIZED (SELECT id, t, upper(t) AS u, length(name) AS z FROM l LEFT JOIN o ON o.k = l.k) SELECT count(*), count(a.u), sum(b.z) FROM w a JOIN w b ON a.id = b.id + 1 WHERE a.t LIKE ''t1%'' AND b.u > ''T2''',
	'WITH w AS MATERIALIZED (SELECT id, l.n, l.n * 3 AS m, o.n AS p, l.n + o.n AS q FROM l JOIN o USING (k)) SELECT sum(a.n), sum(a.m), avg(b.p), max(b.q), sum(a.n * b.p) FROM w a JOIN w b ON a.id = b.id + 1 AND a.n < b.q',
	'WITH w AS MATERIALIZED (SELECT id, nv FROM l WHERE id % 2 = 0) SELECT a.nv, b.nv, a.id FROM w a JOIN w b ON a.id = b.id + 2',
	'WITH w AS MATERIALIZED (SELECT id, nv FROM l WHERE id % 2 = 0) SELECT sum(a.nv), max(b.nv), count(*) FROM w a JOIN w b ON a.id = b.id + 2 WHERE a.nv > 10',
	'WITH w AS MATERIALIZED (SELECT id, w, w * w AS sq FROM l) SELECT sum(a.w), max(b.w) FROM w a JOIN w b ON a.id = b.id + 1',
	'WITH w AS MATERIALIZED (SELECT id, w, w * w AS sq FROM l) SELECT sum(a.sq) FROM w a JOIN w b ON a.id = b.id + 1',
	'WITH w AS MATERIALIZED (SELECT id, f4, f8, f4 * 2 AS g FROM l WHERE v > 0) SELECT a.id, a.f4, b.f8, b.g FROM w a JOIN w b ON a.id = b.id + 1',
	'WITH w AS MATERIALIZED (SELECT id, d, ts, y, d + 3 AS e, NOT y AS z FROM l WHERE v > 0) SELECT a.d, b.y, count(*), max(a.ts), min(b.e), bool_or(a.z) FROM w a JOIN w b ON a.id = b.id + 1 GROUP BY a.d, b.y',
	'WITH w AS MATERIALIZED (SELECT id, extract(year FROM d) AS yr, v / 7.0 AS q FROM l) SELECT sum(a.yr), sum(b.q) FROM w a JOIN w b ON a.id = b.id + 1',
	'WITH w AS MATERIALIZED (SELECT id, v, 5 AS five, 2.50 AS num FROM l WHERE v > 0) SELECT a.five, b.num, count(*) FROM w a LEFT JOIN w b ON a.id = b.id + 1 GROUP BY a.five, b.num',
	'WITH w AS MATERIALIZED (SELECT id, v, ''x''::text AS tx FROM l WHERE v > 0) SELECT b.tx, count(*) FROM w a LEFT JOIN w b ON a.id = b.id + 1 GROUP BY b.tx',
	'WITH w AS MATERIALIZED (SELECT id, v FROM l) SELECT count(*) FROM w a JOIN w b ON a = b',
	'WITH w AS MATERIALIZED (SELECT id, v, random() AS r FROM l) SELECT count(*) FROM w a JOIN w b ON a.id = b.id',
	'WITH w AS MATERIALIZED (SELECT id, v FROM l LIMIT 10) SELECT count(*) FROM w a JOIN w b ON a.id = b.id'
]) AS q;
-- 70 outputs have two words of NULLs
SELECT kept(q), check_rows(q) FROM (SELECT format('WITH w AS MATERIALIZED (SELECT id, %s FROM l WHERE id < 5000) SELECT count(*), %s FROM w a JOIN w b ON a.id = b.id + 1',
	string_agg(format('nullif(v, %s) AS v%s', i, i), ', '), string_agg(format('count(a.v%s), sum(a.v%s)', i, i), ', ')) FROM generate_series(1, 69) AS i) AS made(q);
-- prepared, with a parameter; and rows that change meanwhile
PREPARE p (int) AS WITH w AS MATERIALIZED (SELECT l.id, l.v, o.x FROM l JOIN o USING (k) WHERE o.x < $1) SELECT count(*), sum(a.v), sum(b.x) FROM w a JOIN w b ON a.id = b.id + 1;
SET gpuconc.debug_offload = require;
SET plan_cache_mode = force_generic_plan;
EXECUTE p (5);
EXECUTE p (40);
BEGIN;
DELETE FROM l WHERE id % 4 = 0;
EXECUTE p (40);
ROLLBACK;
EXECUTE p (0);
SET gpuconc.debug_offload = forbid;
EXECUTE p (5);
EXECUTE p (40);
SET client_min_messages = warning;
DROP SCHEMA rows_read CASCADE;
