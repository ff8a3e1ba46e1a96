-- UNION ALL of joins and aggregates in one node with what is around it: each SELECT is an arm of its own.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA union_all;
SET search_path = union_all, public;

CREATE TABLE d (id int PRIMARY KEY, yr int, name text, c char(8)) WITH (autovacuum_enabled = off);
INSERT INTO d SELECT i, 1990 + i % 7, 'name ' || i % 13, 'c' || i % 5 FROM generate_series(1, 300) AS i;
CREATE TABLE a (x int, k int, v numeric(7,2), t text) WITH (autovacuum_enabled = off);
INSERT INTO a SELECT i % 20, nullif(i % 350, 7), i / 7.0, CASE WHEN i % 13 > 0 THEN 't' || i % 11 END FROM generate_series(1, 9001) AS i;
CREATE TABLE b (y int, k int, w numeric(7,2), u text) WITH (autovacuum_enabled = off);
INSERT INTO b SELECT i % 25, i % 320, -i / 3.0, CASE WHEN i % 6 > 0 THEN 'u' || i % 17 ELSE 't' || i % 14 END FROM generate_series(1, 4999) AS i;
CREATE TABLE c (z int8, k int, q int, m numeric(9,2), c char(8)) WITH (autovacuum_enabled = off);
INSERT INTO c SELECT i % 13, i % 310, nullif(i % 9, 4), i, 'c' || i % 7 FROM generate_series(1, 1203) AS i;
CREATE TABLE none (LIKE b);
SELECT settle();
VACUUM (FREEZE, ANALYZE) a, b, c, d, none;
-- some rows are not in the cache
UPDATE a SET t = 'new ' || x % 3 WHERE k = 11;
INSERT INTO b VALUES (NULL, 12, 1.25, 'new 1'), (3, NULL, NULL, NULL), (-5, 300, 99999.99, 'u3');

-- the rows, and whether one node has all of it
CREATE FUNCTION check_union(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('search_path', 'union_all, public', true);
	RETURN check_here(query) || CASE WHEN EXISTS (SELECT FROM plan_of(query) AS line WHERE line ~ 'Append|Nested Loop|Join$|SubPlan|Seq Scan|row source') THEN ', in pieces' ELSE '' END;
END $$;

-- plans
SELECT plan_of('SELECT x, sum(v) FROM (SELECT x, v FROM a JOIN d ON k = id WHERE yr = 1993 UNION ALL SELECT y, w * -1 FROM b JOIN d ON k = id WHERE yr > 1993) u GROUP BY x');
SELECT plan_of('SELECT d.yr, sum(v) FROM (SELECT k, v FROM a JOIN d ON k = id AND yr > 1992 UNION ALL SELECT k, sum(w) FROM b GROUP BY k HAVING count(*) > 1 UNION ALL SELECT k, m FROM c) u JOIN d ON u.k = d.id GROUP BY d.yr');

-- below an aggregate: with keys and without, constants, NULLs, other types, texts of several dictionaries
SELECT q, check_union(q) FROM unnest(ARRAY[
	'SELECT x, sum(v), count(*), min(v), avg(v) FROM (SELECT x, v FROM a JOIN d ON k = id WHERE yr = 1993 UNION ALL SELECT y, w * -1 FROM b JOIN d ON k = id WHERE yr > 1993) u GROUP BY x',
	'SELECT sum(v), count(*), min(v), max(x) FROM (SELECT x, v FROM a JOIN d ON k = id WHERE yr = 1993 UNION ALL SELECT y, w FROM b JOIN d ON k = id UNION ALL SELECT y, w FROM none JOIN d ON k = id) u',
	'SELECT src, name, sum(v), count(*), count(i) FROM (SELECT ''a'' AS src, name, v, 1 AS i FROM a JOIN d ON k = id UNION ALL SELECT ''bb'', name, w, NULL FROM b JOIN d ON k = id WHERE yr > 1993 UNION ALL SELECT NULL, NULL, m, q FROM c JOIN d ON id = c.k AND yr = 1991) u GROUP BY 1, 2',
	'SELECT x, sum(v), count(v) FROM (SELECT x, v FROM a JOIN d ON k = id UNION ALL SELECT z, q FROM c JOIN d ON id = k) u GROUP BY x',
	'SELECT x, sum(v), count(v), avg(v) FROM (SELECT x, v FROM a JOIN d ON k = id UNION ALL SELECT y, w * 0.5 FROM b JOIN d ON k = id UNION ALL SELECT z, NULL FROM c JOIN d ON id = k) u GROUP BY x',
	'SELECT x, sum(i), max(i) FROM (SELECT x, k::int8 AS i FROM a JOIN d ON k = id AND x = 1 UNION ALL SELECT y, 3000000000 FROM b JOIN d ON k = id) u GROUP BY x',
	'SELECT t, count(*), sum(v), max(t) FROM (SELECT t, v FROM a JOIN d ON k = id UNION ALL SELECT u, w FROM b JOIN d ON k = id UNION ALL SELECT name, 1 FROM d JOIN c ON k = id) u GROUP BY t',
	'SELECT c, max(c), count(*) FROM (SELECT d.c FROM a JOIN d ON k = id UNION ALL SELECT c.c FROM c JOIN d ON k = id) u GROUP BY c',
	'SELECT t || ''!'', upper(t), count(*) FROM (SELECT t FROM a JOIN d ON k = id UNION ALL SELECT ''t2'' FROM b JOIN d ON k = id WHERE yr = 1992 UNION ALL SELECT name FROM c JOIN d ON k = id) u WHERE t LIKE ''%2'' OR t > ''t3'' GROUP BY 1, 2',
	'SELECT t, count(*) FROM (SELECT CASE WHEN x > 3 THEN t ELSE ''uu'' END AS t FROM a JOIN d ON k = id UNION ALL SELECT substr(u, 1, 1) FROM b JOIN d ON k = id UNION ALL SELECT NULL FROM c JOIN d ON k = id) u GROUP BY 1',
	'SELECT d, b, count(*) FROM (SELECT date ''2020-01-01'' + x AS d, x > 3 AS b FROM a JOIN d ON k = id UNION ALL SELECT ''2020-01-03'', NULL FROM b JOIN d ON k = id) u GROUP BY 1, 2'
]) AS q;
-- DISTINCT, count(DISTINCT), HAVING, ROLLUP, ORDER BY with LIMIT, FILTER, many groups
SELECT q, check_union(q) FROM unnest(ARRAY[
	'SELECT DISTINCT x, t FROM (SELECT x, t FROM a JOIN d ON k = id AND yr = 1992 UNION ALL SELECT y, u FROM b JOIN d ON k = id) u',
	'SELECT t, count(DISTINCT x), sum(v) FROM (SELECT x, v, t FROM a JOIN d ON k = id UNION ALL SELECT y, w, u FROM b JOIN d ON k = id) u GROUP BY t',
	'SELECT x, sum(v) AS s FROM (SELECT x, v FROM a JOIN d ON k = id UNION ALL SELECT y, w FROM b JOIN d ON k = id) u GROUP BY x HAVING sum(v) > 0 ORDER BY s DESC, x LIMIT 3',
	'SELECT x, t, sum(v), grouping(x, t) FROM (SELECT x, v, t FROM a JOIN d ON k = id UNION ALL SELECT y, w, u FROM b JOIN d ON k = id) u GROUP BY ROLLUP (x, t)',
	'SELECT v, count(*), sum(x) FILTER (WHERE x > 3) FROM (SELECT x, v FROM a JOIN d ON k = id UNION ALL SELECT y, w FROM b JOIN d ON k = id) u GROUP BY v'
]) AS q;
-- rows; joined above, streamed and as a build; below left, full, semi and anti joins
SELECT q, check_union(q) FROM unnest(ARRAY[
	'SELECT * FROM (SELECT t, v, x FROM a JOIN d ON k = id WHERE yr = 1993 AND x = 3 UNION ALL SELECT u, w, y FROM b JOIN d ON k = id WHERE yr = 1994 AND y < 3) u',
	'SELECT x, v FROM (SELECT x, v FROM a JOIN d ON k = id UNION ALL SELECT y, w FROM b JOIN d ON k = id) u ORDER BY v DESC, x LIMIT 7',
	'SELECT d.yr, sum(v), count(*) FROM (SELECT k, v FROM a JOIN d ON k = id WHERE yr = 1993 UNION ALL SELECT k, w FROM b) u JOIN d ON d.id = u.k WHERE u.v > -900 GROUP BY d.yr',
	'SELECT d.yr, t, sum(v), count(*) FROM (SELECT k, v, t FROM a JOIN d ON k = id WHERE yr > 1993 UNION ALL SELECT k, w, u FROM b UNION ALL SELECT k, m, ''x'' FROM c WHERE q = 3) u LEFT JOIN d ON d.id = u.k + 10 GROUP BY d.yr, t',
	'SELECT u.x, e.yr, sum(u.v), count(*) FROM (SELECT x, k, v FROM a JOIN d ON k = id WHERE x < 5 UNION ALL SELECT y, k, w FROM b JOIN d ON k = id WHERE y < 3) u FULL JOIN (SELECT yr, id FROM d WHERE yr > 1993) e ON e.id = u.k GROUP BY u.x, e.yr',
	'SELECT a.x, count(*), sum(u.w) FROM a JOIN (SELECT k, w FROM b JOIN d ON k = id WHERE yr = 1993 UNION ALL SELECT k, m FROM c JOIN d ON k = id WHERE yr = 1991) u ON u.k = a.k GROUP BY a.x',
	'SELECT x, count(*) FROM a WHERE EXISTS (SELECT FROM (SELECT k, w FROM b JOIN d ON k = id WHERE yr = 1993 UNION ALL SELECT k, m FROM c JOIN d ON k = id WHERE yr = 1991) u WHERE u.k = a.k AND u.w > 0) GROUP BY x',
	'SELECT x, count(*) FROM a WHERE NOT EXISTS (SELECT FROM (SELECT k, w FROM b JOIN d ON k = id WHERE yr = 1993 UNION ALL SELECT k, count(*) FROM c GROUP BY k) u WHERE u.k = a.k) GROUP BY x',
	'SELECT x, count(*), sum(v) FROM (SELECT x, v FROM a, d WHERE a.k < d.id AND d.id < 9 UNION ALL SELECT y, w FROM b, d WHERE b.k < d.id AND d.id < 5) u, (SELECT id FROM d WHERE id > 290) e WHERE u.x < e.id - 280 GROUP BY x'
]) AS q;
-- one UNION ALL joined to others, whichever is streamed
SELECT q, check_union(q) FROM unnest(ARRAY[
	'SELECT u.x, count(*), sum(u.v + r.w) FROM (SELECT x, k, v FROM a JOIN d ON k = id UNION ALL SELECT y, k, w FROM b JOIN d ON k = id) u JOIN (SELECT id AS k, 1.5 AS w FROM d WHERE yr = 1993 UNION ALL SELECT d.id, m FROM c JOIN d ON k = id WHERE q = 3) r ON r.k = u.k GROUP BY u.x',
	'SELECT r.t, d.c, count(*) FROM d JOIN (SELECT x AS k, t FROM a UNION ALL SELECT b.k, u FROM b JOIN d ON d.id = b.k WHERE yr < 1992) u ON u.k = d.id LEFT JOIN (SELECT d.id AS k, name AS t FROM c JOIN d ON k = id WHERE q < 2 UNION ALL SELECT d.id, d.name FROM b JOIN d ON d.id = b.y) r ON r.k = u.k GROUP BY r.t, d.c',
	'SELECT s.yr, count(*), sum(u.v) FROM (SELECT k, v FROM a JOIN d ON k = id UNION ALL SELECT k, w FROM b JOIN d ON k = id) u JOIN (SELECT k, q FROM c JOIN d ON k = id WHERE yr < 1992 UNION ALL SELECT id, yr - 1990 FROM d) r ON r.k = u.k FULL JOIN (SELECT id, yr FROM d WHERE yr > 1994 UNION ALL SELECT id + 200, yr FROM d JOIN c ON k = id WHERE q = 1) s ON s.id = r.q GROUP BY s.yr'
]) AS q;
-- outer, semi and anti joins in the arms, also such as are followed by rows without a match
SELECT q, check_union(q) FROM unnest(ARRAY[
	'SELECT x, yr, sum(v), count(*) FROM (SELECT x, yr, v FROM a LEFT JOIN d ON k = id AND yr > 1992 UNION ALL SELECT y, yr, w FROM b JOIN d ON k = id) u GROUP BY x, yr',
	'SELECT x, yr, sum(v), count(*) FROM (SELECT x, yr, v FROM d LEFT JOIN a ON k = id AND x > 14 UNION ALL SELECT y, yr, w FROM b FULL JOIN d ON k = id) u GROUP BY x, yr',
	'SELECT e.yr, u.yr, sum(v), count(*) FROM (SELECT yr, k, v FROM d LEFT JOIN a ON k = id AND x > 14 UNION ALL SELECT yr, k, w FROM b FULL JOIN d ON k = id) u FULL JOIN d e ON u.k = e.id AND e.yr < u.yr GROUP BY e.yr, u.yr',
	'SELECT x, sum(v) FROM (SELECT x, v FROM a WHERE k IN (SELECT id FROM d WHERE yr = 1992) UNION ALL SELECT y, w FROM b WHERE NOT EXISTS (SELECT FROM d WHERE id = b.k AND yr = 1991)) u GROUP BY x'
]) AS q;
-- aggregates as arms, nested unions, InitPlans, arms without rows, a CTE that is read twice
SELECT q, check_union(q) FROM unnest(ARRAY[
	'SELECT x, sum(s), count(*) FROM (SELECT x, k, sum(v) AS s FROM a JOIN d ON k = id GROUP BY x, k UNION ALL SELECT y, k, sum(w) FROM b GROUP BY y, k HAVING count(*) > 1) u GROUP BY x',
	'SELECT kind, x, s FROM (SELECT ''a'' AS kind, x, sum(v) AS s FROM a JOIN d ON k = id GROUP BY x UNION ALL SELECT ''b'', y, sum(w) FROM b GROUP BY y) u',
	'SELECT count(*), sum(s), min(n) FROM (SELECT sum(v) AS s, count(*) AS n FROM a UNION ALL SELECT sum(w), count(*) FROM b JOIN d ON id = k UNION ALL SELECT sum(w), count(*) FROM none) u',
	'SELECT x, sum(s) FROM (SELECT x, sum(v) AS s FROM (SELECT x, v FROM a JOIN d ON k = id UNION ALL SELECT y, w FROM b JOIN d ON k = id) i GROUP BY x UNION ALL SELECT y, sum(w) FROM b GROUP BY y) u GROUP BY x',
	'SELECT x, sum(v), count(*) FROM (SELECT * FROM (SELECT x::int8 AS x, v FROM a JOIN d ON k = id UNION ALL SELECT z, m FROM c JOIN d ON k = id) i WHERE x > 2 UNION ALL SELECT y, w FROM b JOIN d ON k = id WHERE yr = 1992) u GROUP BY x',
	'SELECT x, sum(v) FROM (SELECT x, v FROM a JOIN d ON k = id WHERE v > (SELECT avg(w) FROM b WHERE w > -100) UNION ALL SELECT y, w FROM b JOIN d ON k = id) u GROUP BY x',
	'SELECT s, sum(n) FROM (SELECT ''a'' AS s, x, count(*) AS n FROM a GROUP BY x UNION ALL SELECT ''b'', y, count(*) FROM b JOIN d ON k = id GROUP BY y) u WHERE s = ''b'' GROUP BY s',
	'WITH u AS (SELECT x, v FROM a JOIN d ON k = id UNION ALL SELECT y, w FROM b JOIN d ON k = id) SELECT l.x, l.s, r.s FROM (SELECT x, sum(v) AS s FROM u WHERE x < 10 GROUP BY x) l JOIN (SELECT x, sum(v) AS s FROM u GROUP BY x) r ON l.x = r.x + 1'
]) AS q;
-- overflow and division by zero in one arm only
SELECT q, check_here(q) FROM unnest(ARRAY[
	'SELECT sum(100 / x) FROM (SELECT x FROM a JOIN d ON k = id WHERE x > 0 UNION ALL SELECT y FROM b JOIN d ON k = id WHERE y > 0) u'
]) AS q;
SELECT check_error('SELECT sum(100 / x) FROM (SELECT x FROM union_all.a JOIN union_all.d ON k = id WHERE x > 0 UNION ALL SELECT y FROM union_all.b JOIN union_all.d ON k = id) u', '{union_all}');
SELECT check_error('SELECT max(x * 1000000000) FROM (SELECT x FROM union_all.a JOIN union_all.d ON k = id WHERE x = 1 UNION ALL SELECT y FROM union_all.b JOIN union_all.d ON k = id) u', '{union_all}');

-- texts that are NULL in all arms, looked up where the union is a build, and where CASE chooses among them
SELECT check_union('SELECT count(*) FILTER (WHERE u.t ~* ''x''), sum(v) FROM a JOIN (SELECT id, NULL::text AS t FROM d UNION ALL SELECT k, NULL FROM b GROUP BY k HAVING count(*) > 1) u ON u.id = a.k');
SELECT check_here('SELECT count(*) FILTER (WHERE t ~* ''x''), sum(id) FROM (SELECT id, CASE WHEN id > 9 THEN NULL::text ELSE NULL END AS t FROM d UNION ALL SELECT id, CASE WHEN id > 9 THEN NULL::text ELSE NULL END FROM d) u');
-- left to PostgreSQL, with the arms as nodes of their own
SELECT check_union('SELECT sum(x) FROM (SELECT x FROM a JOIN d ON k = id UNION ALL SELECT i FROM generate_series(1, 10) AS i) u');
SELECT check_union('SELECT x, max(m) FROM (SELECT x, avg(v) AS m FROM a JOIN d ON k = id GROUP BY x UNION ALL SELECT y, w FROM b JOIN d ON k = id) u GROUP BY x');
-- a quotient is computed above the join that brings its parts, where it is no longer known of which SELECT a row is
SELECT q, check_union(q) FROM unnest(ARRAY[
	'SELECT a.x, count(*), sum(u.m) FROM a JOIN (SELECT k, avg(w) AS m FROM b GROUP BY k UNION ALL SELECT k, m FROM c) u ON u.k = a.k GROUP BY a.x',
	'SELECT a.x, count(*), count(u.m) FROM a LEFT JOIN (SELECT k, m FROM c UNION ALL SELECT k, avg(w) FROM b JOIN d ON k = id GROUP BY k) u ON u.k = a.k GROUP BY a.x',
	'SELECT a.x, count(*) FROM a JOIN (SELECT k, m / q AS m FROM c WHERE q <> 0 UNION ALL SELECT k, w FROM b JOIN d ON k = id) u ON u.k = a.k WHERE u.m > a.v GROUP BY a.x',
	'SELECT every(u.m <= 1e3), bool_or(a.t < a.t) FROM a LEFT JOIN (SELECT NULL::int AS k, i.m FROM (SELECT w, avg(w) AS m FROM b GROUP BY w) i UNION ALL SELECT k, w FROM b UNION ALL SELECT d.id, i.s FROM (SELECT z, count(*) AS n, sum(q) AS s FROM c GROUP BY z) i JOIN d ON i.n = d.id) u ON u.k = a.k WHERE u.k + a.x > 3'
]) AS q;
SELECT check_union('SELECT v, count(*) FROM (SELECT v FROM a JOIN d ON k = id UNION ALL SELECT w * 0.5 FROM b JOIN d ON k = id) u GROUP BY v');
SELECT check_union('SELECT sum(x) FROM (SELECT x FROM a JOIN d ON k = id UNION ALL (SELECT y FROM b ORDER BY w LIMIT 3)) u');

\set ECHO none
\o /dev/null
SET client_min_messages = warning;
DROP SCHEMA union_all CASCADE;
DROP FUNCTION IF EXISTS check_union;
\o
