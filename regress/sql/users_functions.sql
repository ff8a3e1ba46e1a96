-- A user's function is called only for values that the statement's rows have: not for those of rows that were deleted, or
-- never committed, which a dictionary keeps, nor for those of a range that no row has.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA seen;
SET search_path = seen, public;
-- Functions that record the values that they are called for, and are the value's text.
CREATE FUNCTION sees(value anyelement) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	v text := coalesce(value::text, 'NULL');
BEGIN
	PERFORM set_config('users.calls', (current_setting('users.calls')::int + 1)::text, false);
	IF v <> ALL (string_to_array(current_setting('users.seen'), '|')) THEN
		PERFORM set_config('users.seen', current_setting('users.seen') || '|' || v, false);
	END IF;
	RETURN value;
END $$;
CREATE FUNCTION strictly_sees(value anyelement) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN sees(value); END';
CREATE FUNCTION seen_by(query text, mode text, OUT result text[], OUT seen text[], OUT calls int) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('users.seen', '', false), set_config('users.calls', '0', false);
	result := rows_of(query, mode);
	calls := current_setting('users.calls');
	seen := ARRAY(SELECT v FROM unnest(string_to_array(current_setting('users.seen'), '|')) AS v WHERE v <> '' ORDER BY v COLLATE "C");
END $$;
-- The device's and PostgreSQL's own answer, and what a function saw for each.  For the device's it is called once for a value.
CREATE FUNCTION check_seen(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	got record;
	expected record;
BEGIN
	got := seen_by(query, 'require');
	expected := seen_by(query, 'forbid');
	RETURN concat_ws(E'\n', cardinality(got.result) || ' rows', E'DIFFERENT: ' || difference(expected.result, got.result),
		CASE WHEN got.seen = expected.seen THEN 'seen: ' || array_to_string(got.seen, ', ')
		ELSE format('SEEN: %s, not %s', array_to_string(got.seen, ', '), array_to_string(expected.seen, ', ')) END,
		CASE WHEN got.calls > cardinality(got.seen) THEN format('CALLED %s TIMES', got.calls) END);
END $$;

CREATE TYPE mood AS ENUM ('sad', 'ok', 'secret');
CREATE TABLE t (id int, s text, n text, c char(4), i int, d date, ts timestamp, tz timestamptz, e mood, j jsonb, u uuid, a int[]) WITH (autovacuum_enabled = off);
CREATE FUNCTION fill(ids int[], word text, number int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO t SELECT k, word || k % 3, CASE WHEN k % 3 > 0 THEN word || k % 3 END, word, number + k % 3, date '2024-01-01' + number + k % 3,
		timestamp '1999-12-20 13:00' + make_interval(days => number + k % 3), timestamptz '2024-01-01 13:00' + make_interval(days => number + k % 3),
		CASE WHEN number = 10 THEN CASE WHEN k % 3 = 0 THEN 'sad' ELSE 'ok' END ELSE 'secret' END::mood,
		jsonb_build_object('word', word || k % 3), md5(word || k % 3)::uuid, ARRAY[number, k % 3]
	FROM unnest(ids) AS k
$$;
-- Deleted: some before the columns are loaded anew, some later, which leave rows in chunks.
SELECT FROM fill(ARRAY(SELECT generate_series(1, 300)), 'row', 10);
SELECT FROM fill('{301,302,303}', 'del', 20);
SELECT FROM fill('{304,305,306}', 'gone', 0);
VACUUM (FREEZE, ANALYZE) t;
SELECT gpuconc_prewarm('t') > 0 AS cached;
DELETE FROM t WHERE s LIKE 'del%';
VACUUM (FREEZE) t;
DELETE FROM t WHERE s LIKE 'gone%';
-- Rolled back, after the rows have been loaded.
SET gpuconc.debug_hot_pages = 1;
BEGIN;
SELECT FROM fill(ARRAY(SELECT generate_series(401, 500)), 'undo', 30);
SELECT gpuconc_prewarm('t') >= 0 AS cached;
SELECT check_seen('SELECT count(*) FROM t WHERE sees(s) <> ''x''');
ROLLBACK;
RESET gpuconc.debug_hot_pages;

-- each type of column; filters, keys of groups, arguments of aggregates
SELECT c, check_seen(format('SELECT count(*) FROM t WHERE sees(%s) <> ''x''', c)) FROM unnest('{s,n,c,i,d,e,j,u,a}'::text[]) AS c;
SELECT check_seen('SELECT sees(s), count(*) FROM t GROUP BY 1');
SELECT check_seen('SELECT max(sees(i)), min(sees(d)) FROM t');
SELECT check_seen('SELECT count(*) FROM t WHERE strictly_sees(n) <> ''x''');
SELECT check_seen('SELECT count(*) FILTER (WHERE sees(n) IS NULL), max(i) FROM t');
SELECT check_seen('SELECT count(*) FROM t WHERE CASE WHEN sees(s) = ''row1'' THEN i > 0 ELSE i > 10 END');
-- dates of timestamps; with a time zone they are not known
SELECT check_seen('SELECT count(*) FROM t WHERE sees(ts::date) <> ''x''');
SELECT check_seen('SELECT sees(date_trunc(''day'', ts)), count(*) FROM t GROUP BY 1');
SELECT refusal('SELECT count(*) FROM t WHERE sees(tz::date) <> ''x''');
-- two columns, and texts of a function in a concatenation
SELECT refusal('SELECT count(*) FROM t WHERE sees(s || n) <> ''x''');
SELECT check_seen('SELECT sees(s) || n, count(*) FROM t GROUP BY 1');
-- this transaction's own rows
BEGIN;
SELECT FROM fill('{601,602}', 'mine', 40);
SELECT check_seen(format('SELECT count(*) FROM t WHERE sees(%s) <> ''x''', c)) FROM unnest('{s,i}'::text[]) AS c;
ROLLBACK;
-- joins: of one column's rows, of groups, with rows that have no partner
CREATE TABLE other (id int, w text) WITH (autovacuum_enabled = off);
INSERT INTO other SELECT k, 'other' || k % 2 FROM generate_series(1, 299) AS k;
INSERT INTO other SELECT k, 'deleted' FROM generate_series(1, 10) AS k;
VACUUM (FREEZE, ANALYZE) other;
SELECT gpuconc_prewarm('other') > 0 AS cached;
DELETE FROM other WHERE w = 'deleted';
SELECT check_seen('SELECT sees(w), sum(i) FROM t JOIN other USING (id) GROUP BY 1');
SELECT check_seen('SELECT sees(w), sum(i) FROM t LEFT JOIN other USING (id) GROUP BY 1');
SELECT check_seen('SELECT count(*) FROM t JOIN other USING (id) WHERE sees(w) || sees(s) <> ''x''');
SELECT check_seen('SELECT count(*) FROM t WHERE EXISTS (SELECT FROM other AS o WHERE o.id = t.id AND sees(w) = ''other1'')');
SELECT check_seen('SELECT count(*), max(sees(s)) FROM (SELECT s, i, count(*) AS n FROM t GROUP BY s, i) AS q WHERE n > 1');
SELECT check_seen('SELECT max(sees(s)), count(*) FROM (SELECT min(s) AS s FROM t GROUP BY i) AS q');
SELECT check_seen('SELECT max(sees(n)), count(*) FROM (SELECT min(n) AS n FROM t WHERE id > 0 GROUP BY i OFFSET 0) AS q');
SELECT check_seen('SELECT sees(w), sum(i) FROM t FULL JOIN other USING (id) GROUP BY 1');
SELECT check_seen('SELECT max(sees(s)), sum(i) FROM (SELECT s, i FROM t UNION ALL SELECT o.w, i FROM other AS o JOIN t USING (id)) AS q');
-- windows: of the result's rows, and of rows that are kept for a join; CTEs, also of the rows that readers ask for
SELECT check_seen(q) FROM unnest(ARRAY['SELECT id, lag(sees(s)) OVER (ORDER BY id) FROM t', 'SELECT id, count(*) OVER (PARTITION BY sees(s) ORDER BY id) FROM t',
	'SELECT x.id, w, c FROM (SELECT id, count(strictly_sees(n)) OVER (PARTITION BY i ORDER BY id) AS c FROM t) AS x JOIN other AS o ON o.id = x.id',
	'SELECT w, max(r) FROM (SELECT id, rank() OVER (PARTITION BY sees(i) ORDER BY id) AS r FROM t) AS x JOIN other AS o ON o.id = x.id GROUP BY w',
	'SELECT w, max(r) FROM (SELECT sees(s) AS v, rank() OVER (ORDER BY sees(s)) AS r, count(*) AS c FROM t GROUP BY s) AS x JOIN other AS o ON o.id = x.c GROUP BY w']) AS q;
SET gpuconc.debug_rewrite = always;
SELECT check_seen(q) FROM unnest(ARRAY['WITH x AS (SELECT sees(s) AS v, i, count(*) AS c FROM t GROUP BY 1, 2) SELECT a.v, b.c FROM x AS a JOIN x AS b ON a.i = b.i + 1',
	'WITH x AS (SELECT s, i, max(length(sees(s))) AS v, rank() OVER (PARTITION BY i ORDER BY max(id)) AS r FROM t GROUP BY s, i) SELECT a.v, b.r FROM x AS a JOIN x AS b ON a.r = b.r WHERE a.i > 10',
	'WITH x AS (SELECT s, i, max(length(sees(s))) AS v FROM t GROUP BY s, i) SELECT a.v, b.v FROM x AS a JOIN x AS b ON a.s = b.s WHERE a.i = 11 AND b.i = 11']) AS q;
RESET gpuconc.debug_rewrite;
-- partitions, whose texts have codes of their own
CREATE TABLE parted (id int, s text, i int) PARTITION BY RANGE (id);
CREATE TABLE low PARTITION OF parted FOR VALUES FROM (0) TO (100) WITH (autovacuum_enabled = off);
CREATE TABLE high PARTITION OF parted FOR VALUES FROM (100) TO (200) WITH (autovacuum_enabled = off);
INSERT INTO parted SELECT k, 'part' || k / 50, k / 50 FROM generate_series(0, 199) AS k;
INSERT INTO parted SELECT k, 'hidden' || k, k FROM generate_series(10, 190, 30) AS k;
VACUUM (FREEZE, ANALYZE) parted;
SELECT gpuconc_prewarm('low') > 0 AND gpuconc_prewarm('high') > 0 AS cached;
DELETE FROM parted WHERE s LIKE 'hidden%';
SELECT check_seen(format('SELECT count(*) FROM parted WHERE sees(%s) <> ''x''', c)) FROM unnest('{s,i}'::text[]) AS c;
SELECT check_seen('SELECT max(sees(s)), sum(n) FROM (SELECT s, count(*) AS n FROM parted GROUP BY s) AS q');

-- things that hide a function: operators, domains, elements of arrays, casts of enums
CREATE FUNCTION equal_seen(text, text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN sees($1) = $2; END';
CREATE OPERATOR === (FUNCTION = equal_seen, LEFTARG = text, RIGHTARG = text);
SELECT check_seen('SELECT count(*) FROM t WHERE s === ''row1''');
CREATE DOMAIN checked AS text CHECK (sees(VALUE) <> 'x');
SELECT check_seen('SELECT count(*) FROM t WHERE length(s::checked) = 4');
SELECT check_seen('SELECT count(*) FROM t WHERE array_length((''{'' || s || ''}'')::checked[], 1) = 1');
SELECT check_seen('SELECT count(*) FROM t WHERE domain_in(textout(s), ''seen.checked''::regtype, -1) IS NOT NULL');
CREATE FUNCTION mood_seen(mood) RETURNS json LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN to_json(sees($1)); END';
CREATE CAST (mood AS json) WITH FUNCTION mood_seen(mood);
SELECT check_seen('SELECT count(*) FROM t WHERE to_jsonb(e)::text = ''"sad"''');

-- A function that fails for values that no row has does not fail, be it built in or not.
CREATE FUNCTION fails(text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN IF $1 !~ '^row' THEN RAISE EXCEPTION 'saw %', $1; END IF; RETURN 1; END$$;
SELECT q, refusal(q), check_same(q, '{seen}') FROM unnest(ARRAY['SELECT sum(fails(s)) FROM t', 'SELECT sum(trim(LEADING ''row'' FROM s)::int) FROM t',
	'SELECT count(*) FROM t WHERE ascii(chr(i - 9)) = 2', 'SELECT sum((CASE s WHEN ''del1'' THEN ''1e30'' ELSE ''1'' END)::numeric) FROM t',
	'SELECT sum(trim(LEADING ''row'' FROM x)::int) FROM (SELECT s AS x, i FROM t UNION ALL SELECT s, i FROM t JOIN other USING (id)) AS q']) AS q;
-- Where it is not known which values rows have, PostgreSQL's plan answers, and the error's text, which has a value, is not shown.
CREATE FUNCTION reason(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line LIKE '%Fallback:%' THEN
			RETURN trim(line);
		END IF;
	END LOOP;
	RETURN 'offloaded';
END $$;
SELECT reason('SELECT sum(trim(LEADING ''row'' FROM x)::int), count(y) FROM (SELECT CASE WHEN i > 0 THEN s ELSE n END AS x, i, count(*) AS y FROM t GROUP BY 1, 2) AS q');
-- Leakproof functions show nothing; they are called for all values that there are.
CREATE FUNCTION proof(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE LEAKPROOF AS 'BEGIN RETURN sees(value); END';
SELECT array_to_string((seen_by('SELECT count(*) FROM t WHERE proof(s) <> ''x''', 'require')).seen, ', ') AS seen;

-- One user's result of a function is not another's.
CREATE FUNCTION caller(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN current_user || '' '' || $1; END';
CREATE ROLE regress_gpuconc_one;
CREATE ROLE regress_gpuconc_two;
GRANT USAGE ON SCHEMA seen TO regress_gpuconc_one, regress_gpuconc_two;
GRANT SELECT ON t TO regress_gpuconc_one, regress_gpuconc_two;
SET gpuconc.debug_offload = require;
SET ROLE regress_gpuconc_one;
SELECT caller(s), count(*) FROM t GROUP BY 1 ORDER BY 1;
SET ROLE regress_gpuconc_two;
SELECT caller(s), count(*) FROM t GROUP BY 1 ORDER BY 1;
RESET ROLE;
-- Functions of text search call what a configuration names, which may be replaced.
CREATE TEXT SEARCH CONFIGURATION words (COPY = pg_catalog.simple);
CREATE TABLE texts AS SELECT 'word' || i % 5 || ' of a text' AS s FROM generate_series(1, 1000) AS i;
VACUUM ANALYZE texts;
CREATE FUNCTION by_words() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT check_same(q, '{seen}') FROM unnest(ARRAY[
		'SELECT count(*) FROM texts WHERE to_tsvector(''seen.words'', s) @@ ''text''',
		'SELECT plainto_tsquery(''seen.words'', s)::text, count(*) FROM texts GROUP BY 1',
		'SELECT ts_headline(''seen.words'', s, ''text''), count(*) FROM texts GROUP BY 1',
		'SELECT ts_lexize(''seen.lexemes'', s)::text, count(*) FROM texts GROUP BY 1']) AS q
$$;
CREATE TEXT SEARCH DICTIONARY lexemes (TEMPLATE = pg_catalog.simple);
SELECT by_words();
ALTER TEXT SEARCH CONFIGURATION words DROP MAPPING FOR asciiword;
ALTER TEXT SEARCH DICTIONARY lexemes (ACCEPT = false);
SELECT by_words();
-- A cancel ends it behind the call that it comes in, however long calls take.  Any other value would raise a warning.
CREATE FUNCTION cancels(int) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'pg_cancel_backend';
CREATE TABLE pids WITH (autovacuum_enabled = off) AS
SELECT CASE i % 4 WHEN 0 THEN pg_backend_pid() ELSE 1000000000 + i % 4 END::text AS pid FROM generate_series(0, 999) AS i;
VACUUM ANALYZE pids;
EXPLAIN (COSTS OFF) SELECT count(*) FROM pids WHERE cancels(pid::int);
SELECT count(*) FROM pids WHERE cancels(pid::int);
RESET gpuconc.debug_offload;
DROP SCHEMA seen CASCADE;
DROP ROLE regress_gpuconc_one, regress_gpuconc_two;
