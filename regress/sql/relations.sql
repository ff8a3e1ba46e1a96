-- The rows of a pipeline are read by several others: subqueries that stand in a statement more than once, CTEs
-- first of all, are computed once.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA relations;
SET search_path = relations, public;

CREATE TABLE d (id int PRIMARY KEY, yr int, m int, name text);
INSERT INTO d SELECT i, 1990 + i % 7, i % 12, 't' || i % 13 FROM generate_series(1, 300) AS i;
CREATE TABLE s (k int, c int, v numeric(7,2), t text, f float8);
INSERT INTO s SELECT nullif(i % 310, 7), nullif(i % 90, 4), nullif(i % 97, 0) / 4.0, CASE WHEN i % 13 > 0 THEN 't' || i % 11 END, i % 5 FROM generate_series(1, 9001) AS i;
CREATE TABLE w (LIKE s);
INSERT INTO w SELECT k, c, v * 2, t, f FROM s WHERE c % 3 < 2;
CREATE TABLE big AS SELECT i AS k, i % 1000 AS c, i % 7 AS v FROM generate_series(1, 150000) AS i;
CREATE TABLE none (LIKE s);
CREATE TABLE one (LIKE s);
INSERT INTO one VALUES (1, 1, 1, 't1', 1);
SELECT settle();
VACUUM (FREEZE, ANALYZE) d, s, w, big, none, one;
-- some rows are not in the cache
UPDATE s SET t = 'new ' || c % 3 WHERE k = 11;

-- the rows, whether one node has all of it, and in how many places a subquery's rows are grouped
CREATE FUNCTION check_shared(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('search_path', 'relations, public', true);
	RETURN check_here(query) || (SELECT ', ' || count(*) FILTER (WHERE line ~ '^ *Group: ') || CASE WHEN bool_or(line ~ 'Append|Nested Loop|Join$|SubPlan|Seq Scan|CTE Scan|row source|Aggregate$') THEN ' of pieces' ELSE '' END FROM plan_of(query) AS line);
END $$;

SELECT plan_of('WITH g AS (SELECT k, sum(v) AS n FROM s GROUP BY k) SELECT count(*), sum(a.n), sum(b.n) FROM g a JOIN g b ON a.k = b.k + 1');

-- read twice, three and six times: streamed, and as builds
SELECT check_shared('WITH g AS (SELECT k, sum(v) AS n, count(*) AS m FROM s GROUP BY k) SELECT a.k, a.n, b.n, b.m FROM g a JOIN g b ON a.k = b.k + 1');
SELECT check_shared('WITH g AS (SELECT k, sum(v) AS n, count(*) AS m FROM s GROUP BY k) SELECT a.k, a.n, b.n, c.m FROM g a JOIN g b ON a.k = b.k + 1 JOIN g c ON c.m = a.m AND c.k = a.k');
SELECT check_shared('WITH g AS (SELECT k, sum(v) AS n FROM s GROUP BY k) SELECT a.k, a.n, b.n, c.n, x.n, y.n, z.n FROM g a JOIN g b ON b.k = a.k + 1 LEFT JOIN g c ON c.k = a.k + 2 JOIN g x ON x.k = a.k + 3 JOIN g y ON y.k = a.k + 4 LEFT JOIN g z ON z.k = a.k + 305');
SELECT check_shared('WITH g AS (SELECT k, sum(v) AS n FROM s GROUP BY k) SELECT d.name, sum(a.n), count(b.n) FROM d JOIN g a ON a.k = d.id LEFT JOIN g b ON b.k = d.id + 100 GROUP BY d.name');
-- in several levels; semi and anti joins
SELECT check_shared('WITH g AS (SELECT k, c, sum(v) AS n FROM s GROUP BY k, c) SELECT a.k, a.c, a.n FROM g a WHERE a.n > (SELECT avg(n) FROM g b WHERE b.c = a.c)');
SELECT check_shared('WITH g AS (SELECT k, sum(v) AS n FROM s GROUP BY k) SELECT w.c, count(*) FROM w WHERE w.k IN (SELECT k FROM g WHERE n > 100) AND NOT EXISTS (SELECT FROM g WHERE g.k = w.c) GROUP BY w.c');
SELECT check_shared('SELECT sum(x), count(*) FROM (SELECT a.n + b.n AS x FROM (SELECT k, max(v) AS n FROM s GROUP BY k) a, (SELECT k, max(v) AS n FROM s GROUP BY k) b WHERE a.k = b.k) q');
-- no key, a constant one, DISTINCT, DISTINCT in aggregates, HAVING, texts, floats
SELECT check_shared('WITH g AS (SELECT sum(v) AS n, count(*) AS m FROM s) SELECT a.n, b.m, s.k FROM s JOIN g a ON s.v * 1000 > a.n JOIN g b ON s.k < b.m');
SELECT check_shared('WITH g AS (SELECT DISTINCT k, t FROM s) SELECT a.k, a.t, b.t FROM g a JOIN g b ON a.k = b.k + 1 AND a.t = b.t');
SELECT check_shared('WITH g AS (SELECT k, count(DISTINCT c) AS n, sum(v) AS v FROM s GROUP BY k) SELECT a.k, a.n, b.n, b.v FROM g a JOIN g b ON a.k = b.k + 1');
SELECT check_shared('WITH g AS (SELECT k, count(DISTINCT c) AS n, sum(v) AS v FROM s GROUP BY k) SELECT a.k, a.v, b.n FROM g a JOIN g b ON a.k = b.k + 1');
SELECT check_shared('WITH g AS (SELECT k, max(t) AS t, min(f) AS f FROM s GROUP BY k HAVING sum(v) > 300) SELECT a.k, a.t, a.f, b.t, b.f FROM g a JOIN g b ON a.k = b.k + 1');
-- columns that only one of them reads, in either order; below a subquery they are lost
SELECT check_shared('WITH g AS (SELECT k, sum(v) AS n, max(f) AS f, min(c) AS c FROM s GROUP BY k) SELECT a.k, a.n, b.f, b.c FROM g a JOIN g b ON a.k = b.k + 1');
SELECT check_shared('WITH g AS (SELECT k, max(f) AS f, sum(v) AS n FROM s GROUP BY k) SELECT d.name, a.n, b.f FROM d JOIN g a ON a.k = d.id JOIN g b ON b.k = d.id + 1');
SELECT check_shared('WITH g AS (SELECT x.k % 10 AS k, sum(n) AS n, max(f) AS f FROM (SELECT k, c, sum(v) AS n, max(f) AS f FROM s GROUP BY k, c) x GROUP BY x.k % 10) SELECT a.k, a.n, b.f FROM g a JOIN g b ON a.k = b.k + 1');
SELECT check_shared('WITH g AS (SELECT s.k, sum(v) AS n, max(d.yr) AS y FROM s LEFT JOIN d ON d.id = s.k GROUP BY s.k) SELECT a.k, a.n, b.y FROM g a JOIN g b ON a.k = b.k + 1');
-- of a join, and of UNION ALL
SELECT check_shared('WITH g AS (SELECT d.yr, s.c, sum(v) AS n FROM s JOIN d ON s.k = d.id WHERE m < 9 GROUP BY d.yr, s.c) SELECT a.yr, a.c, a.n, b.n FROM g a JOIN g b ON a.c = b.c AND a.yr = b.yr + 1');
SELECT check_shared('WITH u AS (SELECT k, v FROM s UNION ALL SELECT k, v FROM w), g AS (SELECT d.m, sum(v) AS n FROM u JOIN d ON u.k = d.id GROUP BY d.m) SELECT a.m, a.n, b.n FROM g a JOIN g b ON a.m = b.m + 1');
SELECT check_shared('WITH g AS (SELECT k, sum(v) AS n FROM s GROUP BY k) SELECT k, n FROM g UNION ALL SELECT k, n FROM g');
SELECT check_shared('WITH g AS (SELECT k, sum(v) AS n FROM s GROUP BY k) SELECT d.m, sum(n) FROM (SELECT k, n FROM g UNION ALL SELECT k + 1, n FROM g) u JOIN d ON d.id = u.k GROUP BY d.m');
-- no rows, one, and more than a chunk has
SELECT check_shared('WITH g AS (SELECT k, sum(v) AS n FROM none GROUP BY k) SELECT a.k, a.n, b.n FROM g a JOIN g b ON a.k = b.k');
SELECT check_shared('WITH g AS (SELECT k, sum(v) AS n FROM one GROUP BY k) SELECT a.k, a.n, b.n FROM g a JOIN g b ON a.k = b.k');
SELECT check_shared('WITH g AS (SELECT k, sum(v) AS n FROM big GROUP BY k) SELECT count(*), sum(a.n), sum(b.n) FROM g a JOIN g b ON a.k = b.k + 1');
-- not the same: conditions that PostgreSQL pushes down differ
SELECT check_shared('SELECT a.k, a.n, b.n FROM (SELECT k, sum(v) AS n FROM s GROUP BY k) a JOIN (SELECT k, sum(v) AS n FROM s WHERE c > 5 GROUP BY k) b ON a.k = b.k');
-- different conditions of a CTE's readers on its keys: it has the rows for all of them
SELECT plan_of('WITH g AS (SELECT d.yr, s.c, sum(v) AS n FROM s JOIN d ON s.k = d.id GROUP BY d.yr, s.c) SELECT a.c, a.n, b.n FROM g a JOIN g b ON a.c = b.c WHERE a.yr = 1992 AND b.yr = 1993 AND b.n > 5');
SELECT check_shared('WITH g AS (SELECT d.yr, s.c, sum(v) AS n FROM s JOIN d ON s.k = d.id GROUP BY d.yr, s.c) SELECT a.c, a.n, b.n FROM g a JOIN g b ON a.c = b.c WHERE a.yr = 1992 AND b.yr = 1993 AND b.n > 5');
SELECT check_shared('WITH g AS (SELECT d.yr, d.m, s.c, sum(v) AS n FROM s JOIN d ON s.k = d.id GROUP BY d.yr, d.m, s.c) SELECT x.c, x.n, y.n, z.n FROM g x JOIN g y ON x.c = y.c JOIN g z ON z.c = x.c WHERE x.yr = 1992 AND y.yr = 1992 AND z.yr = 1992 AND x.m = 2 AND y.m = 4 AND z.m IN (6, 8)');
SELECT check_shared('WITH g AS (SELECT DISTINCT c, t, k FROM s) SELECT a.k, a.c, b.c FROM g a JOIN g b ON a.k = b.k WHERE a.t = ''t1'' AND b.t IS NULL');
SELECT check_shared('WITH g AS (SELECT k, t, count(*) AS n FROM s GROUP BY k, t HAVING count(*) > 1) SELECT k, n FROM g WHERE t = ''t1'' UNION ALL SELECT k, n FROM g WHERE t = ''t2''');
-- one reader asks for all, or by another key; outer joins; an expression
SELECT check_shared('WITH g AS (SELECT k, c, sum(v) AS n FROM s GROUP BY k, c) SELECT a.k, a.n, b.n FROM g a JOIN g b ON a.k = b.k WHERE a.c = 3');
SELECT check_shared('WITH g AS (SELECT k, c, sum(v) AS n FROM s GROUP BY k, c) SELECT a.k, a.n, b.n FROM g a JOIN g b ON a.k = b.k WHERE a.c = 3 AND b.k = 23');
SELECT check_shared('WITH g AS (SELECT k, c, sum(v) AS n FROM s GROUP BY k, c) SELECT a.k, a.n, b.n FROM g a LEFT JOIN g b ON a.k = b.k AND b.c = 13 WHERE a.c = 3');
SELECT check_shared('WITH g AS (SELECT k, c, sum(v) AS n FROM s GROUP BY k, c) SELECT a.k, a.n, b.n FROM g a LEFT JOIN g b ON a.k = b.k WHERE a.c = 3 AND coalesce(b.c, 13) = 13');
SELECT check_shared('WITH g AS (SELECT k, c % 5 AS r, sum(v) AS n FROM s GROUP BY k, c % 5) SELECT a.k, a.n, b.n FROM g a JOIN g b ON a.k = b.k + 1 WHERE a.r > 3 AND b.r = 3');
SELECT check_shared('WITH g AS (SELECT k, c, sum(v) AS n FROM s GROUP BY k, c) SELECT count(*) FROM w WHERE k IN (SELECT k FROM g WHERE c = 3) AND k NOT IN (SELECT k FROM g WHERE c = 4 AND k IS NOT NULL)');
-- LIMIT ALL
SELECT check_shared('SELECT d.name, g.n FROM d JOIN (SELECT k, sum(v) AS n FROM s GROUP BY k LIMIT ALL) g ON g.k = d.id');
-- a column that a primary key among the keys determines, above and below
SELECT check_shared('WITH g AS (SELECT d.id, d.name, d.m, sum(v) AS n FROM s JOIN d ON s.k = d.id GROUP BY d.id, d.name, d.m) SELECT a.name, a.m, a.n, b.name, b.n FROM g a JOIN g b ON a.id = b.id + 1');
SELECT check_shared('SELECT w.c, sum(g.n), max(g.name) FROM w JOIN (SELECT d.id, d.name, count(DISTINCT s.c) AS n FROM s JOIN d ON s.k = d.id GROUP BY d.id) g ON w.k = g.id GROUP BY w.c');
SELECT check_shared('SELECT d.id, d.name, count(DISTINCT s.c), count(DISTINCT s.t) FROM s JOIN d ON s.k = d.id GROUP BY d.id');
SELECT check_shared('SELECT d.id, d.name, count(DISTINCT s.c) FROM s JOIN d ON s.k = d.id GROUP BY d.id, d.name');
-- each mention is planned, but the order of its joins is searched for once
SET client_min_messages = debug2;
EXPLAIN (COSTS OFF) WITH g AS (SELECT d.yr, s.c, sum(s.v) AS n FROM s JOIN d ON s.k = d.id JOIN big ON big.k = d.id GROUP BY d.yr, s.c) SELECT count(*) FROM g a JOIN g b ON a.c = b.c WHERE a.yr = 1992 AND b.yr = 1993 \g /dev/null
RESET client_min_messages;
