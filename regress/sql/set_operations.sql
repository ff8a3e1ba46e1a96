-- INTERSECT and EXCEPT: GROUP BY over a UNION ALL that says which SELECT a row is from.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA sets;
SET search_path = sets, public;

CREATE TABLE d (id int PRIMARY KEY, yr int, name text) WITH (autovacuum_enabled = off);
INSERT INTO d SELECT i, 1990 + i % 7, 't' || i % 13 FROM generate_series(1, 300) AS i;
CREATE TABLE a (x int, k int, v numeric(7,2), t text, c char(4), f float8) WITH (autovacuum_enabled = off);
INSERT INTO a SELECT nullif(i % 20, 4), nullif(i % 350, 7), i % 90 / 4.0, CASE WHEN i % 13 > 0 THEN 't' || i % 11 END, 'c' || i % 7, i % 5 FROM generate_series(1, 5001) AS i;
CREATE TABLE b (y int8, k int, w numeric(7,2), u text, c varchar(4), f float8) WITH (autovacuum_enabled = off);
INSERT INTO b SELECT nullif(i % 25, 5), i % 320, i % 70 / 4.0, CASE WHEN i % 6 > 0 THEN 'u' || i % 17 ELSE 't' || i % 14 END, 'c' || i % 9, -(i % 3) FROM generate_series(1, 2999) AS i;
CREATE TABLE none (LIKE b);
CREATE TABLE target (n int8, s text);
SELECT settle();
VACUUM (FREEZE, ANALYZE) a, b, d, none;
-- some rows are not in the cache
UPDATE a SET t = 'new ' || x % 3 WHERE k = 11;
INSERT INTO b VALUES (NULL, 12, 1.25, 'new 1', 'c1', 'NaN'), (3, NULL, NULL, NULL, NULL, '-0'), (-5, 300, 99999.99, 'u3', 'c 9', 2);

-- the rows, and whether one node has all of it
CREATE FUNCTION check_set(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('search_path', 'sets, public', true);
	RETURN check_here(query) || CASE WHEN EXISTS (SELECT FROM plan_of(query) AS line WHERE line ~ 'Append|Nested Loop|Join$|SubPlan|Seq Scan|row source|Unique|Aggregate$|SetOp') THEN ', in pieces' ELSE '' END;
END $$;

SELECT plan_of('SELECT x, t FROM a INTERSECT SELECT y, u FROM b');
SELECT plan_of('SELECT count(*) FROM (SELECT x FROM a JOIN d ON k = id WHERE yr = 1993 EXCEPT SELECT y FROM b JOIN d ON k = id WHERE yr > 1993) s');
SELECT plan_of('SELECT t FROM a INTERSECT (SELECT u FROM b EXCEPT SELECT name FROM d) ORDER BY 1 LIMIT 3');

-- duplicates within a SELECT and between them, NULLs, of types that differ, of joins and groups, of nothing
SELECT q, check_set(q) FROM unnest(ARRAY[
	'SELECT x FROM a INTERSECT SELECT y FROM b', 'SELECT x FROM a EXCEPT SELECT y FROM b', 'SELECT y FROM b EXCEPT SELECT x FROM a', 'SELECT x, t FROM a INTERSECT SELECT y, u FROM b',
	'SELECT t, x, v FROM a EXCEPT SELECT u, y, w FROM b', 'SELECT v FROM a INTERSECT SELECT w FROM b', 'SELECT x FROM a INTERSECT SELECT x FROM a', 'SELECT x FROM a EXCEPT SELECT x FROM a',
	'SELECT x FROM a INTERSECT SELECT y FROM none', 'SELECT y FROM none EXCEPT SELECT x FROM a', 'SELECT x FROM a EXCEPT SELECT y FROM none', 'SELECT y FROM none EXCEPT SELECT y FROM none',
	'SELECT x FROM a JOIN d ON k = id WHERE yr = 1993 EXCEPT SELECT y FROM b JOIN d ON k = id WHERE yr > 1993',
	'SELECT x, count(*) FROM a GROUP BY x INTERSECT SELECT x, count(*) FROM a WHERE k > 0 GROUP BY x', 'SELECT max(x) FROM a INTERSECT SELECT yr - 1980 FROM d', 'SELECT count(*) FROM none EXCEPT SELECT 0',
	'SELECT 1, t FROM a INTERSECT SELECT 1, u FROM b', 'SELECT NULL, t FROM a INTERSECT SELECT NULL, u FROM b', 'SELECT x, x FROM a EXCEPT SELECT y, y FROM b WHERE y > 9'
]) AS q;
-- nested in each other and in UNION, both ways; eight SELECTs; an order, a limit
SELECT q, check_set(q) FROM unnest(ARRAY[
	'SELECT t FROM a INTERSECT SELECT u FROM b INTERSECT SELECT name FROM d', 'SELECT t FROM a EXCEPT SELECT u FROM b EXCEPT SELECT name FROM d', 'SELECT t FROM a EXCEPT (SELECT u FROM b EXCEPT SELECT name FROM d)',
	'SELECT t FROM a UNION (SELECT u FROM b INTERSECT SELECT name FROM d)', '(SELECT t FROM a UNION SELECT u FROM b) EXCEPT SELECT name FROM d', 'SELECT t FROM a INTERSECT (SELECT u FROM b UNION ALL SELECT name FROM d)',
	'(SELECT x FROM a INTERSECT ALL SELECT x FROM a WHERE k > 40) EXCEPT SELECT 3', 'SELECT yr FROM d UNION ALL (SELECT x FROM a INTERSECT SELECT y FROM b) UNION ALL (SELECT y FROM b EXCEPT SELECT 1 FROM d)',
	'SELECT x FROM a EXCEPT SELECT 1 EXCEPT SELECT 2 EXCEPT SELECT 3 EXCEPT SELECT 5 EXCEPT SELECT 6 EXCEPT SELECT 7 EXCEPT SELECT 8',
	'SELECT t, x FROM a INTERSECT SELECT u, y FROM b ORDER BY 2 NULLS FIRST, 1 DESC LIMIT 11', 'SELECT x FROM a EXCEPT SELECT y FROM b WHERE y > 3 ORDER BY x DESC NULLS LAST LIMIT 2 OFFSET 1'
]) AS q;
-- INTERSECT ALL and EXCEPT ALL: as many copies of a row as the counts leave, NULLs and duplicates, nested both ways; conditions, joins, groups above
SELECT plan_of('SELECT x, t FROM a EXCEPT ALL SELECT y, u FROM b');
SELECT q, check_here(q) || CASE WHEN (SELECT count(*) FROM plan_of(q) AS line WHERE line ~ 'Custom Scan') <> 1 OR EXISTS (SELECT FROM plan_of(q) AS line WHERE line ~ 'Append|SetOp|Seq Scan') THEN ', in pieces' ELSE '' END FROM unnest(ARRAY[
	'SELECT x FROM a INTERSECT ALL SELECT y FROM b', 'SELECT x FROM a EXCEPT ALL SELECT y FROM b', 'SELECT y FROM b EXCEPT ALL SELECT x FROM a', 'SELECT x, t FROM a INTERSECT ALL SELECT y, u FROM b', 'SELECT t, x FROM a EXCEPT ALL SELECT u, y FROM b',
	'SELECT v FROM a INTERSECT ALL SELECT w FROM b', 'SELECT x FROM a EXCEPT ALL SELECT x FROM a', 'SELECT x FROM a INTERSECT ALL SELECT x FROM a', 'SELECT x FROM a INTERSECT ALL SELECT y FROM none', 'SELECT x FROM a EXCEPT ALL SELECT y FROM none',
	'SELECT x FROM a JOIN d ON k = id WHERE yr = 1993 EXCEPT ALL SELECT y FROM b JOIN d ON k = id WHERE yr > 1993', 'SELECT DISTINCT x FROM a INTERSECT ALL SELECT y FROM b', 'SELECT x FROM a EXCEPT ALL SELECT DISTINCT y FROM b',
	'SELECT t FROM a INTERSECT ALL SELECT u FROM b INTERSECT ALL SELECT name FROM d', 'SELECT t FROM a EXCEPT ALL SELECT u FROM b EXCEPT ALL SELECT name FROM d', 'SELECT t FROM a EXCEPT ALL (SELECT u FROM b EXCEPT ALL SELECT name FROM d)',
	'SELECT t FROM a EXCEPT ALL (SELECT u FROM b UNION ALL SELECT name FROM d)', '(SELECT t FROM a UNION SELECT u FROM b) EXCEPT ALL SELECT name FROM d', '(SELECT t FROM a UNION ALL SELECT u FROM b) INTERSECT ALL (SELECT t FROM a EXCEPT SELECT name FROM d)',
	'SELECT t FROM a EXCEPT (SELECT u FROM b EXCEPT ALL SELECT name FROM d)', 'SELECT t FROM a UNION (SELECT u FROM b EXCEPT ALL SELECT name FROM d)', '(SELECT x FROM a EXCEPT ALL SELECT y FROM b) INTERSECT SELECT yr - 1985 FROM d',
	'SELECT yr FROM d UNION ALL (SELECT x FROM a INTERSECT ALL SELECT y FROM b)', 'SELECT x, t FROM a EXCEPT ALL SELECT y, u FROM b ORDER BY 2 NULLS FIRST, 1 DESC LIMIT 11', 'WITH p AS (SELECT x FROM a EXCEPT ALL SELECT y FROM b WHERE y < 9) SELECT x, count(*) FROM p WHERE x > 2 GROUP BY x',
	'SELECT t, count(*), max(x) FROM (SELECT t, x FROM a EXCEPT ALL SELECT u, y FROM b) s WHERE x > 3 OR t IS NULL GROUP BY t HAVING count(*) > 1', 'SELECT a.t, count(*), sum(s.k) FROM (SELECT k FROM a EXCEPT ALL SELECT k FROM b WHERE y < 20) s JOIN a USING (k) GROUP BY a.t'
]) AS q;
-- no more copies are expected than there are rows
CREATE FUNCTION expected_rows(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
SET gpuconc.debug_offload = require;
SELECT expected_rows('SELECT x, t FROM a EXCEPT ALL SELECT y, u FROM b') BETWEEN 1 AND 9000 AS all, expected_rows('SELECT generate_series(1, n) AS copy FROM (SELECT x, count(*) AS n FROM a GROUP BY x) g') > 9000 AS others;
RESET gpuconc.debug_offload;
-- SELECTs that drop duplicates themselves, are sorted, limited, or set operations again
SELECT q, check_set(q) FROM unnest(ARRAY[
	'SELECT DISTINCT t, x FROM a INTERSECT SELECT DISTINCT u, y FROM b', '(SELECT DISTINCT x FROM a ORDER BY x LIMIT 7) EXCEPT SELECT y FROM b WHERE y < 3', '(SELECT DISTINCT x FROM a ORDER BY x OFFSET 9) EXCEPT SELECT y FROM b WHERE y > 15', '(SELECT x FROM a ORDER BY v, x, k LIMIT 30) INTERSECT (SELECT y FROM b ORDER BY w, y, k LIMIT 50)',
	'(SELECT DISTINCT ON (x) x, t FROM a ORDER BY x, t) INTERSECT SELECT y, u FROM b', '(WITH p AS (SELECT x FROM a WHERE v > 3) SELECT x FROM p UNION SELECT 3) INTERSECT SELECT y FROM b',
	'(SELECT x FROM a UNION ALL SELECT y FROM b ORDER BY 1 LIMIT 900) EXCEPT SELECT 1', '(SELECT x FROM a GROUP BY x ORDER BY count(*), x LIMIT 9) EXCEPT SELECT y FROM b WHERE y < 3'
]) AS q;
-- elsewhere: in FROM, EXISTS, IN, a view, CTEs, an INSERT, a prepared statement; outer columns in a SELECT of it
CREATE VIEW common AS SELECT x, t FROM a INTERSECT SELECT y, u FROM b;
SELECT q, check_set(q) FROM unnest(ARRAY[
	'SELECT yr, count(*) FROM (SELECT k FROM a INTERSECT SELECT k FROM b) u JOIN d ON d.id = u.k GROUP BY yr', 'SELECT t, count(*) FROM common WHERE x > 3 AND t LIKE ''%1'' GROUP BY t',
	'SELECT yr, count(*) FROM d WHERE id IN (SELECT k FROM a EXCEPT SELECT k + 1 FROM b WHERE w > 3) GROUP BY yr', 'WITH p AS (SELECT x FROM a EXCEPT SELECT y FROM b WHERE y < 9) SELECT l.x, r.x FROM p l JOIN p r ON l.x = r.x + 1',
	'SELECT count(*), count(k), sum(k) FROM (SELECT k FROM a EXCEPT SELECT k FROM b) s', 'SELECT x FROM a INTERSECT SELECT y FROM b ORDER BY 1 LIMIT (SELECT min(yr) - 1985 FROM d)'
]) AS q;
-- read in FROM by joins, groups, HAVING, an order, and by another one; conditions on it, and NULLs
SELECT q, check_set(q) FROM unnest(ARRAY[
	'SELECT t, count(*), max(x) FROM (SELECT t, x FROM a EXCEPT SELECT u, y FROM b) s WHERE x > 3 OR t IS NULL GROUP BY t HAVING count(*) > 1', 'SELECT a.t, count(*), sum(s.k) FROM (SELECT k FROM a EXCEPT SELECT k FROM b WHERE y < 20) s JOIN a USING (k) WHERE s.k % 3 > 0 GROUP BY a.t',
	'SELECT yr, count(s.k), count(*) FROM d LEFT JOIN (SELECT k FROM a EXCEPT SELECT k FROM b) s ON s.k = d.id + 40 GROUP BY yr', 'SELECT count(*), sum(k) FROM a WHERE NOT EXISTS (SELECT FROM (SELECT k FROM a EXCEPT SELECT k FROM b WHERE y > 3) s WHERE s.k = a.k)',
	'SELECT s.x FROM (SELECT x FROM a EXCEPT SELECT y FROM b WHERE y < 9) s JOIN d ON d.id = s.x ORDER BY s.x DESC LIMIT 3', 'SELECT count(*) FROM (SELECT t FROM a EXCEPT SELECT u FROM b) s JOIN (SELECT name FROM d EXCEPT SELECT u FROM b) r ON r.name = s.t'
]) AS q;
SELECT check_here('SELECT id, (SELECT count(*) FROM (SELECT x FROM a WHERE a.k = d.id EXCEPT SELECT y FROM b WHERE b.k = d.id) u) FROM d');
SELECT check_here('SELECT id FROM d WHERE EXISTS (SELECT x FROM a WHERE a.k = d.id INTERSECT SELECT y FROM b WHERE b.k = d.id)');
SET gpuconc.debug_offload = require;
INSERT INTO target SELECT x, t FROM a EXCEPT SELECT y, u FROM b;
PREPARE p (int, text) AS SELECT x, t FROM a WHERE x < $1 EXCEPT SELECT y, $2 FROM b WHERE y < $1 ORDER BY 1, 2 LIMIT 4;
EXECUTE p (3, 't1');
EXECUTE p (2, 't10');
SET gpuconc.debug_offload = forbid;
SELECT count(*) FROM (SELECT * FROM target EXCEPT ALL (SELECT x, t FROM a EXCEPT SELECT y, u FROM b)) e;
RESET gpuconc.debug_offload;
-- columns keep their names and types
SET gpuconc.debug_offload = require;
CREATE TABLE made AS SELECT x AS one, v, t FROM a WHERE x = 1 EXCEPT SELECT y, w, u FROM b WHERE y = 2;
RESET gpuconc.debug_offload;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'made'::regclass AND attnum > 0 ORDER BY attnum;
-- conditions above stay above EXCEPT: one that fails for a row that is taken away, one that tells equal values apart
CREATE TABLE zeros AS SELECT i AS x, CASE WHEN i % 2 = 0 THEN 1.0 ELSE 1.00 END * (i % 7 - 1) AS v FROM generate_series(0, 40) i;
VACUUM (FREEZE, ANALYZE) zeros;
SELECT q, check_here(q) FROM unnest(ARRAY[
	'SELECT * FROM (SELECT x FROM zeros EXCEPT SELECT 0) s WHERE 100 / x > 3', 'SELECT * FROM (SELECT x FROM zeros EXCEPT SELECT 0 FROM zeros WHERE x = 3) s WHERE 100 / x > 3', 'SELECT * FROM (SELECT x FROM zeros EXCEPT ALL SELECT 0 FROM zeros WHERE x = 3) s WHERE 100 / x > 3', 'SELECT count(*) FROM (SELECT 1 AS x FROM zeros UNION ALL (SELECT x FROM zeros EXCEPT SELECT 0 FROM zeros)) s WHERE 100 / x > 3'
]) AS q;
-- errors, in one SELECT only
SELECT check_error('SELECT 100 / x FROM a EXCEPT SELECT y FROM b', '{sets}');

-- PostgreSQL itself, of the query as it is and rewritten; too many SELECTs, types between which equality differs, floats, no columns, arrays, recursion
CREATE FUNCTION rewritten(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	expected text[];
	got text[];
BEGIN
	PERFORM set_config('gpuconc.offload_cost', '1e9', true), set_config('gpuconc.debug_rewrite', 'never', true);
	expected := rows_of(query, 'allow');
	PERFORM set_config('gpuconc.debug_rewrite', 'always', true);
	got := rows_of(query, 'allow');
	PERFORM set_config('gpuconc.offload_cost', '0', true), set_config('gpuconc.debug_rewrite', 'auto', true);
	RETURN coalesce('DIFFERENT: ' || difference(expected, got), cardinality(got) || ' rows');
END $$;
SELECT q, rewritten(q) FROM unnest(ARRAY[
	'SELECT x FROM a EXCEPT ALL SELECT y FROM b', 'SELECT x FROM a INTERSECT ALL SELECT y FROM b', '(SELECT x FROM a EXCEPT ALL SELECT y FROM b) INTERSECT SELECT 3', 'SELECT x FROM a EXCEPT (SELECT y FROM b EXCEPT ALL SELECT x FROM a)',
	'SELECT x FROM a EXCEPT SELECT 1 EXCEPT SELECT 2 EXCEPT SELECT 3 EXCEPT SELECT 5 EXCEPT SELECT 6 EXCEPT SELECT 7 EXCEPT SELECT 8 EXCEPT SELECT 9', 'SELECT c FROM a INTERSECT SELECT c FROM b', '(SELECT c FROM a INTERSECT SELECT ''c1  ''::char(4)) INTERSECT SELECT c::text FROM b',
	'SELECT f FROM a INTERSECT SELECT f FROM b', 'SELECT f FROM b EXCEPT SELECT ''NaN''::float8', 'SELECT EXCEPT SELECT', 'SELECT INTERSECT SELECT FROM a', 'VALUES (1), (1), (NULL) EXCEPT VALUES (2), (NULL)', 'SELECT ARRAY[x] FROM a INTERSECT SELECT ARRAY[y::int] FROM b',
	'SELECT 1 INTERSECT SELECT 1.0', 'SELECT ''x'' EXCEPT SELECT NULL', 'SELECT NULL INTERSECT SELECT NULL', 'WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT n % 5 + 1 FROM r) SELECT n FROM r EXCEPT SELECT x FROM a WHERE x > 3',
	'SELECT * FROM (SELECT 1.0 AS v EXCEPT SELECT 1.00) s WHERE scale(v) = 1', '(SELECT ''-0''::float8 INTERSECT SELECT 7) UNION SELECT 0', 'SELECT 1.0 EXCEPT (SELECT 1.00 EXCEPT SELECT 1.000)', 'SELECT * FROM (SELECT x FROM zeros EXCEPT SELECT 0) s WHERE 100 / x > 3',
	'SELECT generate_series(1, 5) INTERSECT SELECT generate_series(4, 9)', 'SELECT x, row_number() OVER (ORDER BY x, k, v, t) FROM a EXCEPT SELECT y, 3 FROM b', 'SELECT id FROM d FOR UPDATE', '(SELECT x AS n, t AS m FROM a ORDER BY v, k, x, t LIMIT 20) EXCEPT SELECT y, u FROM b ORDER BY m, n'
]) AS q;

-- a group of EXCEPT ALL has rows that are not the result's, and numerics may be spelled in another way there
CREATE FUNCTION is_set(query text) RETURNS bool LANGUAGE plpgsql SET gpuconc.debug_rewrite = always AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan::text LIKE '%"SetOp"%';
END $$;
SELECT is_set(format('SELECT n FROM (VALUES (%s), (%s)) AS l(n) EXCEPT ALL SELECT n FROM (VALUES (%s), (2)) AS r(n)', n, n, m)) FROM (VALUES ('1.0', '1.00'), ('1', '1')) AS v(n, m);

-- row security and privileges are those of the tables
CREATE ROLE regress_sets_reader;
GRANT USAGE ON SCHEMA sets TO regress_sets_reader;
CREATE VIEW few AS SELECT t FROM a EXCEPT SELECT u FROM b;
SET ROLE regress_sets_reader;
SET gpuconc.debug_rewrite = always;
SELECT count(*) FROM (SELECT t FROM a EXCEPT SELECT u FROM b) s;
SELECT count(*) FROM few;
RESET ROLE;
GRANT SELECT ON few TO regress_sets_reader;
SET ROLE regress_sets_reader;
SELECT count(*) > 0 FROM few;
RESET ROLE;
-- a policy hides rows of each SELECT, and a barrier keeps a function from rows that a view hides
GRANT SELECT ON a, b TO regress_sets_reader;
ALTER TABLE a ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON a USING (k % 2 = 0);
CREATE FUNCTION tells(bigint) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'sees %', $1; RETURN true; END $$;
CREATE VIEW barred WITH (security_barrier) AS SELECT x FROM a WHERE x < 3 EXCEPT SELECT y FROM b WHERE y = 1;
GRANT SELECT ON barred TO regress_sets_reader;
SET ROLE regress_sets_reader;
SELECT (SELECT count(*) FROM (SELECT k FROM a EXCEPT SELECT k FROM b) s), (SELECT count(*) FROM (SELECT k FROM a INTERSECT SELECT k FROM b) s);
SELECT x FROM barred WHERE tells(x) ORDER BY x;
SET gpuconc.debug_offload = forbid;
SELECT (SELECT count(*) FROM (SELECT k FROM a EXCEPT SELECT k FROM b) s), (SELECT count(*) FROM (SELECT k FROM a INTERSECT SELECT k FROM b) s);
SELECT x FROM barred WHERE tells(x) ORDER BY x;
RESET ROLE;
RESET gpuconc.debug_offload;
RESET gpuconc.debug_rewrite;

\set ECHO none
\o /dev/null
SET client_min_messages = warning;
REVOKE ALL ON SCHEMA sets FROM regress_sets_reader;
DROP SCHEMA sets CASCADE;
DROP ROLE regress_sets_reader;
\o
