-- oid, "char", time, uuid, enums, and domains over them, over the three states of a table.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
SET client_min_messages = warning;
DROP TABLE IF EXISTS cached.kinds, delta.kinds, mixed.kinds;
-- The order of the labels is not that of their OIDs.
CREATE TYPE public.temper AS ENUM ('ok', 'happy');
ALTER TYPE public.temper ADD VALUE 'sad' BEFORE 'ok';
ALTER TYPE public.temper ADD VALUE 'so-so' AFTER 'sad';
ALTER TYPE public.temper ADD VALUE 'zzz';
CREATE TYPE public.other_labels AS ENUM ('ok', 'happy');
CREATE DOMAIN public.some_uuid AS uuid CHECK (VALUE IS NOT NULL OR true);
CREATE DOMAIN public.some_temper AS temper;
CREATE DOMAIN public.some_oid AS oid CHECK (VALUE <> 7777777);
CREATE DOMAIN public.temper_again AS some_temper;
CREATE DOMAIN public.some_time AS time;
CREATE TABLE cached.kinds (id int, o oid, c "char", t time, u uuid, m temper, r regclass, "do" some_oid, du some_uuid, dm temper_again, dt some_time, g int, o2 oid, u2 uuid, m2 temper, x text) WITH (autovacuum_enabled = off);
INSERT INTO cached.kinds SELECT i,
	CASE WHEN i % 7 > 0 THEN (i * 429496729::bigint % 4294967296)::oid END,
	CASE WHEN i % 11 > 0 THEN (((i % 256) - 128)::int)::"char" END,
	CASE WHEN i % 13 > 0 THEN time '00:00' + (i * 7919 % 86400) * interval '1 second' + i % 3 * interval '1 microsecond' END,
	CASE WHEN i % 5 > 0 THEN md5((i % 97)::text)::uuid END,
	CASE WHEN i % 6 > 0 THEN (enum_range(NULL::temper))[1 + i % 5] END,
	('{pg_class,pg_proc,pg_type}'::regclass[])[1 + i % 4], i, md5((i % 10)::text)::uuid, (enum_range(NULL::temper))[1 + i % 3], time '12:00' + i % 7 * interval '1 minute', i % 10,
	CASE WHEN i % 3 > 0 THEN (i % 100)::oid ELSE 4294967295::oid END, md5((i % 50)::text)::uuid, (enum_range(NULL::temper))[1 + i % 4], md5((i % 10)::text)::uuid::text
FROM generate_series(1, 1000) AS i;
INSERT INTO cached.kinds (id, o, c, t, u, m, g)
VALUES (2001, 0, '', '00:00', '00000000-0000-0000-0000-000000000000', 'sad', 1), (2002, 4294967295, '\377', '24:00', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'zzz', 1), (2003, 2147483648, '\200', '23:59:59.999999', '00000000-0000-0000-0000-000000000001', 'happy', 2),
	(2004, 2147483647, '\177', '00:00:00.000001', '00000000-0000-0000-0100-000000000000', 'so-so', 2), (2005, 0, 'a', '24:00', '7fffffff-ffff-ffff-ffff-ffffffffffff', 'ok', 3), (2006, 1, '', '12:00', '80000000-0000-0000-0000-000000000000', 'ok', 3), (2007, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE delta.kinds (LIKE cached.kinds) WITH (autovacuum_enabled = off);
CREATE TABLE mixed.kinds (LIKE cached.kinds) WITH (autovacuum_enabled = off);
INSERT INTO delta.kinds TABLE cached.kinds;
INSERT INTO mixed.kinds TABLE cached.kinds;
VACUUM (FREEZE, ANALYZE) cached.kinds, mixed.kinds;
ANALYZE delta.kinds;
WITH gone AS (DELETE FROM mixed.kinds WHERE id % 10 = 3 OR id > 2003 RETURNING *) INSERT INTO mixed.kinds SELECT * FROM gone;
RESET client_min_messages;

-- each column: counted, grouped, returned
SELECT k, check_same(format('SELECT count(*), count(%1$I), count(DISTINCT %1$I) FROM kinds', k)) AS counts,
	check_same(format('SELECT %1$I, count(*) FROM kinds GROUP BY %1$I', k)) AS groups,
	check_same(format('SELECT id, %1$I, %1$I IS NULL FROM kinds WHERE id > 0', k)) AS "values"
FROM unnest('{o,c,t,u,m,r,do,du,dm,dt}'::text[]) AS k;
SELECT check_same('SELECT min(o), max(o), min(t), max(t), min(m), max(m), min("do"), max("do"), min(dt), max(dt) FROM kinds'), check_same('SELECT max(o), min(t), max(m) FROM kinds WHERE id < 0'),
	check_same('SELECT g, min(o), max(o), min(t), max(t), min(m), max(m), min("do"), max("do"), min(dt), max(dt) FROM kinds GROUP BY g');
-- comparisons with constants, as results and as conditions
CREATE FUNCTION public.each_op(k text, v text, sep text) RETURNS text RETURN
	(SELECT string_agg(format('%I %s %L', k, op, v), sep) FROM unnest('{=,<>,<,<=,>,>=,IS DISTINCT FROM,IS NOT DISTINCT FROM}'::text[]) AS op);
SELECT k, check_same(format('SELECT id, %s FROM kinds', string_agg(each_op(k, v, ', '), ', '))) AS results,
	check_same(format('SELECT count(*), min(id), max(id) FROM kinds WHERE %I > %L', k, min(v))) AS greater, check_same(format('SELECT count(*), min(id), max(id) FROM kinds WHERE %I = %L', k, max(v))) AS equal
FROM (VALUES ('o', '0'), ('o', '4294967295'), ('o', '2147483648'), ('o', '7'), ('c', ''), ('c', 'a'), ('c', '\377'), ('c', '\200'), ('c', '\177'), ('t', '00:00'), ('t', '24:00'), ('t', '12:00:00.000001'), ('m', 'sad'), ('m', 'ok'), ('m', 'zzz'), ('do', '16'), ('dt', '12:03'),
	('u', '00000000-0000-0000-0000-000000000000'), ('u', 'ffffffff-ffff-ffff-ffff-ffffffffffff'), ('u', '80000000-0000-0000-0000-000000000000'), ('u', '12345678-0000-0000-0000-000000000000'), ('du', 'c4ca4238-a0b9-2382-0dcc-509a6f75849b')) AS _(k, v) GROUP BY k ORDER BY k;
-- columns with each other
SELECT check_same('SELECT id, o = o2, o <> o2, o < o2, o <= "do", o > "do", o >= "do", o IS DISTINCT FROM o2, t = dt, t < dt, t <= dt, u = u2, u <> du, u IS DISTINCT FROM u2, m = m2, m <> m2, m IS NOT DISTINCT FROM m2, c = c, c <= c FROM kinds');
SELECT check_same('SELECT count(*) FROM kinds WHERE o > o2 OR t < dt OR u = u2 OR m = m2');
-- lists
SELECT check_same('SELECT id, o IN (0, 4294967295, 429496729, 7), o NOT IN (0, 4294967295), c IN (''a'', '''', ''\377''), t IN (''24:00'', ''00:00'', ''12:00''), u IN (md5(''1'')::uuid, md5(''2'')::uuid, ''ffffffff-ffff-ffff-ffff-ffffffffffff''), m IN (''sad'', ''zzz''), m <> ALL (''{sad,NULL}''), r IN (''pg_proc''::regclass, ''pg_type''::regclass) FROM kinds'),
	check_same('SELECT count(*) FROM kinds WHERE m BETWEEN ''so-so'' AND ''happy'' AND r = ''pg_proc''::regclass AND o NOT IN (5, 4294967295)');
-- orders
SELECT check_same(q) FROM unnest(ARRAY[
	'SELECT o, count(*) FROM kinds GROUP BY o ORDER BY o DESC NULLS LAST LIMIT 5', 'SELECT c, t, count(*) FROM kinds GROUP BY c, t ORDER BY c, t DESC LIMIT 50', 'SELECT u, count(*) FROM kinds GROUP BY u ORDER BY u LIMIT 9', 'SELECT m, count(*) FROM kinds GROUP BY m ORDER BY m DESC LIMIT 3',
	'SELECT u, id FROM kinds WHERE g < 9 ORDER BY u, id LIMIT 20', 'SELECT m, o, t, c, id FROM kinds WHERE g < 9 ORDER BY m DESC, o, t, c, id LIMIT 20']) AS q;
SET gpuconc.debug_offload = require;
SELECT min(o), m FROM kinds GROUP BY m ORDER BY m DESC;
SELECT DISTINCT u FROM kinds WHERE id > 2000 ORDER BY u;
SELECT o, c::int AS code, t FROM kinds WHERE id > 2000 ORDER BY c DESC, o, t;
RESET gpuconc.debug_offload;
-- joins, semi joins, row sources, unions
SELECT check_same(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(a.id) FROM kinds a JOIN kinds b ON a.o = b.o2 WHERE b.g < 3', 'SELECT count(*), sum(a.id) FROM kinds a JOIN kinds b ON a.c = b.c AND a.t = b.dt WHERE b.g < 3', 'SELECT count(*), sum(a.id) FROM kinds a JOIN kinds b ON a.u = b.u2 JOIN kinds c ON a.m = c.m2 WHERE c.id < 20',
	'SELECT a.u, count(b.id) FROM kinds a LEFT JOIN kinds b ON a.u = b.u2 GROUP BY a.u', 'SELECT count(*) FROM kinds a WHERE EXISTS (SELECT FROM kinds b WHERE b.u2 = a.u) AND NOT EXISTS (SELECT FROM kinds b WHERE b.o2 = a.o) AND m IN (SELECT m2 FROM kinds WHERE g = 2)',
	'SELECT b.m, b.u, min(a.o) FROM kinds a JOIN kinds b ON a.id = b.id GROUP BY 1, 2', 'SELECT q.m, q.u, q.o, q.t, q.c, count(*) FROM kinds k JOIN (SELECT * FROM kinds ORDER BY id LIMIT 300) q ON k.u = q.u AND k.m = q.m GROUP BY 1, 2, 3, 4, 5', 'SELECT count(*) FROM kinds JOIN (VALUES (''sad''::temper, 1), (''zzz'', 2)) v(m, n) USING (m)',
	'SELECT x, count(*) FROM (SELECT u AS x FROM kinds UNION ALL SELECT u2 FROM kinds) q GROUP BY x', 'SELECT x, count(*), max(y) FROM (SELECT m AS x, o AS y FROM kinds UNION ALL SELECT m2, o2 FROM kinds UNION ALL SELECT ''happy''::temper, 5 FROM kinds) q GROUP BY x', 'SELECT g, mm FROM (SELECT g, max(m) AS mm, min(t) AS mt FROM kinds GROUP BY g) q WHERE mm = ''zzz'' AND mt < ''12:00''',
	'SELECT m, u, count(*), grouping(m) FROM kinds GROUP BY ROLLUP (m, u)', 'SELECT g, count(DISTINCT u), count(DISTINCT m), count(DISTINCT o) FROM kinds GROUP BY g']) AS q;
-- expressions
SELECT check_same('SELECT id, coalesce(u, ''ffffffff-ffff-ffff-ffff-ffffffffffff''), coalesce(u, u2), coalesce(m, m2, ''ok''), CASE WHEN g < 3 THEN m WHEN g < 6 THEN m2 ELSE ''happy'' END, CASE m WHEN ''sad'' THEN 1 WHEN ''ok'' THEN 2 ELSE 3 END, nullif(m, ''sad''), nullif(o, 0), nullif(u, u2), nullif(t, ''24:00''), m::text, u::text, substr(u::text, 1, 2), c::text, c::int, greatest(o, o2), least(o, o2), greatest(t, dt), least(t, ''12:00''), length(m::text) + g FROM kinds WHERE g < 9');
SELECT check_same('SELECT coalesce(u, u2), coalesce(m, ''ok''), count(*) FROM kinds WHERE CASE WHEN g < 5 THEN o > o2 ELSE t > dt END AND x = u2::text GROUP BY 1, 2');
SELECT q, refusal(q) FROM unnest(ARRAY['SELECT sum(o::int8) FROM kinds', 'SELECT max(t - dt) FROM kinds', 'SELECT count(*) FROM kinds WHERE o::int4 < 5', 'SELECT count(*) FROM kinds WHERE u < u2', 'SELECT count(*) FROM kinds WHERE m < m2', 'SELECT max(t + interval ''1 hour'') FROM kinds', 'SELECT count(*) FROM kinds WHERE id::int8::oid = o', 'SELECT avg(t) FROM kinds']) AS q;
-- parameters
CREATE FUNCTION check_execute(query text, type text, VARIADIC calls text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	verdicts text[] := '{}';
BEGIN
	FOR i IN 1 .. 2 LOOP
		PERFORM set_config('plan_cache_mode', ('{force_custom_plan,force_generic_plan}'::text[])[i], true);
		EXECUTE format('PREPARE device(%s) AS %s', type, query);
		FOR k IN 1 .. cardinality(calls) LOOP
			verdicts := verdicts || check_here(format('EXECUTE device(%s)', calls[k]));
		END LOOP;
		DEALLOCATE device;
	END LOOP;
	RETURN array_to_string(verdicts, '; ');
END $$;
SELECT check_execute('SELECT id FROM kinds WHERE o > $1 OR t = $2 OR c > $3', 'oid, time, "char"', '4294967294, ''24:00'', ''\377''', '2147483648, ''12:00:00.000001'', ''a''', '0, ''00:00'', ''''');
SELECT check_execute('SELECT id FROM kinds WHERE u = $1 OR m = $2', 'uuid, temper', '''ffffffff-ffff-ffff-ffff-ffffffffffff'', ''sad''', 'md5(''3'')::uuid, ''zzz''', 'md5(''nowhere'')::uuid, ''happy''');
SELECT check_execute('SELECT count(*), max(m) FROM kinds WHERE m = ANY ($1) AND m >= $2 OR o = ANY ($3)', 'temper[], temper, oid[]', '''{sad,ok}'', ''ok'', ''{}''', '''{NULL,ok}'', ''sad'', ''{1,4294967295}''');
SELECT check_execute('SELECT coalesce(u, $1), count(*) FROM kinds GROUP BY 1', 'uuid', 'md5(''1'')::uuid', 'md5(''nowhere'')::uuid');

-- labels that are renamed, and added between others; a type of the same name made anew
PREPARE labels AS SELECT m, m::text, count(*), max(m2) FROM kinds WHERE m < 'happy' GROUP BY m ORDER BY kinds.m;
EXECUTE labels;
ALTER TYPE public.temper RENAME VALUE 'so-so' TO 'fair';
EXECUTE labels;
ALTER TYPE public.temper ADD VALUE 'fine' BEFORE 'ok';
INSERT INTO cached.kinds (id, m, m2) SELECT 3000 + i, 'fine', 'fine' FROM generate_series(1, 3) AS i;
SET gpuconc.debug_offload = require;
EXECUTE labels;
SELECT min(m), max(m) FROM kinds WHERE id > 3000;
RESET gpuconc.debug_offload;
VACUUM cached.kinds;
SELECT check_same('SELECT m, count(*) FROM kinds GROUP BY m ORDER BY m', '{cached}'), check_same('SELECT count(*), max(m) FROM kinds WHERE m < ''ok''', '{cached}');
BEGIN;
ALTER TYPE public.other_labels ADD VALUE 'new' BEFORE 'ok';
ALTER TABLE cached.kinds ADD COLUMN w other_labels;
SELECT count(*) FROM kinds WHERE w = 'new';
ROLLBACK;
ALTER TABLE cached.kinds DROP COLUMN m2, ADD COLUMN m2 other_labels DEFAULT 'happy';
SELECT check_same('SELECT m2, count(*) FROM kinds GROUP BY m2', '{cached}');
ALTER TABLE cached.kinds DROP COLUMN m2;
DROP TYPE public.other_labels;
CREATE TYPE public.other_labels AS ENUM ('happy', 'new', 'ok');
ALTER TABLE cached.kinds ADD COLUMN m2 other_labels DEFAULT 'new';
VACUUM cached.kinds;
SELECT check_same('SELECT m2, count(*), max(m2) FROM kinds WHERE m2 > ''happy'' GROUP BY m2', '{cached}');
-- from one type to another without a rewrite of the table
ALTER TABLE cached.kinds ALTER COLUMN g TYPE oid;
UPDATE cached.kinds SET g = 4294967295 WHERE id = 16;
SELECT check_same('SELECT g, max(g), count(*) FROM kinds WHERE g > 5 GROUP BY g', '{cached}');
-- in the session's order of rows: labels that were added later, uuids, names
CREATE TYPE public.added AS ENUM ('a', 'c', 'd');
ALTER TYPE public.added ADD VALUE 'b' BEFORE 'c';
ALTER TYPE public.added ADD VALUE '0' BEFORE 'a';
CREATE TABLE public.ordered AS SELECT i AS id, (enum_range(NULL::added))[nullif(i % 6, 0)] AS e, md5(nullif(i % 7, 2)::text)::uuid AS u, ('n' || nullif(i % 9, 4))::name AS n FROM generate_series(1, 5000) AS i;
VACUUM ANALYZE public.ordered;
SELECT q, check_here(q) FROM unnest(ARRAY['SELECT e, count(*), rank() OVER (ORDER BY e), row_number() OVER (ORDER BY e DESC) FROM ordered GROUP BY e', 'SELECT u, count(*), rank() OVER (ORDER BY u), lag(u) OVER (ORDER BY u DESC) FROM ordered GROUP BY u', 'SELECT n, count(*), rank() OVER (ORDER BY n), lag(n) OVER (ORDER BY n DESC) FROM ordered GROUP BY n', 'SELECT e, u, id, row_number() OVER (ORDER BY e, u DESC, n, id) FROM ordered WHERE id < 300']) AS q;
DROP TABLE public.ordered;
DROP TYPE public.added;
DROP TABLE cached.kinds, delta.kinds, mixed.kinds;
DROP FUNCTION check_execute, public.each_op;
DROP DOMAIN public.some_uuid, public.temper_again, public.some_temper, public.some_oid, public.some_time;
DROP TYPE public.temper, public.other_labels;
