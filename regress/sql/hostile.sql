-- Input that somebody will send: names, constants and tables of every odd shape.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- names
CREATE SCHEMA "sch'ema ""x""; DROP TABLE t; --";
SET search_path = "sch'ema ""x""; DROP TABLE t; --", public;
CREATE TABLE "t'""
a*/b" ("c'o""l" int, "two
lines" text, "日本語 %s %n" numeric(5,2), "/* " date, "*/ " int8, "{}" bool, "\" text, " " int);
INSERT INTO "t'""
a*/b" SELECT i, 'v' || i % 3, i % 100, date '2020-01-01' + i, i, i % 2 = 0, E'\\' || i % 2, i FROM generate_series(1, 500) AS i;
VACUUM (FREEZE, ANALYZE) "t'""
a*/b";
SELECT q, check_here(q) FROM unnest(ARRAY[
	$$SELECT "c'o""l" % 3, sum("日本語 %s %n"), count(*) FROM "t'""
a*/b" GROUP BY 1$$,
	$$SELECT "two
lines", min("/* "), max("*/ "), min("\") FROM "t'""
a*/b" WHERE "{}" AND " " > 5 GROUP BY 1$$,
	$$SELECT "two
lines" AS "as""
x", count(*) FROM "t'""
a*/b" AS "alias""'
" WHERE "two
lines" LIKE '%1' GROUP BY 1$$]) AS q;
SET gpuconc.debug_offload = require;
EXPLAIN (COSTS OFF) SELECT "two
lines", count(*) FROM "t'""
a*/b" AS "alias""'
" WHERE "two
lines" LIKE '%1' GROUP BY 1;
SELECT relation, column_name FROM gpuconc_cache WHERE relation = $$"t'""
a*/b"$$::regclass ORDER BY column_name COLLATE "C";
RESET gpuconc.debug_offload;
SET search_path = public;
DROP SCHEMA "sch'ema ""x""; DROP TABLE t; --" CASCADE;

-- constants
CREATE TABLE words (id int, t text) WITH (autovacuum_enabled = off);
INSERT INTO words SELECT i, (ARRAY['x''; DROP TABLE words; --', '*/ int main() { return 0; }', '"); exit(1); //', E'tab\there', E'nl\nthere', E'\x01', '%s%s%n', '\0', '${HOME}', '`id`', U&'\FEFF', U&'e\0301', U&'\00E9', 'é', '١٢٣', '#include "/etc/passwd"'])[1 + i % 16] FROM generate_series(1, 1600) AS i;
VACUUM (FREEZE, ANALYZE) words;
SELECT check_same('SELECT t, count(*), min(id) FROM words GROUP BY t', '{public}');
SELECT check_same(format('SELECT count(*), sum(id), max(t) FROM words WHERE t = %L', t), '{public}'), check_same(format('SELECT count(*) FROM words WHERE t || %L LIKE %L', t, '%' || t), '{public}') AS "like"
FROM (SELECT t FROM words GROUP BY t ORDER BY min(id)) AS w;
SELECT check_same(format('SELECT count(*) FROM words WHERE t = %L', repeat('long ''" \ ', 200000)), '{public}');
SELECT check_same(format('SELECT count(*) FROM words WHERE t <> %L AND t || %L <> %L', repeat('x', 1000000), repeat('y', 1000000), repeat('z', 999999)), '{public}');
SELECT check_same(format('SELECT count(*), sum(id) FROM words WHERE id IN (%s)', (SELECT string_agg(i::text, ',') FROM generate_series(1, 20000, 2) AS i)), '{public}');
SELECT check_same(format('SELECT count(*), sum(id) FROM words WHERE id NOT IN (%s)', (SELECT string_agg(i::text, ',') FROM generate_series(-10000, 20000, 3) AS i)), '{public}');
SELECT check_same(format('SELECT count(*), sum(id) FROM words WHERE id = ANY (%L)', (SELECT array_agg(i) FROM generate_series(1, 100000, 7) AS i)), '{public}');
SELECT check_same(format('SELECT count(*), sum(id) FROM words WHERE t IN (%s)', (SELECT string_agg(quote_literal('word ' || i), ',') FROM generate_series(1, 10000) AS i) || ',''é'''), '{public}');
SELECT check_same(format('SELECT count(*), sum(id) FROM words WHERE id::numeric IN (%s)', (SELECT string_agg((i * 0.5)::text, ',') FROM generate_series(1, 10000) AS i)), '{public}');
SELECT check_same(format('SELECT count(*) FROM words WHERE %s', (SELECT string_agg('id = ' || i, ' OR ') FROM generate_series(1, 300) AS i)), '{public}');
SELECT check_same(format('SELECT sum(%s) FROM words', repeat('(', 300) || 'id' || repeat('+ 1)', 300)), '{public}');
SELECT check_same(format('SELECT sum(CASE %s END) FROM words', (SELECT string_agg(format('WHEN id = %s THEN %s', i, i * 2), ' ') FROM generate_series(1, 150) AS i)), '{public}');
SELECT check_same('SELECT sum(id + 1e3::int), sum(id * 1.000000000000000000), count(*) FROM words WHERE id < 1e300::float8 AND id > -1e100', '{public}');
SELECT check_same('SELECT sum(id * 123456789012345678901234567890.5) FROM words', '{public}');
SELECT check_same('SELECT count(*) FROM words WHERE id < 123456789012345678901234567890.5 AND id > ''-Infinity''::numeric AND id <> ''NaN''::numeric', '{public}');
SELECT check_same('SELECT count(*) FROM words WHERE id <> ''NaN''::float8 AND id < ''Infinity''::float8', '{public}');
DROP TABLE words;

-- tables: of no column, of no row, of very many columns
CREATE TABLE columnless ();
INSERT INTO columnless DEFAULT VALUES;
INSERT INTO columnless SELECT FROM generate_series(1, 1000);
SELECT check_same('SELECT count(*) FROM columnless', '{public}');
VACUUM columnless;
SELECT check_same('SELECT count(*) FROM columnless', '{public}');
SELECT check_same('SELECT FROM columnless', '{public}');
SELECT gpuconc_prewarm('columnless');
SELECT check_same('SELECT count(*) FROM columnless', '{public}');
DROP TABLE columnless;
CREATE TABLE dropped (a int, b int);
INSERT INTO dropped SELECT i, i FROM generate_series(1, 1000) AS i;
ALTER TABLE dropped DROP COLUMN a, DROP COLUMN b;
VACUUM dropped;
SELECT check_same('SELECT count(*) FROM dropped', '{public}');
DROP TABLE dropped;
\set ECHO none
SELECT format('CREATE TABLE wide (%s) WITH (autovacuum_enabled = off)', string_agg(format('c%s %s', i, (ARRAY['int', 'int2', 'bool', 'int8'])[1 + i % 4]), ', ')) FROM generate_series(1, 1600) AS i \gexec
SELECT format('INSERT INTO wide SELECT %s FROM generate_series(1, 300) AS i', string_agg(format((ARRAY['i + %s', '(i + %s) %% 1000', 'i %% 7 = %s %% 7', 'i * %s'])[1 + c % 4], c), ', ')) FROM generate_series(1, 1600) AS c \gexec
\set ECHO all
VACUUM (FREEZE, ANALYZE) wide;
SELECT check_same('SELECT count(*), sum(c1), sum(c800), min(c1600), max(c1599), count(*) FILTER (WHERE c2) FROM wide', '{public}');
SELECT check_same(format('SELECT %s FROM wide', string_agg(format('sum(c%s)', i), ', ')), '{public}') FROM generate_series(4, 150, 4) AS i;
SELECT check_same(format('SELECT count(*) FROM wide WHERE %s', string_agg(format('c%s > 20', i), ' AND ')), '{public}') FROM generate_series(4, 400, 4) AS i;
SELECT check_same(format('SELECT count(*) FROM wide WHERE %s', string_agg(format('c%s > 20', i), ' AND ')), '{public}') FROM generate_series(4, 1600, 4) AS i;
SELECT check_same(format('SELECT %s FROM wide', string_agg(format('c%s', i), ', ')), '{public}') FROM generate_series(1, 200) AS i;
SELECT check_same(format('SELECT %s FROM wide', string_agg(format('c%s', i), ', ')), '{public}') FROM generate_series(1, 201) AS i;
SELECT check_same('SELECT * FROM wide', '{public}');
SELECT gpuconc_prewarm('wide') > 0 AS cached;
SELECT count(*), count(*) FILTER (WHERE pages_cached > 0) FROM gpuconc_cache WHERE relation = 'wide'::regclass;
SELECT check_same('SELECT c1 % 5, sum(c1597) FROM wide GROUP BY 1', '{public}');
SELECT gpuconc_evict('wide') > 0 AS evicted;
DROP TABLE wide;
-- rows with more NULL flags than a word has bits: column k is NULL in row i if i % 200 = k, and all are in some
\set ECHO none
SELECT format('CREATE TABLE holes (%s) WITH (autovacuum_enabled = off)', string_agg(format('c%s %s', k, (ARRAY['int', 'int8', 'bool', 'float8', 'numeric(9,2)', 'text', 'date', 'float4'])[1 + k % 8]), ', ' ORDER BY k)) FROM generate_series(0, 199) AS k \gexec
SELECT format('INSERT INTO holes SELECT %s FROM generate_series(1, 2000) AS i', string_agg(format('CASE WHEN i %% 200 <> %s AND i %% 17 > 0 THEN ' || (ARRAY['i + %s', 'i * 1000000 + %s', 'i %% 7 = %s %% 7', 'i / 4 + %s', 'i + %s / 100.0', '''v'' || i %% (%s + 2)', 'date ''2020-01-01'' + i %% (%s + 1)', 'i / 2 - %s'])[1 + k % 8] || ' END', k, k), ', ' ORDER BY k)) FROM generate_series(0, 199) AS k \gexec
\set ECHO all
VACUUM (FREEZE, ANALYZE) holes;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT * FROM holes', 'SELECT * FROM holes WHERE c199 IS NULL', 'SELECT * FROM holes ORDER BY c193 DESC NULLS LAST LIMIT 1500']) AS q;
DROP TABLE holes;

-- long and many text values, out of line and compressed; more than a dictionary takes
CREATE TABLE toasted (id int, short text, long text, plain text) WITH (autovacuum_enabled = off);
ALTER TABLE toasted ALTER COLUMN plain SET STORAGE EXTERNAL;
INSERT INTO toasted SELECT i, 's' || i % 5, repeat('long ' || i % 4 || ' ', 2000), repeat(chr(97 + i % 3), 5000) FROM generate_series(1, 400) AS i;
INSERT INTO toasted VALUES (401, NULL, NULL, NULL), (402, '', '', '');
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT short, count(*), max(length(long)) FROM toasted GROUP BY short', 'SELECT count(*) FROM toasted WHERE long LIKE ''%3 ''', 'SELECT long, count(*) FROM toasted GROUP BY long', 'SELECT min(plain), max(plain), max(length(plain)) FROM toasted', 'SELECT id, long, plain FROM toasted WHERE id > 390']) AS q;
VACUUM (FREEZE, ANALYZE) toasted;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT short, count(*), max(length(long)) FROM toasted GROUP BY short', 'SELECT count(*) FROM toasted WHERE long LIKE ''%3 ''', 'SELECT long, count(*) FROM toasted GROUP BY long', 'SELECT min(plain), max(plain), max(length(plain)) FROM toasted', 'SELECT id, long, plain FROM toasted WHERE id > 390', 'SELECT sum(id), count(long) FROM toasted']) AS q;
INSERT INTO toasted VALUES (403, 'huge', repeat(md5('x'), 300000), 'p');
SELECT check_same('SELECT count(*), max(length(long)) FROM toasted WHERE long <> ''''', '{public}');
VACUUM toasted;
SELECT check_same('SELECT count(*), max(length(long)) FROM toasted WHERE long <> ''''', '{public}');
SELECT check_same('SELECT short, count(*) FROM toasted GROUP BY short', '{public}');
DROP TABLE toasted;
CREATE TABLE unlike (id int, t text) WITH (autovacuum_enabled = off);
INSERT INTO unlike SELECT i, md5(i::text) FROM generate_series(1, 200000) AS i;
VACUUM (FREEZE, ANALYZE) unlike;
SELECT check_same('SELECT count(*), count(t), sum(id) FROM unlike WHERE t LIKE ''a%''', '{public}') ~ '^ok, 1 rows' AS same;
SELECT check_same('SELECT count(*), sum(id) FROM unlike', '{public}');
SELECT check_same('SELECT min(t), max(t), count(*) FROM unlike WHERE t = ''c4ca4238a0b923820dcc509a6f75849b''', '{public}') ~ '^ok, 1 rows' AS same;
DROP TABLE unlike;

-- collations for which equal is not the same
SELECT count(*) > 0 AS icu FROM pg_collation WHERE collname = 'und-x-icu' \gset
\if :icu
\set ECHO none
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
\else
\set ECHO none
CREATE COLLATION caseless FROM "C";
\endif
CREATE TABLE folded (id int, t text COLLATE caseless);
INSERT INTO folded SELECT i, CASE WHEN i % 2 = 0 THEN 'abc' ELSE 'ABC' END FROM generate_series(1, 100) AS i;
VACUUM (FREEZE, ANALYZE) folded;
SELECT check_same(q, '{public}') ~ '^(ok, . rows|not offloaded: .*)$' AS same, q FROM unnest(ARRAY['SELECT count(*) FROM folded WHERE t = ''Abc''', 'SELECT count(*) FROM (SELECT t FROM folded GROUP BY t) q', 'SELECT max(id) FROM folded WHERE t <> ''aBC''', 'SELECT count(*) FROM folded a JOIN folded b ON a.t = b.t', 'SELECT count(*) FROM folded WHERE t IN (''abC'', ''x'')', 'SELECT sum(id) FROM folded']) AS q;
-- that collation in an expression only
CREATE TABLE unfolded AS SELECT id, t COLLATE "C" AS t FROM folded;
VACUUM (FREEZE, ANALYZE) unfolded;
SELECT check_same(q, '{public}') ~ '^(ok, . rows|not offloaded: .*)$' AS same, q FROM unnest(ARRAY['SELECT count(*) FROM unfolded WHERE t COLLATE caseless = ''Abc''', 'SELECT count(*) FROM (SELECT count(*) FROM unfolded GROUP BY t COLLATE caseless) q', 'SELECT count(*) FROM unfolded GROUP BY t COLLATE caseless', 'SELECT count(*) FROM unfolded a JOIN unfolded b ON a.t COLLATE caseless = b.t COLLATE caseless', 'SELECT count(*) FROM unfolded a JOIN unfolded b ON a.t COLLATE caseless = b.t', 'SELECT count(*) FROM unfolded a, unfolded b WHERE a.t COLLATE caseless = ''abc'' AND b.t COLLATE caseless = ''abc''', 'SELECT count(nullif(t COLLATE caseless, ''abc'')) FROM unfolded', 'SELECT count(*) FROM unfolded WHERE t COLLATE caseless IN (''abC'', ''x'')']) AS q;
DROP TABLE folded, unfolded;
DROP COLLATION caseless;
\set ECHO all

-- values in a type's corners, moved around by updates
CREATE TABLE corners (id int, i8 int8, n numeric(18,0), f float8, d date) WITH (autovacuum_enabled = off);
INSERT INTO corners VALUES (1, 9223372036854775807, 999999999999999999, 'Infinity', 'infinity'), (2, -9223372036854775808, -999999999999999999, '-Infinity', '-infinity'), (3, 0, 0, 'NaN', '2000-01-01');
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT sum(i8), avg(i8), sum(n), avg(n), min(d), max(d), count(f) FROM corners', 'SELECT id, i8, n, f, d FROM corners', 'SELECT i8, count(*) FROM corners GROUP BY i8', 'SELECT a.id, b.id FROM corners a JOIN corners b ON a.i8 = b.i8', 'SELECT id FROM corners WHERE i8 < 0 OR d = ''infinity'' OR f = ''NaN''']) AS q;
VACUUM (FREEZE, ANALYZE) corners;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT sum(i8), avg(i8), sum(n), avg(n), min(d), max(d), count(f) FROM corners', 'SELECT id, i8, n, f, d FROM corners', 'SELECT i8, count(*) FROM corners GROUP BY i8', 'SELECT a.id, b.id FROM corners a JOIN corners b ON a.i8 = b.i8', 'SELECT id FROM corners WHERE i8 < 0 OR d = ''infinity'' OR f = ''NaN''', 'SELECT i8, n, d, count(*) FROM corners GROUP BY 1, 2, 3']) AS q;
SELECT check_error('SELECT max(i8 + 1) FROM corners', '{public}'), check_error('SELECT min(abs(i8)) FROM corners', '{public}'), check_error('SELECT max(i8 / -1) FROM corners', '{public}'), check_error('SELECT max(d + 1) FROM corners WHERE id = 3 AND d + 2147483647 > d', '{public}');
UPDATE corners SET i8 = 5, n = 5 WHERE id = 2;
SELECT check_same('SELECT sum(i8), sum(n), min(i8), max(n) FROM corners', '{public}');
DROP TABLE corners;
