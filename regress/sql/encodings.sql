-- Ranges of values around the borders of code widths, with and without NULLs, from
-- several bases; dictionaries that grow past them; pages that join later with more.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
SET search_path = public;

-- Tables of few rows whose values span exactly `span`, the ends included.
CREATE TABLE spans (n int PRIMARY KEY, span int8);
INSERT INTO spans VALUES (1, 0), (2, 127), (3, 254), (4, 255), (5, 256), (6, 32767), (7, 65534), (8, 65535), (9, 65536), (10, 2147483648), (11, 4294967294), (12, 4294967295), (13, 4294967296), (14, 9223372036854775806), (15, 9223372036854775807);
SELECT format('CREATE TABLE span_%s WITH (autovacuum_enabled = off) AS SELECT i AS id, (CASE i %% 4 WHEN 0 THEN 0 WHEN 1 THEN %s WHEN 2 THEN %s ELSE (i * 7919) %% (%s::numeric + 1) END)::int8 AS up FROM generate_series(1, 300) AS i', n, span, span / 2, span) FROM spans ORDER BY n \gexec
SELECT format('ALTER TABLE span_%1$s ADD low int8, ADD up0 int8, ADD low0 int8, ADD num numeric(20,2), ADD ts timestamp, ADD d date', n) FROM spans ORDER BY n \gexec
SELECT format('UPDATE span_%1$s SET low = -9223372036854775808 + up, up0 = CASE WHEN id %% 7 <> 3 THEN up END, low0 = CASE WHEN id %% 7 <> 3 THEN -1 - up END, num = CASE WHEN up < 90000000000000000 THEN up / 100.0 - 3 END,
	ts = CASE WHEN id %% 5 <> 1 AND up < 9000000000000 THEN timestamp ''2000-01-01'' + up * interval ''1 microsecond'' END, d = CASE WHEN up < 2000000 THEN date ''1990-01-01'' + up::int END', n) FROM spans ORDER BY n \gexec
SELECT format('VACUUM (FULL, FREEZE, ANALYZE) span_%s', n) FROM spans ORDER BY n \gexec
SELECT format('VACUUM span_%s', n) FROM spans ORDER BY n \gexec
SELECT n, check_same(format('SELECT count(up), sum(up), min(up), max(up), min(low), max(low), sum(low), count(up0), sum(up0), min(low0), max(low0), sum(num), min(num), max(ts), min(d) FROM span_%s', n), '{public}') AS totals,
	check_same(format('SELECT id, up, low, up0, low0, num, ts, d FROM span_%s', n), '{public}') AS "values",
	check_same(format('SELECT up0, count(*) FROM span_%s GROUP BY up0', n), '{public}') AS grouped, check_same(format('SELECT low0, d, num, count(*) FROM span_%s GROUP BY 1, 2, 3', n), '{public}') AS several
FROM spans ORDER BY n;
SELECT n, check_same(format('SELECT count(*), sum(a.id), sum(b.id) FROM span_%1$s a JOIN span_%1$s b ON a.up0 = b.up', n), '{public}') AS self, check_same(format('SELECT count(*), min(b.low0), max(b.up0) FROM span_12 a JOIN span_%s b ON a.low = b.low', n), '{public}') AS other,
	check_same(format('SELECT id FROM span_%1$s WHERE up = %2$s OR low = -9223372036854775808 OR up0 > %2$s OR low0 = -1', n, span), '{public}') AS ends, check_same(format('SELECT id FROM span_%1$s WHERE up0 BETWEEN %2$s - 1 AND %2$s AND low0 < 0', n, span), '{public}') AS last
FROM spans ORDER BY n;
SELECT format('DROP TABLE span_%s', n) FROM spans ORDER BY n \gexec
DROP TABLE spans;

-- dictionaries: numbers of distinct texts; more come, unvacuumed and vacuumed
CREATE TABLE texts (id int, t text, u text) WITH (autovacuum_enabled = off);
CREATE FUNCTION check_texts() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(check_same(q, '{public}'), '; ' ORDER BY n) FROM unnest(ARRAY['SELECT count(*), sum(c), sum(m), min(t), max(t) FROM (SELECT t, count(*) AS c, min(id) AS m FROM texts GROUP BY t OFFSET 0) q', 'SELECT count(*), count(t), min(t), max(t) FROM texts WHERE t > ''t5'' OR t LIKE ''%9''', 'SELECT count(*), sum(a.id), sum(b.id) FROM texts a JOIN texts b ON a.t = b.u', 'SELECT max(id) FROM texts WHERE t = ''t255'' OR u = ''t65536''']) WITH ORDINALITY AS q(q, n)
$$;
SELECT check_texts();
INSERT INTO texts SELECT i, 't' || i, 't' || i * 3 FROM generate_series(1, 254) AS i;
VACUUM texts;
SELECT check_texts();
INSERT INTO texts VALUES (255, 't255', NULL);
SELECT check_texts();
VACUUM texts;
SELECT check_texts();
INSERT INTO texts VALUES (256, 't256', ''), (257, NULL, 't257'), (258, '', 't1');
SELECT check_texts();
VACUUM texts;
SELECT check_texts();
INSERT INTO texts SELECT i, 't' || i, 't' || i / 2 FROM generate_series(259, 65534) AS i;
SELECT check_texts();
VACUUM texts;
SELECT check_texts();
INSERT INTO texts SELECT i, 't' || i, 't' || i / 2 FROM generate_series(65535, 65540) AS i;
SELECT check_texts();
VACUUM texts;
SELECT check_texts();
DELETE FROM texts WHERE id % 100 <> 0;
SELECT check_texts();
VACUUM texts;
SELECT check_texts();
-- an aborted insertion leaves values in the dictionary that no row has
BEGIN;
INSERT INTO texts VALUES (1, 'zzz never', 'zzz never');
SELECT check_texts();
ROLLBACK;
SELECT check_same('SELECT min(t), max(t), max(u), count(*) FROM texts', '{public}'), check_same('SELECT count(*) FROM texts WHERE t = ''zzz never'' OR t >= ''zzz''', '{public}');
DROP TABLE texts;
DROP FUNCTION check_texts;
