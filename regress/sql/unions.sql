-- UNION and UNION ALL that are the whole query, or stand anywhere else: rewritten, and in one node.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA unions;
SET search_path = unions, public;

CREATE TABLE d (id int PRIMARY KEY, yr int, name text) WITH (autovacuum_enabled = off);
INSERT INTO d SELECT i, 1990 + i % 7, 'name ' || i % 13 FROM generate_series(1, 300) AS i;
CREATE TABLE a (x int, k int, v numeric(7,2), t text) WITH (autovacuum_enabled = off);
INSERT INTO a SELECT nullif(i % 20, 4), nullif(i % 350, 7), i / 7.0, CASE WHEN i % 13 > 0 THEN 't' || i % 11 END FROM generate_series(1, 5001) AS i;
CREATE TABLE b (y int8, k int, w numeric(7,2), u text) WITH (autovacuum_enabled = off);
INSERT INTO b SELECT nullif(i % 25, 5), i % 320, -i / 3.0, CASE WHEN i % 6 > 0 THEN 'u' || i % 17 ELSE 't' || i % 14 END FROM generate_series(1, 2999) AS i;
CREATE TABLE none (LIKE b);
CREATE TABLE target (n int8, s text);
SELECT settle();
VACUUM (FREEZE, ANALYZE) a, b, d, none;
-- some rows are not in the cache
UPDATE a SET t = 'new ' || x % 3 WHERE k = 11;
INSERT INTO b VALUES (NULL, 12, 1.25, 'new 1'), (3, NULL, NULL, NULL), (-5, 300, 99999.99, 'u3');

-- the rows, and whether one node has all of it
CREATE FUNCTION check_union(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('search_path', 'unions, public', true);
	RETURN check_here(query) || CASE WHEN EXISTS (SELECT FROM plan_of(query) AS line WHERE line ~ 'Append|Nested Loop|Join$|SubPlan|Seq Scan|row source|Unique|Aggregate$|SetOp') THEN ', in pieces' ELSE '' END;
END $$;

SELECT plan_of('SELECT x FROM a JOIN d ON k = id WHERE yr = 1993 UNION SELECT y FROM b JOIN d ON k = id WHERE yr > 1993');
SELECT plan_of('SELECT x, v FROM a JOIN d ON k = id WHERE yr = 1993 UNION ALL SELECT y, w FROM b ORDER BY v LIMIT 3');
-- A condition above that alone reads a column, which PostgreSQL drops from a SELECT that has a condition of its own.
SELECT q, check_union(q) FROM unnest(ARRAY['SELECT count(*) FROM (SELECT x FROM a UNION ALL SELECT x FROM a WHERE x IS NOT NULL) q WHERE x <> 7', 'SELECT t, count(*), sum(v) FROM (SELECT x, v, t FROM a WHERE k > 2 UNION ALL SELECT x, v, t FROM a) q WHERE x < 7 GROUP BY t',
	'SELECT v FROM (SELECT x, v FROM a UNION ALL SELECT NULL, v FROM a WHERE k > 3 UNION ALL SELECT k, v FROM a WHERE x > 5) q WHERE coalesce(x, 3) > 8', 'SELECT count(*) FROM (SELECT x FROM a UNION ALL SELECT y FROM b WHERE w > -30) q WHERE x = 7']) AS q;
-- A SELECT whose groups no condition lets through, whatever other conditions there are, is none.
SELECT plan_of('SELECT x, v FROM (SELECT ''a'' AS s, x, sum(v) AS v FROM a WHERE x IN (1, 2) GROUP BY x UNION ALL SELECT ''b'', y, sum(w) FROM b WHERE y IN (1, 2) GROUP BY y) u WHERE s = ''b''');

-- UNION ALL: of rows and groups, of types that differ, in an order, of nothing
SELECT q, check_union(q) FROM unnest(ARRAY[
	'SELECT x AS one, v, t FROM a JOIN d ON k = id WHERE yr = 1993 UNION ALL SELECT y, w, u FROM b JOIN d ON k = id WHERE yr > 1994',
	'SELECT x, sum(v) AS s FROM a GROUP BY x UNION ALL SELECT y, sum(w) FROM b JOIN d ON k = id GROUP BY y HAVING count(*) > 3',
	'SELECT t, count(*) FROM a GROUP BY t UNION ALL SELECT name, yr FROM d UNION ALL SELECT ''all'', sum(x) FROM a',
	'SELECT y FROM none UNION ALL SELECT x FROM a WHERE x > 17 UNION ALL SELECT y FROM b WHERE false',
	'SELECT count(*) FROM none UNION ALL SELECT count(*) FROM a UNION ALL SELECT max(y) FROM none'
]) AS q;
-- UNION: duplicates within a SELECT and between them, NULLs, of groups, nested both ways, in an order
SELECT q, check_union(q) FROM unnest(ARRAY[
	'SELECT x, t FROM a JOIN d ON k = id WHERE yr = 1993 UNION SELECT y, u FROM b JOIN d ON k = id WHERE yr > 1993',
	'SELECT t FROM a UNION SELECT u FROM b UNION SELECT name FROM d UNION SELECT NULL FROM none',
	'SELECT x, sum(v) FROM a GROUP BY x UNION SELECT x, sum(v) FROM a GROUP BY x UNION SELECT y, sum(w) FROM b GROUP BY y',
	'SELECT x FROM a UNION SELECT x FROM a ORDER BY x DESC NULLS LAST LIMIT 5 OFFSET 2',
	'SELECT t, x FROM a UNION SELECT u, y FROM b ORDER BY 2 NULLS FIRST, 1 DESC LIMIT 11',
	'SELECT yr FROM d UNION ALL (SELECT x FROM a UNION SELECT k FROM b WHERE w > -30) UNION ALL (SELECT y FROM b UNION SELECT 1 FROM d)',
	'SELECT yr FROM d UNION ((SELECT x FROM a UNION SELECT y FROM b) UNION ALL SELECT k FROM b)',
	'SELECT 1, ''x'' FROM a UNION SELECT 1, u FROM b WHERE w > -9 UNION SELECT 2, ''x'' FROM d'
]) AS q;
-- elsewhere: in FROM, EXISTS, IN, a view, CTEs, an INSERT; a LIMIT that is computed; outer columns in a SELECT of it
CREATE VIEW both_of AS SELECT x, t FROM a UNION SELECT y, u FROM b;
SELECT q, check_union(q) FROM unnest(ARRAY[
	'SELECT yr, count(*), sum(n) FROM (SELECT k, count(*) AS n FROM a GROUP BY k UNION SELECT k, 1 FROM b) u JOIN d ON d.id = u.k GROUP BY yr',
	'SELECT t, count(*) FROM both_of WHERE x > 3 AND t LIKE ''%1'' GROUP BY t',
	'SELECT yr, count(*) FROM d WHERE id IN (SELECT k FROM a UNION SELECT k + 1 FROM b WHERE w > -100) GROUP BY yr',
	'WITH p AS (SELECT x, t FROM a WHERE v > 9), q AS (SELECT x FROM p WHERE t > ''t3'') SELECT x FROM p UNION SELECT x FROM q UNION SELECT y FROM b',
	'WITH p AS (SELECT x FROM a UNION SELECT y FROM b) SELECT l.x, r.x FROM p l JOIN p r ON l.x = r.x + 1',
	'SELECT x FROM a UNION SELECT y FROM b ORDER BY 1 LIMIT (SELECT min(yr) - 1985 FROM d)'
]) AS q;
SELECT check_here('SELECT id, (SELECT count(*) FROM (SELECT x FROM a WHERE a.k = d.id UNION SELECT y FROM b WHERE b.k = d.id) u) FROM d');
SELECT check_here('SELECT id FROM d WHERE EXISTS (SELECT x FROM a WHERE a.k = d.id AND x = 3 UNION SELECT y FROM b WHERE b.k = d.id AND y = 3)');
SET gpuconc.debug_offload = require;
INSERT INTO target SELECT x, t FROM a WHERE v > 500 UNION SELECT y, u FROM b;
PREPARE p (int, text) AS SELECT x, t FROM a WHERE x < $1 UNION SELECT y, $2 FROM b WHERE y < $1 ORDER BY 1, 2 LIMIT 4;
EXECUTE p (3, 'p');
EXECUTE p (2, 'q');
SET gpuconc.debug_offload = forbid;
SELECT count(*) FROM (SELECT * FROM target EXCEPT ALL (SELECT x, t FROM a WHERE v > 500 UNION SELECT y, u FROM b)) e;
RESET gpuconc.debug_offload;
-- columns keep their names and types
SET gpuconc.debug_offload = require;
CREATE TABLE made AS SELECT x AS one, v FROM a WHERE x = 1 UNION SELECT y, w FROM b WHERE y = 1;
RESET gpuconc.debug_offload;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'made'::regclass AND attnum > 0 ORDER BY attnum;

-- errors, in one SELECT only
SELECT check_error('SELECT 100 / x FROM a UNION SELECT y FROM b', '{unions}');
SELECT check_union('SELECT 100 / x FROM a WHERE x > 0 UNION SELECT y FROM b');
SELECT check_error('SELECT x * 1000000000 FROM a WHERE x < 4 UNION ALL SELECT k FROM b', '{unions}');

-- PostgreSQL itself, of the query as it is and rewritten
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
	'SELECT x FROM a UNION SELECT y FROM b UNION ALL SELECT yr FROM d', 'SELECT x FROM a INTERSECT (SELECT y FROM b UNION SELECT 1)', '(SELECT x FROM a UNION SELECT y FROM b) EXCEPT SELECT k FROM b',
	'SELECT 1 UNION SELECT 2 UNION SELECT 1.0 ORDER BY 1', 'VALUES (1), (1), (2) UNION VALUES (2), (3)', 'SELECT UNION SELECT', 'SELECT NULL UNION SELECT 1 UNION ALL SELECT NULL UNION ALL SELECT 2.5',
	'SELECT ''x'' UNION SELECT NULL UNION SELECT t FROM a', '(SELECT x FROM a ORDER BY v LIMIT 3) UNION (SELECT y FROM b ORDER BY w LIMIT 3)', 'SELECT ARRAY[x] FROM a UNION SELECT ARRAY[y::int] FROM b',
	'WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT n % 5 + 1 FROM r) SELECT n FROM r UNION SELECT x FROM a', 'SELECT d.id, u.x FROM d, LATERAL (SELECT x FROM a WHERE a.k = d.id UNION SELECT y FROM b WHERE b.k = d.id AND (SELECT yr FROM d e WHERE e.id = d.id) > 1992) u',
	'SELECT id FROM d WHERE id IN (WITH w AS (SELECT k FROM a WHERE a.x = d.yr - 1990) SELECT k FROM w UNION (SELECT k FROM w UNION ALL SELECT k FROM b WHERE b.y = d.yr - 1990))',
	'SELECT yr, (SELECT max(m) FROM (SELECT x + d.yr AS m FROM a WHERE a.k = d.id UNION ALL (SELECT y FROM b WHERE b.k = d.id UNION SELECT d.yr)) u) FROM d'
]) AS q;

-- who may read a view that is a UNION: also where the plan was made for its owner, or is known to be the cheaper one
CREATE VIEW few AS SELECT t FROM a UNION SELECT t || 'x' FROM a;
CREATE ROLE regress_unions_reader;
GRANT USAGE ON SCHEMA unions TO regress_unions_reader;
SET plan_cache_mode = force_generic_plan;
PREPARE reads AS SELECT count(*) > 0 FROM few;
EXECUTE reads;
SELECT count(*) > 0 FROM few;
SELECT count(*) > 0 FROM few;
SET ROLE regress_unions_reader;
EXECUTE reads;
SELECT count(*) > 0 FROM few;
SET gpuconc.debug_rewrite = always;
SELECT count(*) > 0 FROM few;
SELECT count(*) FROM (SELECT x FROM a UNION SELECT y FROM b) AS u;
RESET gpuconc.debug_rewrite;
RESET ROLE;
RESET plan_cache_mode;
DEALLOCATE reads;
-- sorted by another equality than UNION's
SET gpuconc.debug_rewrite = always;
SELECT ROW(1.0) AS r UNION SELECT ROW(1.00) ORDER BY 1 USING OPERATOR(pg_catalog.*<);
RESET gpuconc.debug_rewrite;

\set ECHO none
\o /dev/null
SET client_min_messages = warning;
REVOKE ALL ON SCHEMA unions FROM regress_unions_reader;
DROP ROLE regress_unions_reader;
DROP SCHEMA unions CASCADE;
\o
