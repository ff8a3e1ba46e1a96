-- Nodes that feed nodes: what they have in common is planned once, at any depth;
-- what PostgreSQL computes only when it is asked for; side effects; cursors.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA nested;
SET search_path = nested, public;

CREATE TABLE u (k text, f int);
INSERT INTO u SELECT 'key' || g, g FROM generate_series(1, 1000) AS g;
CREATE TABLE s (c text, k text);
INSERT INTO s SELECT 'color' || (g % 7), 'key' || (g % 1000 + 1) FROM generate_series(1, 50000) AS g;
CREATE TABLE f AS SELECT i, i % 5000 + 1 AS k FROM generate_series(1, 200000) AS i;
CREATE TABLE a AS SELECT i AS aid, 'c' || (i % 7) AS c, 'z' || (i % 5) AS z FROM generate_series(1, 5000) AS i;
CREATE TABLE d AS SELECT i, i % 5000 + 1 AS aid, 'p' || (i % 3) AS p, 'c' || (i % 11) AS c FROM generate_series(1, 20000) AS i;
CREATE TABLE hp (k int, v int) PARTITION BY HASH (k);
SELECT format('CREATE TABLE hp%s PARTITION OF hp FOR VALUES WITH (MODULUS 8, REMAINDER %s)', i, i) FROM generate_series(0, 7) AS i \gexec
INSERT INTO hp SELECT i % 1000, i FROM generate_series(1, 20000) AS i;
CREATE TABLE few AS SELECT i AS k FROM generate_series(1, 100) AS i;
CREATE TABLE none (k int);
CREATE TABLE audit (x int);
CREATE TABLE fw (g int4, c int4);
INSERT INTO fw SELECT i % 4, i % 3 FROM generate_series(1, 1000) AS i;
CREATE SEQUENCE drawn;
SELECT settle();
VACUUM ANALYZE u, s, f, a, d, hp, few, none, fw;

CREATE FUNCTION check_nested(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('search_path', 'nested, public', true);
	RETURN check_here(query);
END $$;

-- text from below a node, whose dictionary is not a table's
SELECT check_nested('SELECT x.c, sum(u.f), count(*) FROM u, (SELECT s.k, s.c FROM s, u u2 WHERE s.k = u2.k AND u2.f < 500 OFFSET 0) x WHERE x.k = u.k GROUP BY x.c');
SELECT x.c, sum(u.f), count(*) FROM u, (SELECT s.k, s.c FROM s, u u2 WHERE s.k = u2.k AND u2.f < 500 OFFSET 0) x WHERE x.k = u.k GROUP BY x.c ORDER BY 1;
-- an aggregate of a join with text filters
SELECT check_nested('SELECT count(*), sum(x.x) FROM f, (SELECT max(a.aid) x FROM a, d WHERE d.aid = a.aid AND a.z = ''z2'' AND d.p = ''p1'' GROUP BY a.c, d.p) x WHERE f.k = x.x');
SELECT count(*), sum(x.x) FROM f, (SELECT max(a.aid) x FROM a, d WHERE d.aid = a.aid AND a.z = 'z2' AND d.p = 'p1' GROUP BY a.c, d.p) x WHERE f.k = x.x;
-- three levels, and two row sources beside each other
SELECT check_nested('SELECT z.c, count(*), sum(z.n) FROM u, (SELECT y.c, y.k, count(*) n FROM s, (SELECT x.c, u.k, min(u.f) m FROM u, (SELECT s.k, s.c FROM s OFFSET 0) x WHERE x.k = u.k GROUP BY x.c, u.k) y WHERE y.k = s.k AND y.m > 5 GROUP BY y.c, y.k) z WHERE z.k = u.k GROUP BY z.c');
SELECT check_nested('SELECT x.c, y.m, count(*) FROM s, (SELECT k, ''t'' || (f % 3) AS c FROM u OFFSET 0) x, (SELECT k, max(f % 5) m FROM u GROUP BY k) y WHERE s.k = x.k AND s.k = y.k GROUP BY x.c, y.m');
-- one CTE twice, in a row source and in another one
SELECT check_nested('WITH w AS MATERIALIZED (SELECT k, sum(f) t FROM u GROUP BY k) SELECT count(*), sum(w.t), sum(v.t) FROM s, w, w AS v WHERE s.k = w.k AND s.k = v.k AND v.t < 700');
SELECT check_nested('WITH w AS MATERIALIZED (SELECT k, sum(f) t FROM u GROUP BY k) SELECT s.c, max(w.t) FROM s, w WHERE s.k = w.k AND w.t = (SELECT max(t) FROM w) GROUP BY s.c');
-- ... or where a row source and the rest of the statement read it, and it is recursive
SELECT check_nested('WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w WHERE n < 20) SELECT sum(r.n), count(x.f) FROM (SELECT u.f FROM u, (SELECT n FROM w OFFSET 0) y, w AS z WHERE u.f = y.n AND u.f = z.n ORDER BY u.f LIMIT 1) x RIGHT JOIN w AS r ON x.f = r.n');
SELECT check_nested('WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w WHERE n < 20) SELECT r.n, (SELECT count(*) FROM u, w WHERE u.f = w.n AND u.f > r.n), (SELECT sum(u.f) FROM u, w WHERE u.f = w.n * 2) FROM w AS r');
-- partitions below a row source
SELECT check_nested('SELECT count(*), sum(s.sv) FROM f JOIN (SELECT k, sum(v) sv FROM hp GROUP BY k) s ON f.k = s.k');
SELECT check_nested('SELECT count(*), sum(hp.v) FROM f JOIN hp ON f.k = hp.k WHERE hp.k < 7');
-- outer, semi and anti joins as row sources, subqueries among them
SELECT check_nested('SELECT count(*), sum(x.n) FROM s JOIN (SELECT u.k, y.n FROM u LEFT JOIN (SELECT k, count(*) n FROM s GROUP BY k) y ON u.k = y.k) x ON s.k = x.k');
SELECT check_nested('SELECT s.c, count(*) FROM s JOIN u ON s.k = u.k WHERE EXISTS (SELECT FROM d WHERE d.i = u.f AND d.p = ''p1'') GROUP BY s.c');
SELECT check_nested('SELECT s.c, count(*) FROM s JOIN u ON s.k = u.k WHERE u.f NOT IN (SELECT aid FROM d WHERE p = ''p2'') GROUP BY s.c');
SELECT check_nested('SELECT count(*), sum(n) FROM (SELECT u.k, count(x.c) n FROM u FULL JOIN (SELECT s.k, s.c FROM s, u u2 WHERE s.k = u2.k AND u2.f < 50 OFFSET 0) x ON x.k = u.k GROUP BY u.k) z');
-- (an expression below an outer join is a placeholder, which a scan of its table computes)
SELECT check_nested('SELECT u.f, x.t FROM u LEFT JOIN (SELECT f + 990 AS f, coalesce(k, '''') || ''!'' AS t FROM u) x USING (f)');
SELECT check_nested('SELECT x.t, count(*) FROM u LEFT JOIN (SELECT s.k, coalesce(u2.f, 5) AS t FROM s JOIN u u2 ON s.k = u2.k WHERE u2.f < 20) x USING (k) GROUP BY x.t');
SELECT check_nested('SELECT c, count(*) FROM (SELECT k, c FROM s UNION ALL SELECT k, ''x'' FROM u OFFSET 0) x JOIN u USING (k) GROUP BY c');
-- once for each row of an outer query
SELECT check_nested('SELECT few.k, (SELECT count(*) FROM s, (SELECT u.k FROM u WHERE u.f < few.k * 3 OFFSET 0) x WHERE x.k = s.k) FROM few WHERE few.k < 20');
SELECT check_nested('SELECT few.k, x.n FROM few, LATERAL (SELECT count(*) n, min(y.f) m FROM s JOIN (SELECT k, f FROM u WHERE f % 20 = few.k OFFSET 0) y ON y.k = s.k) x WHERE few.k < 20');

-- planning does not double with each level
CREATE FUNCTION nest(levels int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	q text := 'SELECT k, f FROM u';
BEGIN
	FOR i IN 1 .. levels LOOP
		q := format('SELECT u.k, max(x.f) AS f FROM u, (%s) AS x WHERE x.k = u.k GROUP BY u.k', q);
	END LOOP;
	RETURN q;
END $$;
SELECT check_nested(nest(3));
SELECT count(*) FROM plan_of(nest(12)) AS line WHERE line ~ 'GpuconcAggregate';
SELECT count(*) FROM plan_of(nest(12), 'VERBOSE, COSTS OFF') AS line;

-- the fallback reads the row source's plan, at two levels
CREATE FUNCTION fallen_back(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
	got text[];
BEGIN
	SELECT fallbacks INTO before FROM gpuconc_stat_get();
	got := rows_of(query, 'prefer');
	RETURN concat_ws(', ', coalesce(difference(rows_of(query, 'forbid'), got), 'same ' || cardinality(got) || ' rows'),
		(SELECT fallbacks - before FROM gpuconc_stat_get()) || ' fallbacks');
END $$;
SELECT plan_of('SELECT count(*), sum(10000 / (x.m - 3)) FROM s, (SELECT k, max(f) m FROM u GROUP BY k) x WHERE s.k = x.k AND x.m <> 3', 'VERBOSE, COSTS OFF');
-- (an InitPlan that no row needs raises an error when it is executed ahead)
\set fails '(SELECT 1 / (count(*) - count(*)) FROM few)'
SELECT fallen_back('SELECT count(*), sum(x.m), sum(CASE WHEN x.m < 0 THEN ' || :'fails' || ' END) FROM s, (SELECT k, max(f) m FROM u GROUP BY k) x WHERE s.k = x.k');
SELECT fallen_back('SELECT count(*), sum(x.m), min(CASE WHEN x.m < 0 THEN ' || :'fails' || ' END) FROM s, (SELECT u.k, max(CASE WHEN u.f < 0 THEN ' || :'fails' || ' ELSE u.f END) m FROM u, (SELECT k FROM s OFFSET 0) y WHERE u.k = y.k GROUP BY u.k) x WHERE s.k = x.k');
SELECT fallen_back('SELECT few.k, (SELECT sum(CASE WHEN x.m < 0 THEN ' || :'fails' || ' ELSE x.m END) FROM s, (SELECT k, f m FROM u WHERE u.f > few.k * 200 OFFSET 0) x WHERE s.k = x.k) FROM few WHERE few.k < 4');
SELECT fallen_back('SELECT s.c, count(*), sum(CASE WHEN x.m < 0 THEN ' || :'fails' || ' ELSE x.m END) FROM s JOIN (SELECT u.k, y.m FROM u LEFT JOIN (SELECT k, count(*) m FROM s GROUP BY k) y ON u.k = y.k) x ON s.k = x.k GROUP BY s.c');

-- ... and again for each row of an outer query, with a CTE, InitPlans and hash tables of its own
SELECT fallen_back('WITH w AS MATERIALIZED (SELECT k, sum(f) t FROM u GROUP BY k) SELECT few.k, (SELECT sum(CASE WHEN w.t < 0 THEN ' || :'fails' || ' ELSE w.t END) FROM s, w WHERE s.k = w.k AND w.t > few.k) FROM few WHERE few.k < 4');
SELECT fallen_back('SELECT few.k, (SELECT sum(CASE WHEN x.m < 0 THEN ' || :'fails' || ' ELSE x.m END) FROM s, (SELECT k, max(f) m FROM u WHERE f > (SELECT avg(k) FROM few b) AND f > few.k * 2 GROUP BY k) x WHERE s.k = x.k) FROM few WHERE few.k < 4');
SELECT fallen_back('SELECT few.k, (SELECT sum(CASE WHEN x.m < 0 THEN ' || :'fails' || ' ELSE x.m END) FROM s, (SELECT k, f m FROM u WHERE f IN (SELECT aid FROM d WHERE i > few.k * 100) AND f > (SELECT min(b.k) FROM few b WHERE b.k > few.k) OFFSET 0) x WHERE s.k = x.k) FROM few WHERE few.k < 4');
SELECT fallen_back('SELECT few.k, x.* FROM few, LATERAL (SELECT count(*) n, sum(CASE WHEN y.f < 0 THEN ' || :'fails' || ' ELSE y.f END) FROM s JOIN (SELECT k, f FROM u WHERE f % 20 = few.k OFFSET 0) y ON y.k = s.k) x WHERE few.k < 5');
-- an inner side that a merge join marks
CREATE TABLE marked AS SELECT i % 1000 AS k, 'a' || i AS c, 'z' || i AS z FROM generate_series(1, 20000) AS i;
CREATE INDEX ON marked (k);
CREATE INDEX ON f (k);
SELECT settle();
VACUUM ANALYZE marked, f;
SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_sort = off; SET enable_material = off;
SELECT fallen_back('SELECT count(*), sum(CASE WHEN m.k < 0 THEN ' || :'fails' || ' END) FROM f JOIN marked m ON f.k = m.k AND m.c < m.z');
RESET enable_hashjoin; RESET enable_nestloop; RESET enable_sort; RESET enable_material;

-- a fallback that cannot keep its Gather, with a parameter in the statement
CREATE TABLE big AS SELECT i, i % 500 + 1 AS k, repeat('x', 40) AS t FROM generate_series(1, 50000) AS i;
CREATE TABLE dim AS SELECT i % 500 + 1 AS k, i % 10 AS g FROM generate_series(1, 5000) AS i;
SELECT settle();
VACUUM ANALYZE big, dim;
SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SELECT check_nested('SELECT (SELECT max(k) FROM few), count(*), sum(big.i + x.c) FROM big, (SELECT k, count(*) c FROM dim GROUP BY k) x WHERE big.k = x.k');
SELECT fallen_back('SELECT (SELECT max(k) FROM few), count(*), sum(big.i + x.c), sum(CASE WHEN x.c < 0 THEN ' || :'fails' || ' END) FROM big, (SELECT k, count(*) c FROM dim GROUP BY k) x WHERE big.k = x.k');
SELECT fallen_back('SELECT (SELECT max(k) FROM few), count(*), sum(big.i + x.g), sum(CASE WHEN x.g < 0 THEN ' || :'fails' || ' END) FROM big, (SELECT * FROM (SELECT k, g FROM dim UNION ALL SELECT k, g + 1 FROM dim OFFSET 0) y) x WHERE big.k = x.k');
RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;

-- a subquery that no row asks for raises no error, and is computed when one does
SELECT check_nested('SELECT sum(CASE WHEN f < 0 THEN (SELECT 1 / (count(*) - count(*)) FROM few) ELSE 1 END) FROM u');
SELECT sum(CASE WHEN f < 0 THEN (SELECT 1 / (count(*) - count(*)) FROM few) ELSE 1 END) FROM u;
SELECT count(*) FROM u WHERE f < 0 AND f > (SELECT k FROM few);
SELECT count(*) FROM u WHERE f > (SELECT k FROM few);
SELECT count(*) FROM none, u, (SELECT 10 / (k - 5) AS k FROM few OFFSET 0) AS x WHERE none.k = x.k AND u.f = x.k;
SELECT count(*) FROM u, (SELECT 10 / (k - 5) AS k FROM few OFFSET 0) AS x WHERE u.f = x.k;
SELECT check_nested('SELECT count(*), sum(f) FROM u WHERE f > (SELECT avg(k) FROM few) AND f < (SELECT max(k) * 5 FROM few)');
SELECT check_nested('SELECT count(*), sum(f) FROM u WHERE f IN (SELECT k FROM few) OR f > (SELECT sum(k) FROM few WHERE k < (SELECT avg(k) FROM few))');
SELECT check_nested('SELECT count(*) FROM u WHERE f = ANY (ARRAY(SELECT k FROM few WHERE k % 2 = 0)) AND EXISTS (SELECT FROM few)');
-- an output of an InitPlan is computed once, for the device and for others
CREATE FUNCTION counted() RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
	RAISE NOTICE 'counted';
	RETURN 700;
END $$;
SET client_min_messages = notice;
SET gpuconc.debug_offload = prefer;
SELECT count(*) FILTER (WHERE f > m), max(m) FROM u, (SELECT (SELECT counted() FROM few LIMIT 1) AS m) AS x;
SELECT (SELECT counted() FROM few LIMIT 1) - count(*) FROM u WHERE f > (SELECT counted() FROM few LIMIT 1);
SET gpuconc.debug_offload = forbid;
SELECT count(*) FILTER (WHERE f > m), max(m) FROM u, (SELECT (SELECT counted() FROM few LIMIT 1) AS m) AS x;
SELECT (SELECT counted() FROM few LIMIT 1) - count(*) FROM u WHERE f > (SELECT counted() FROM few LIMIT 1);
SET client_min_messages = warning;
SET gpuconc.debug_offload = prefer;

-- side effects
SELECT refusal('SELECT count(*) FROM u WHERE f < 0 AND f > (SELECT nextval(''drawn''))');
SELECT refusal('SELECT count(*) FROM u, (SELECT nextval(''drawn'') AS n OFFSET 0) x WHERE u.f = x.n');
SELECT refusal('WITH w AS MATERIALIZED (SELECT nextval(''drawn'') AS n) SELECT count(*) FROM u, (SELECT n FROM w OFFSET 0) x WHERE u.f = x.n');
SELECT refusal('WITH v AS MATERIALIZED (SELECT nextval(''drawn'') AS n), w AS MATERIALIZED (SELECT n FROM v) SELECT count(*) FROM u, (SELECT n FROM w OFFSET 0) x WHERE u.f = x.n');
SELECT refusal('WITH RECURSIVE v(n) AS (SELECT nextval(''drawn'') UNION ALL SELECT n + 1 FROM v WHERE n < 5), w AS MATERIALIZED (SELECT n FROM v) SELECT count(*) FROM u, w AS x WHERE u.f = x.n');
SELECT refusal('WITH RECURSIVE v(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM v WHERE n < 5), w AS MATERIALIZED (SELECT n FROM v) SELECT count(*) FROM u, w AS x, v AS y WHERE u.f = x.n AND u.f = y.n');
SELECT refusal('WITH w AS (INSERT INTO audit SELECT 1 RETURNING x) SELECT count(*) FROM u, w WHERE u.f = w.x');
SELECT refusal('SELECT count(*) FROM u JOIN (SELECT * FROM few FOR SHARE) b ON u.f = b.k');
SELECT refusal('SELECT count(*) FROM u JOIN (SELECT b.k FROM (SELECT k FROM few FOR UPDATE) b OFFSET 0) b ON u.f = b.k');
SELECT count(*) FROM u WHERE f < 0 AND f > (SELECT nextval('drawn'));
-- ... nor by an InitPlan of a function, of VALUES, of an outer join's condition
WITH w AS (INSERT INTO audit SELECT k FROM few WHERE k < 5 RETURNING x) SELECT count(*), sum(u.f) FROM u JOIN generate_series(1, (SELECT max(x) FROM w)) AS g ON u.f = g;
WITH w AS (INSERT INTO audit SELECT k FROM few WHERE k < 5 RETURNING x) SELECT count(*), sum(u.f) FROM u JOIN (VALUES ((SELECT max(x) FROM w)), (2)) AS v(n) ON u.f = v.n;
WITH w AS (INSERT INTO audit SELECT k FROM few WHERE k < 5 RETURNING x) SELECT count(*), sum(u.f) FROM u JOIN (few LEFT JOIN none ON few.k = none.k + (SELECT max(x) FROM w)) ON u.f = few.k;
SELECT count(*) FROM audit;
TRUNCATE audit;
SELECT refusal('SELECT count(*) FROM u JOIN generate_series(1, (SELECT nextval(''drawn'')::int)) AS g ON u.f = g');
SELECT refusal('SELECT count(*) FROM u WHERE f > (SELECT max(k) FROM (SELECT k FROM few FOR UPDATE OFFSET 0) AS b)');
-- a CTE that is read twice has the same rows for both
WITH w AS MATERIALIZED (SELECT f FROM u TABLESAMPLE BERNOULLI (50)) SELECT (SELECT count(*) FROM u JOIN w ON u.f = w.f) = (SELECT count(*) FROM w) AS same;
WITH w AS MATERIALIZED (SELECT f, row_number() OVER () AS n FROM u) SELECT (SELECT sum(u.f * w.n) FROM u JOIN w ON u.f = w.f) = (SELECT sum(f * n) FROM w) AS same;
SELECT check_nested('WITH w AS MATERIALIZED (SELECT f, rank() OVER (ORDER BY k) r, sum(f) OVER (PARTITION BY left(k, 4)) t FROM u) SELECT a.r - b.r, sum(a.t), count(*) FROM s JOIN u USING (k) JOIN w a ON a.f = u.f JOIN w b ON a.f = b.f GROUP BY 1');
WITH RECURSIVE r(n, c) AS (SELECT 1, 0 UNION ALL SELECT u.f, r.c + 1 FROM u JOIN (SELECT * FROM r OFFSET 0) r ON u.f = r.n * 2) SELECT count(*), max(n) FROM r;
WITH w AS (INSERT INTO audit SELECT k FROM few WHERE k < 5 RETURNING x) SELECT count(*), sum(f) FROM u, w WHERE u.f = w.x;
SELECT count(*) FROM audit;
SELECT is_called FROM drawn;
SELECT count(*), sum(u.f) FROM u, (SELECT nextval('drawn') AS n FROM few OFFSET 0) x WHERE u.f = x.n;
SELECT last_value FROM drawn;
CREATE FUNCTION noted(x int) RETURNS int LANGUAGE sql AS 'INSERT INTO nested.audit VALUES (x) RETURNING x';
SELECT count(*), sum(100 / (u.f - 3)) FROM u, (SELECT noted(k) AS n FROM few WHERE k < 5 OFFSET 0) x WHERE u.f = x.n AND u.f <> 3;
SELECT count(*) FROM audit;

-- groups: keys are the query's group keys
SELECT g % 2 AS x, count(*), sum(g % 2) OVER (ORDER BY g % 2) AS s FROM fw GROUP BY g % 2 ORDER BY 1;
SELECT check_nested('SELECT g % 2 AS x, count(*), sum(g % 2) OVER (ORDER BY g % 2) AS s FROM fw GROUP BY g % 2');
SELECT check_nested('SELECT g + c AS x, sum(count(*)) OVER (PARTITION BY (g + c) % 2 ORDER BY g + c), rank() OVER (ORDER BY sum(g) + (g + c)) FROM fw GROUP BY g + c');
SELECT check_nested('SELECT g + c, c, avg(g + c) OVER (ORDER BY c, g + c) FROM fw GROUP BY g + c, c HAVING max(g) > (g + c) - c');
-- (what simplifies a grouped condition may use its columns by themselves)
SELECT NOT (g < c) AS ge, count(*) FROM fw GROUP BY g < c ORDER BY 1;
SELECT check_nested('SELECT NOT (g IS NULL), count(*) FROM fw GROUP BY g IS NULL');
SELECT check_nested('SELECT count(*) > 1 AND (a AND b), count(*) FROM (SELECT g > 1 AS a, c > 1 AS b FROM fw) x GROUP BY a AND b');
SELECT check_nested('SELECT lead(left(k, 4)) OVER (ORDER BY left(k, 4)) || left(k, 4), count(*) FROM u GROUP BY left(k, 4)');
CREATE TABLE keyed (id int PRIMARY KEY, g int, t text);
INSERT INTO keyed SELECT i, i % 10, 't' || i % 3 FROM generate_series(1, 500) AS i;
SELECT settle();
VACUUM ANALYZE keyed;
SELECT check_nested('SELECT id, t, keyed.g + id, count(*), row_number() OVER (PARTITION BY keyed.g ORDER BY id) FROM keyed JOIN fw ON keyed.g = fw.g GROUP BY keyed.id');
SELECT check_nested('SELECT keyed.g * 2, t, count(*), sum(keyed.g * 2) OVER (ORDER BY t, keyed.g * 2) FROM keyed GROUP BY keyed.g * 2, t');
SELECT check_nested('SELECT g, grouping(g), count(*) FROM fw GROUP BY g');
SELECT check_nested('SELECT g, count(*) FROM fw GROUP BY g HAVING grouping(g) = 0');
SELECT g, grouping(g), count(*) FROM fw GROUP BY ROLLUP (g) HAVING grouping(g) + grouping(g) < 2 ORDER BY 1;

-- equalities with one constant, where one side does not deliver the column
SELECT count(*), sum(fw.c) FROM fw, generate_series(1, 5) AS b(k) WHERE fw.g = 3 AND b.k = 3;
SELECT refusal('SELECT count(*), sum(fw.c) FROM fw, generate_series(1, 5) AS b(k) WHERE fw.g = 3 AND b.k = 3');
SELECT check_nested('SELECT count(*), sum(fw.c), max(b.k) FROM fw, generate_series(1, 5) AS b(k) WHERE fw.g = 3 AND b.k = 3');
SELECT check_nested('SELECT count(*), sum(fw.c) FROM fw, keyed WHERE fw.g = 3 AND keyed.g = 3');
SELECT check_nested('SELECT count(*), sum(fw.c), sum(b.n) FROM fw, (SELECT k, count(*) n FROM few GROUP BY k) b WHERE fw.g = 3 AND b.k = 3');
SELECT check_nested('SELECT count(*), sum(b.w) FROM fw, (VALUES (3, 1), (3, 2), (4, 4)) AS b(v, w) WHERE fw.g = 3 AND b.v = 3');

-- cursors
SET gpuconc.debug_offload = prefer;
BEGIN;
DECLARE c CURSOR FOR SELECT g, count(*) FROM fw GROUP BY g;
FETCH ALL FROM c;
FETCH BACKWARD 2 FROM c;
FETCH RELATIVE 0 FROM c;
FETCH BACKWARD ALL FROM c;
FETCH 1 FROM c;
MOVE LAST FROM c;
FETCH PRIOR FROM c;
COMMIT;
-- cursors where the fallback answers
BEGIN;
DECLARE c CURSOR FOR SELECT g, count(*), sum(CASE WHEN g < 0 THEN :fails ELSE c END) FROM fw GROUP BY g;
FETCH 2 FROM c;
FETCH BACKWARD ALL FROM c;
FETCH ALL FROM c;
FETCH BACKWARD 2 FROM c;
FETCH FIRST FROM c;
COMMIT;
BEGIN;
DECLARE c NO SCROLL CURSOR FOR SELECT g, count(*) FROM fw GROUP BY g;
FETCH 1 FROM c;
FETCH BACKWARD 1 FROM c;
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM fw WHERE g = 1;
FETCH 1 FROM c;
UPDATE fw SET c = -1 WHERE CURRENT OF c;
FETCH 1 FROM c;
DELETE FROM fw WHERE CURRENT OF c;
SELECT count(*), count(*) FILTER (WHERE c = -1) FROM fw;
ROLLBACK;

-- how values are stored is their table's affair
CREATE TABLE wide (i int, t text);
INSERT INTO wide SELECT i, repeat('x', 10 + i % 3) FROM generate_series(1, 100) AS i;
SELECT settle();
VACUUM ANALYZE wide;
SELECT refusal('SELECT pg_column_size(t), count(*) FROM wide GROUP BY 1');
SELECT refusal('SELECT max(pg_column_size(x.t)) FROM (SELECT t FROM wide WHERE i > 5 OFFSET 0) x');
SELECT pg_column_size(x.t), count(*) FROM (SELECT t FROM wide WHERE i > 5 OFFSET 0) x GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM wide WHERE pg_column_compression(t) IS NULL;
CREATE FUNCTION stored(t text) RETURNS int LANGUAGE sql STABLE AS 'SELECT pg_column_size(t)';
SELECT max(stored(x.t)), min(stored(x.t)) FROM (SELECT t FROM wide WHERE i > 5 OFFSET 0) x;

-- priced like the sequential scan that it is
RESET gpuconc.debug_offload;
SELECT settle();
CREATE INDEX ON f (i);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*), sum(k) FROM f WHERE i > 0;
RESET enable_seqscan;
EXPLAIN (COSTS OFF) SELECT count(*), sum(k) FROM f WHERE i > 0;

RESET search_path;
DROP SCHEMA nested CASCADE;
