-- Queries rewritten before planning: correlated scalar subqueries as joins, NOT IN as
-- NOT EXISTS, CTEs that are read twice in the place of each reference.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA rewrite;
SET search_path = rewrite, public;

-- keys with NULLs, duplicates, and values that only one side has
CREATE TABLE o (id int PRIMARY KEY, k int, kt text, kb char(4), kn numeric, kf float8, k8 bigint, x numeric(8,2), n int NOT NULL, m int) WITH (autovacuum_enabled = off);
INSERT INTO o SELECT i, CASE WHEN i % 7 > 0 THEN i % 23 END, CASE WHEN i % 5 > 0 THEN 't' || i % 11 END, 'c' || i % 9,
	(ARRAY[1.0, 1.00, 2, NULL, 'NaN'])[i % 5 + 1], (ARRAY[0, '-0', 'NaN', NULL, 1.5])[i % 5 + 1], i % 23, i % 37 / 4.0, i % 19, nullif(i % 19, 3)
FROM generate_series(1, 200) i;
CREATE TABLE i (id int PRIMARY KEY, k int, kt text, kb char(4), kn numeric, kf float8, v numeric(8,2), q int, nn int NOT NULL, d date, f float8, un numeric) WITH (autovacuum_enabled = off);
INSERT INTO i SELECT i, CASE WHEN i % 13 > 0 THEN i % 17 END, CASE WHEN i % 6 > 0 THEN 't' || i % 14 END, 'c' || i % 6,
	(ARRAY[1.000, 1, 3, NULL, 'NaN'])[i % 5 + 1], (ARRAY['-0', 0, 'NaN', NULL, 2.5])[i % 5 + 1],
	CASE WHEN i % 11 > 0 THEN i % 41 / 5.0 END, CASE WHEN i % 29 > 0 THEN i % 31 - 15 END, i % 12, date '2000-01-01' + i % 400, i / 8.0, i / 3.0
FROM generate_series(1, 500) i;
CREATE TABLE j (id int PRIMARY KEY, k int NOT NULL, w int, name text) WITH (autovacuum_enabled = off);
INSERT INTO j SELECT i, i % 10, i % 4, 'name ' || i % 8 FROM generate_series(1, 60) i;
CREATE TABLE none (k int, v numeric(8,2));
SELECT settle();
VACUUM ANALYZE o, i, j, none;

-- The plan without rewriting, and the plan of the rewritten query: are they the same?
-- The rows must be.  PostgreSQL computes both.
CREATE FUNCTION explained(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		result := result || line || E'\n';
	END LOOP;
	RETURN result;
END $$;
CREATE FUNCTION outcome(query text) RETURNS text[] LANGUAGE plpgsql AS $$
BEGIN
	RETURN rows_of(query, 'allow');
EXCEPTION WHEN OTHERS THEN
	RETURN ARRAY['ERROR: ' || SQLERRM];
END $$;
CREATE FUNCTION rewritten(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before text;
	after text;
	expected text[];
	got text[];
	diff text;
BEGIN
	PERFORM set_config('gpuconc.offload_cost', '1e9', true), set_config('gpuconc.debug_rewrite', 'never', true);
	before := explained(query);
	expected := outcome(query);
	PERFORM set_config('gpuconc.debug_rewrite', 'always', true);
	after := explained(query);
	got := outcome(query);
	PERFORM set_config('gpuconc.offload_cost', '0', true), set_config('gpuconc.debug_rewrite', 'auto', true);
	diff := difference(expected, got);
	RETURN concat_ws(', ', CASE WHEN before = after THEN 'as it was' ELSE 'rewritten' END,
		CASE WHEN before <> after AND after ~ 'SubPlan' THEN 'SubPlan left' END, CASE WHEN before <> after AND after ~ 'CTE' THEN 'CTE left' END,
		CASE WHEN diff IS NOT NULL THEN 'DIFFERENT: ' || diff WHEN expected[1] ~ '^ERROR' THEN expected[1] ELSE cardinality(got) || ' rows' END);
END $$;

-- scalar subqueries: each aggregate, either side, arithmetic, several keys
SELECT q, rewritten('SELECT id FROM o WHERE ' || q) FROM unnest(ARRAY[
	'x < (SELECT avg(v) FROM i WHERE i.k = o.k)', 'x > (SELECT min(v) FROM i WHERE o.k = i.k)', '(SELECT max(v) FROM i WHERE i.k = o.k) >= x + 5',
	'x < (SELECT 0.2 * sum(v) FROM i WHERE i.k = o.k AND q > 0)', 'x < 0.2 * (SELECT sum(v) FROM i WHERE i.k = o.k AND q > 0) - 1', 'n = (SELECT sum(q) FROM i WHERE i.k = o.k)',
	'x < (SELECT avg(v) / 2 + max(v) FROM i WHERE i.k = o.k)', 'x < (SELECT avg(v) FILTER (WHERE q < 5) FROM i WHERE i.k = o.k)', 'x < (SELECT sum(DISTINCT v) / 20 FROM i WHERE i.k = o.k)',
	'x < (SELECT avg(v) FROM i WHERE i.k = o.k AND i.kt = o.kt)', 'x < (SELECT avg(v) FROM i WHERE i.k = o.k AND o.n = i.k)', 'x < (SELECT avg(v) FROM i WHERE i.k = o.k AND i.nn = o.k AND i.kb = o.kb)',
	'kt = (SELECT max(kt) FROM i WHERE i.k = o.k)', 'x < (SELECT avg(v) FROM i WHERE i.kt = o.kt AND i.kt LIKE ''t1%'')', 'x < (SELECT avg(v) FROM i WHERE i.kb = o.kb)',
	'x < (SELECT avg(v) FROM i WHERE i.kn = o.kn)', 'x < (SELECT avg(v) FROM i WHERE i.kf = o.kf)', 'x < (SELECT avg(v) FROM i WHERE i.k = o.k8)',
	'x < (SELECT avg(v) FROM i WHERE i.k = o.k AND d >= date ''2000-03-01'' AND d < date ''2000-03-01'' + interval ''3 months'')', 'x < (SELECT avg(v) FROM none i WHERE i.k = o.k)', 'NOT x < (SELECT avg(v) FROM i WHERE i.k = o.k)',
	'x <> (SELECT avg(v) FROM i WHERE i.k = o.k) AND x > 3 AND n IN (1, 2, 3, 4)', 'x BETWEEN (SELECT avg(v) FROM i WHERE i.k = o.k) AND (SELECT max(v) FROM i WHERE i.k = o.k)',
	'x BETWEEN 0.5 * (SELECT avg(v) FROM i WHERE i.k = o.k) AND 1.5 * (SELECT avg(v) FROM i WHERE i.k = o.k)', 'x < (SELECT avg(v) FROM i WHERE i.k = o.k AND EXISTS (SELECT FROM j WHERE j.id = i.q))',
	'x < (SELECT avg(v) FROM i JOIN j ON i.q = j.id AND i.k = o.k WHERE j.w > 0)', 'x < (SELECT avg(v) FROM i LEFT JOIN j ON i.q = j.id WHERE j.k = o.k)', 'x < (SELECT avg(v) FROM (SELECT k, v FROM i WHERE q > 0 UNION ALL SELECT k, v FROM none) AS y WHERE y.k = o.k)',
	'x < (SELECT avg(v) FROM (SELECT k, max(v) AS v FROM i GROUP BY k, kt) AS y WHERE y.k = o.k)', 'x < (WITH y AS (SELECT * FROM i WHERE q > 0) SELECT avg(v) FROM y WHERE y.k = o.k)'
]) AS q;
-- where no group is a row: count, COALESCE, IS NULL, OR, CASE, the target list
SELECT q, rewritten('SELECT id FROM o WHERE ' || q) FROM unnest(ARRAY[
	'n > (SELECT count(*) FROM i WHERE i.k = o.k AND q > 0)', '0 = (SELECT count(q) FROM i WHERE i.k = o.k)', '(SELECT count(*) FROM none i WHERE i.k = o.k) = 0', 'coalesce((SELECT max(q) FROM i WHERE i.k = o.k), -1) < n',
	'(SELECT max(q) FROM i WHERE i.k = o.k AND q < 0) IS NULL', '(SELECT max(q) FROM i WHERE i.k = o.k AND q < 0) IS NOT NULL', 'x < (SELECT coalesce(sum(v), 5) FROM i WHERE i.k = o.k AND q > 0)', 'n = (SELECT CASE WHEN count(*) = 0 THEN 4 ELSE max(q) END FROM i WHERE i.k = o.k)',
	'n = 3 OR x < (SELECT avg(v) FROM i WHERE i.k = o.k)', 'CASE WHEN n < 9 THEN x < (SELECT avg(v) FROM i WHERE i.k = o.k) ELSE n < 12 END', '(x < (SELECT avg(v) FROM i WHERE i.k = o.k)) IS NOT TRUE', 'n > (SELECT count(*) + 0 FROM i WHERE i.k = o.k)',
	'(SELECT max(q) FROM i WHERE i.k = o.k) IS NULL AND x < (SELECT avg(v) FROM i WHERE i.kt = o.kt) AND n > 0.1 * (SELECT count(*) FROM i WHERE i.kb = o.kb)'
]) AS q;
SELECT q, rewritten(q) FROM unnest(ARRAY[
	'SELECT id, (SELECT count(*) FROM i WHERE i.k = o.k), (SELECT max(v) FROM i WHERE i.k = o.k) FROM o', 'SELECT id FROM o ORDER BY (SELECT sum(v) FROM i WHERE i.k = o.k) NULLS FIRST, id', 'SELECT DISTINCT (SELECT count(*) FROM i WHERE i.k = o.k AND q > 3) FROM o',
	'SELECT k, (SELECT count(*) FROM i WHERE i.k = o.k) FROM o GROUP BY k', 'SELECT sum((SELECT count(*) FROM i WHERE i.k = o.k)) FROM o', 'SELECT count(*) OVER (), (SELECT count(*) FROM i WHERE i.k = o.k) FROM o', 'SELECT generate_series(1, (SELECT count(*) FROM i WHERE i.k = o.k)) FROM o'
]) AS q;
-- conditions that all sides of an OR have
SELECT q, rewritten('SELECT id FROM o WHERE ' || q) FROM unnest(ARRAY[
	'n > (SELECT count(*) FROM i WHERE (i.k = o.k AND q > 3) OR (q < -9 AND i.k = o.k AND i.kt = ''t1''))', 'x < (SELECT avg(v) FROM i WHERE (i.k = o.k AND q > 3 AND i.kt = o.kt) OR (i.k = o.k AND i.kt = o.kt AND q < -3))', 'x < (SELECT avg(v) FROM i WHERE (i.k = o.k AND q > 3) OR i.k = o.k)', 'n < 4 OR EXISTS (SELECT FROM i WHERE (i.k = o.k AND q > 13) OR (q < -13 AND i.k = o.k))',
	'x < (SELECT avg(v) FROM i WHERE (i.k = o.k AND q > 3) OR (i.k = o.n AND q > 3))'
]) AS q;
-- beside a subquery that may have two rows: as long as it is of no column that the join is by
SELECT q, rewritten('SELECT id FROM o WHERE ' || q) FROM unnest(ARRAY[
	'n = (SELECT DISTINCT k FROM j WHERE id < 2) AND x < (SELECT avg(v) FROM i WHERE i.k = o.k)', 'x < (SELECT avg(v) FROM i WHERE i.k = o.k) AND n > (SELECT k FROM j)', 'id < 0 AND n = (SELECT k FROM j) AND x < (SELECT avg(v) FROM i WHERE i.k = o.k)', 'id < 0 AND k = (SELECT k FROM j) AND x < (SELECT avg(v) FROM i WHERE i.k = o.k)',
	'id < 0 AND n = (SELECT k FROM j) AND n = k8 AND x < (SELECT avg(v) FROM i WHERE i.k = o.k8)', 'n = (SELECT w FROM j WHERE j.id = 3 + o.n * 0) AND x < (SELECT avg(v) FROM i WHERE i.k = o.k)', 'id < 0 AND n = (SELECT w FROM j WHERE j.k = o.k) AND x < (SELECT avg(v) FROM i WHERE i.k = o.k)'
]) AS q;
SELECT q, rewritten(q) FROM unnest(ARRAY[
	'SELECT id, (SELECT count(*) FROM i WHERE i.k = o.k) FROM o WHERE id < 0 AND k = (SELECT k FROM j)', 'SELECT o.id FROM o JOIN j USING (k) WHERE o.id < 0 AND o.k = (SELECT k FROM j) AND x < (SELECT avg(v) FROM i WHERE i.k = o.n)', 'SELECT o.id FROM o, j WHERE o.n = j.id AND j.w = (SELECT DISTINCT w FROM j WHERE w = 2) AND o.x < (SELECT avg(v) FROM i WHERE i.k = o.k)',
	'SELECT id FROM o WHERE EXISTS (SELECT FROM j WHERE j.k = o.k AND o.n > (SELECT k FROM j WHERE id < 2) AND j.w < (SELECT avg(v) FROM i WHERE i.k = j.k))'
]) AS q;
-- ... nor where columns may be two names of one, or an outer join may become an inner one
SELECT q, rewritten(q) FROM unnest(ARRAY[
	'SELECT z.id FROM (SELECT id, x, k AS a, k AS b FROM o) z WHERE z.id < 0 AND z.a = (SELECT k FROM j) AND z.x < (SELECT avg(v) FROM i WHERE i.k = z.b)',
	'SELECT o.id FROM o LEFT JOIN j ON o.k = j.k WHERE o.id < 0 AND o.k = (SELECT k FROM j) AND o.x < (SELECT avg(v) FROM i WHERE i.k = j.k)'
]) AS q;
-- a CTE whose keys fail for rows that it does not group: a condition on them stays above it
CREATE TABLE divisors AS SELECT id, id % 6 AS x FROM generate_series(1, 300) id;
CREATE TABLE dividends AS SELECT id FROM divisors WHERE x > 0;
SELECT settle();
VACUUM ANALYZE divisors, dividends;
SELECT q, rewritten(q) FROM unnest(ARRAY[
	'WITH c AS (SELECT 10 / x AS k, count(*) AS n FROM divisors JOIN dividends USING (id) GROUP BY 1) SELECT a.n, b.n FROM c a JOIN c b ON a.n = b.n WHERE a.k = 2 AND b.k = 5',
	'WITH c AS (SELECT 10 / x AS k FROM divisors JOIN dividends USING (id) UNION SELECT id FROM dividends) SELECT count(*) FROM c a, c b WHERE a.k = 2 AND b.k = 5',
	'WITH b AS (SELECT 10 / x AS k, id FROM divisors JOIN dividends USING (id)), c AS (SELECT k, count(*) AS n FROM b GROUP BY k) SELECT a.n, b.n FROM c a JOIN c b ON a.n = b.n WHERE a.k = 2 AND b.k = 5',
	'WITH c AS (SELECT x AS k, 10 / x AS o, count(*) AS n FROM divisors JOIN dividends USING (id) GROUP BY 1, 2) SELECT a.n, b.o FROM c a JOIN c b ON a.n = b.n WHERE a.k = 2 AND b.k = 5'
]) AS q;
-- a row by its key
CREATE TABLE l (a int, b int, c text, d int UNIQUE DEFERRABLE, e int, f int, UNIQUE (a, b));
INSERT INTO l SELECT i % 20, i / 20, 'c' || i % 5, i, i, i FROM generate_series(0, 99) i;
INSERT INTO l VALUES (NULL, 1, 'n', NULL, NULL, NULL), (NULL, 1, 'n', NULL, NULL, NULL), (3, NULL, 'n', NULL, NULL, NULL);
CREATE UNIQUE INDEX ON l (e) WHERE f > 5;
CREATE UNIQUE INDEX ON l ((f + 1));
SELECT q, rewritten('SELECT id FROM o WHERE ' || q) FROM unnest(ARRAY[
	'x < (SELECT v FROM i WHERE i.id = o.k)', 'n > (SELECT w FROM j WHERE j.id = o.n AND name LIKE ''name %'')', '(SELECT name FROM j WHERE j.id = o.n) IS NULL', 'n = 3 OR kt = (SELECT c FROM l WHERE a = o.k AND b = o.n)', 'coalesce((SELECT c FROM l WHERE a = o.k AND b = 2), ''c3'') = ''c3''', 'n > (SELECT coalesce(w, 5) FROM j WHERE j.id = o.n)', 'k8 > (SELECT w FROM j WHERE j.id = o.k8)',
	'kt = (SELECT c FROM l WHERE a = o.k) AND k > 100', 'kt > (SELECT c FROM l WHERE d = o.n)', 'kt > (SELECT c FROM l WHERE e = o.n)', 'kt > (SELECT c FROM l WHERE f + 1 = o.n)', 'kt = (SELECT c FROM l WHERE a = o.k AND b > 2) AND k > 100', 'n < (SELECT 1 / w FROM j WHERE j.id = o.n) AND k > 100', 'n > (SELECT w FROM j, none WHERE j.id = o.n)', 'n > (SELECT w FROM j WHERE j.id = o.n LIMIT 1)', 'n > (SELECT o.n - w FROM j WHERE j.id = o.n)'
]) AS q;
SELECT rewritten('SELECT id, (SELECT name FROM j WHERE j.id = o.n), (SELECT w * 1.5 FROM j WHERE j.id = o.k) FROM o'), rewritten('SELECT id, (SELECT c FROM l WHERE a = o.k) FROM o'), rewritten('SELECT id, (SELECT ''here'' FROM j WHERE j.id = o.k) FROM o');
-- EXISTS and IN where they are no conjuncts
SELECT q, rewritten('SELECT id FROM o WHERE ' || q) FROM unnest(ARRAY[
	'n < 4 OR EXISTS (SELECT FROM i WHERE i.k = o.k AND q > 13)', 'EXISTS (SELECT FROM i WHERE i.k = o.k AND q > 13) OR EXISTS (SELECT o.n FROM j WHERE j.k = o.k AND j.id = o.n)', 'NOT (n < 9 AND EXISTS (SELECT FROM i WHERE i.k = o.k AND q > 13))', 'CASE WHEN EXISTS (SELECT FROM i WHERE i.k = o.k AND q > 13) THEN n < 4 ELSE n > 15 END', 'EXISTS (SELECT FROM i WHERE i.k = o.k AND q > 13) = (n > 5)',
	'n < 4 OR k IN (SELECT k FROM i WHERE q > 13)', 'n < 4 OR k IN (SELECT k FROM i)', 'n < 4 OR k IN (SELECT DISTINCT k FROM i WHERE q > 13 AND i.kt = o.kt)', 'n < 4 OR k IN (SELECT max(k) FROM i GROUP BY kt, kb)', 'n < 4 OR (k, kt) IN (SELECT k, kt FROM i)', 'n < 4 OR n > 9 AND (k IN (SELECT k FROM i WHERE q > 13) OR kt IN (SELECT kt FROM i WHERE q > 12))', 'n < 4 OR k8 IN (SELECT k FROM i WHERE q > 13)'
]) AS q;
SELECT rewritten('SELECT id, EXISTS (SELECT FROM i WHERE i.k = o.k AND q > 13) FROM o'), rewritten('SELECT id, CASE WHEN EXISTS (SELECT FROM i WHERE i.k = o.k AND q > 13) THEN 1 ELSE 2 END FROM o');
-- ... left alone: joins already, NULL is not false, uncorrelated, and what is above
SELECT q, rewritten('SELECT id FROM o WHERE ' || q) FROM unnest(ARRAY[
	'EXISTS (SELECT FROM i WHERE i.k = o.k AND q > 13)', 'NOT EXISTS (SELECT FROM i WHERE i.k = o.k AND q > 13)', 'k IN (SELECT k FROM i WHERE q > 13)', '(k IN (SELECT k FROM i)) IS NULL', 'NOT (n < 9 AND k IN (SELECT k FROM i))', 'n < 4 OR k NOT IN (SELECT k FROM i)', 'n < 4 OR EXISTS (SELECT FROM i WHERE q > 100)', 'n < 4 OR EXISTS (SELECT FROM i WHERE i.k = o.k AND q > o.n)', 'n < 4 OR EXISTS (SELECT count(*) FROM i WHERE i.k = o.k)', 'n < 4 OR EXISTS (SELECT FROM i WHERE i.k = o.k OFFSET 20)', '(n < 4 OR EXISTS (SELECT FROM i WHERE i.k = o.k AND 1 / q > 0)) AND k > 100'
]) AS q;
-- the outer query: joins, grouping, and what stands below or above it
CREATE VIEW seen AS SELECT id, n FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k);
SELECT q, rewritten(q) FROM unnest(ARRAY[
	'SELECT sum(i.v) / 7.0 FROM i, j WHERE j.id = i.k AND j.name = ''name 3'' AND i.v < (SELECT 0.9 * avg(v) FROM i i2 WHERE i2.k = j.id)', 'SELECT o.id, j.id FROM o JOIN j ON j.id = o.k AND o.x < (SELECT avg(v) FROM i WHERE i.k = j.id) WHERE j.w < 3',
	'SELECT o.id, j.id FROM o LEFT JOIN j ON j.id = o.k WHERE (SELECT count(*) FROM i WHERE i.k = j.k) = 0', 'SELECT o.id, j.id FROM o LEFT JOIN j ON j.id = o.k WHERE o.x < (SELECT avg(v) FROM i WHERE i.k = j.w)', 'SELECT o.id, j.id FROM o LEFT JOIN j ON j.id = o.k AND j.w < (SELECT count(*) FROM i WHERE i.k = j.k)', 'SELECT z, w FROM (SELECT id AS z, x FROM o) AS a FULL JOIN (SELECT id + 190 AS z, w FROM j) AS b USING (z) WHERE coalesce(x, 4) < (SELECT count(*) FROM i WHERE i.id = z)',
	'SELECT o.id FROM o, j WHERE o.n = j.id AND o.k = j.k AND j.w = 2 AND o.x < (SELECT avg(v) FROM i WHERE i.k = o.k)', 'SELECT o.id FROM o WHERE o.k IN (SELECT k FROM j WHERE w = 2) AND o.x < (SELECT avg(v) FROM i WHERE i.k = o.k)',
	'SELECT j.id FROM j WHERE j.id IN (SELECT n FROM o WHERE k IN (SELECT k FROM j WHERE name LIKE ''name 1%'') AND x > (SELECT 0.1 * sum(v) FROM i WHERE i.k = o.k AND i.nn = o.n))', 'SELECT j.id FROM j WHERE EXISTS (SELECT FROM o WHERE o.n = j.id AND x > (SELECT avg(v) FROM i WHERE i.k = o.k))', 'SELECT j.id FROM j WHERE NOT EXISTS (SELECT FROM o WHERE o.n = j.id AND x > (SELECT avg(v) FROM i WHERE i.k = o.k))',
	'SELECT id FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k AND v > (SELECT min(w) FROM j WHERE j.k = i.nn))', 'SELECT id FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k AND v > (SELECT min(w) FROM j WHERE j.k = o.n))', 'SELECT id FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k AND v > (SELECT min(w) FROM j WHERE j.k = i.nn AND j.id = o.n))',
	'SELECT n, count(*) FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k) GROUP BY n HAVING count(*) > (SELECT count(*) - 60 FROM i WHERE i.k = o.n)', 'SELECT count(*) FROM (SELECT id FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k) OFFSET 0) AS y', 'SELECT id FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k) UNION SELECT id FROM o WHERE n < (SELECT max(q) FROM i WHERE i.k = o.k)',
	'SELECT seen.id, j.w FROM seen JOIN j USING (id)', 'WITH w AS (SELECT id FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k)) SELECT count(*) FROM w', 'SELECT id FROM o, LATERAL (SELECT max(q) AS most FROM i WHERE i.k = o.k) AS y WHERE n < (SELECT count(*) FROM i WHERE i.k = o.k) AND most > 0',
	'WITH w AS (SELECT k, kt, sum(v) AS s FROM i GROUP BY k, kt) SELECT kt, s FROM w AS w1 WHERE s > (SELECT avg(s) * 1.2 FROM w AS w2 WHERE w1.k = w2.k)', 'SELECT id FROM j WHERE w = (SELECT max(w) FROM j AS j2 WHERE j2.k = j.k) AND k NOT IN (SELECT nn FROM i WHERE q = 3 AND nn < 6)'
]) AS q;
-- left alone: other correlations, other subqueries
CREATE FUNCTION vol(int) RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN $1; END';
SELECT q, rewritten('SELECT id FROM o WHERE ' || q) FROM unnest(ARRAY[
	'x < (SELECT avg(v) FROM i WHERE i.k > o.k)', 'x < (SELECT avg(v) FROM i WHERE i.k = o.k AND i.q < o.n)', 'x < (SELECT avg(v) + o.n FROM i WHERE i.k = o.k)', 'x < (SELECT avg(v) FROM i WHERE i.k + 1 = o.k)', 'x < (SELECT avg(v) FROM i WHERE i.k = o.k OR i.k = o.n)', 'x < (SELECT avg(v) FROM i WHERE i.k IS NOT DISTINCT FROM o.k)',
	'x < (SELECT v FROM i WHERE i.q = o.k) AND k > 100', 'x < (SELECT avg(v) FROM i WHERE i.k = o.k LIMIT 1)', 'x < (SELECT avg(v) FROM i WHERE i.k = o.k OFFSET 1)', 'x < (SELECT avg(v) FROM i WHERE i.k = o.k HAVING count(*) > 25)', 'x < (SELECT avg(v) FROM i WHERE i.k = o.k GROUP BY k)', 'x < (SELECT avg(v) OVER () FROM i WHERE i.k = o.k LIMIT 1)',
	'x < (SELECT avg(v) FROM i WHERE i.k = o.k UNION ALL SELECT 1 WHERE false)', 'x < (SELECT avg(v) FROM (SELECT * FROM i ORDER BY id LIMIT 100) AS i WHERE i.k = o.k)', 'x < (SELECT avg(v) FROM i)', 'n < (SELECT max(vol(q)) FROM i WHERE i.k = o.k)', 'vol(n) < (SELECT max(q) FROM i WHERE i.k = o.k)', 'n < (SELECT avg(v) FROM i WHERE i.k = o.k AND q = vol(3))',
	'x < (SELECT avg(v) FROM i LEFT JOIN j ON i.q = j.id AND j.k = o.k)', 'n = (SELECT array_length(array_agg(q), 1) FROM i WHERE i.k = o.k)'
]) AS q;
-- left alone: what could raise an error for rows that the subquery never looks at
SELECT q, rewritten('SELECT id FROM o WHERE ' || q) FROM unnest(ARRAY[
	'x < (SELECT sum(v / q) FROM i WHERE i.k = o.k) AND k > 100', 'n < (SELECT sum(q * 1000000000) FROM i WHERE i.k = o.k) AND k > 100', 'n < (SELECT max(q) FROM i WHERE i.k = o.k AND 1 / q > 0) AND k > 100', 'n < (SELECT max(q) / min(q + 15) FROM i WHERE i.k = o.k) AND k > 100', 'x < (SELECT sum(f) FROM i WHERE i.k = o.k)', 'x < (SELECT sum(un) FROM i WHERE i.k = o.k)', 'x < (SELECT max(kn) FROM i WHERE i.k = o.k)',
	'n < (SELECT count(*) FROM i WHERE i.k = o.k AND kt LIKE kb) AND k > 100', 'n < (SELECT count(*) FROM i WHERE i.k = o.k AND kt::int > 0) AND k > 100', 'n < (SELECT count(*) FROM i WHERE i.k = o.k AND q = (SELECT w FROM j)) AND k > 100',
	'n = 10 / (SELECT max(q) FROM i WHERE i.k = o.k AND q < 1) AND k > 100', '1 / (SELECT max(q) FROM i WHERE i.k = o.k AND q < 1) < 0 AND k > 100', 'n > (SELECT count(*) FROM i WHERE i.k = o.k) - 80'
]) AS q;
SELECT rewritten('SELECT o.id FROM o, j WHERE o.n = j.id AND 1 / (o.n - j.id + 1) > 0 AND x < (SELECT avg(v) FROM i WHERE i.k = o.k)');
SELECT rewritten('SELECT y.id FROM (o JOIN j AS t (jid, jk, w, name) ON o.n = t.jid) AS y WHERE 1 / (y.n - y.jid + 1) > 0 AND x < (SELECT avg(v) FROM i WHERE i.k = y.k)'), rewritten('SELECT y.id FROM (o JOIN j AS t (jid, jk, w, name) ON o.n = t.jid) AS y WHERE y.w > 1 AND x < (SELECT avg(v) FROM i WHERE i.k = y.k)');
-- collations
CREATE COLLATION nodet (provider = icu, locale = 'und', deterministic = false);
SELECT q, rewritten('SELECT id FROM o WHERE x < (SELECT avg(v) FROM i WHERE ' || q || ')') FROM unnest(ARRAY['i.kt = o.kt COLLATE "C"', 'i.kt = o.kt COLLATE nodet', 'i.kt COLLATE nodet = o.kt']) AS q;
CREATE TABLE oc (id int, kt text COLLATE nodet, kc text COLLATE "C");
CREATE TABLE ic (v int, kt text COLLATE nodet, kc text COLLATE "POSIX");
INSERT INTO oc SELECT id, kt, kt FROM o;
INSERT INTO ic SELECT id, kt, kt FROM i;
SELECT q, rewritten('SELECT id FROM oc WHERE id < (SELECT avg(v) FROM ic WHERE ' || q || ')') FROM unnest(ARRAY['ic.kt = oc.kt', 'ic.kc = oc.kc', 'ic.kc = oc.kc COLLATE "C"']) AS q;
-- ... one row by a key: what differs in the index may be equal in the comparison
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE spelled (t text COLLATE caseless, k int, v int);
CREATE UNIQUE INDEX ON spelled (t COLLATE "C", k);
INSERT INTO spelled SELECT (ARRAY['a', 'A', 'b'])[i % 3 + 1], i / 3, i FROM generate_series(0, 59) i;
CREATE TABLE named (t text COLLATE caseless, c text COLLATE "C", k int, v int, UNIQUE (t, k));
CREATE UNIQUE INDEX ON named (c COLLATE caseless, k);
INSERT INTO named SELECT t, t, k, v FROM (SELECT (ARRAY['A', 'b'])[i % 2 + 1] AS t, i / 2 AS k, i AS v FROM generate_series(0, 59) i) s;
SELECT q, rewritten('SELECT id, (SELECT v FROM ' || q || ' AND y.k = o.n) FROM o') FROM unnest(ARRAY['spelled y WHERE t = ''a''', 'named y WHERE t = ''a''', 'named y WHERE c = ''A''']) AS q;

-- statements, parameters, cursors
CREATE TABLE target (id int, c bigint);
SET gpuconc.debug_rewrite = always;
SET gpuconc.offload_cost = 1e9;
SELECT explained('INSERT INTO target SELECT id, n FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k)') ~ 'SubPlan' AS subplan;
INSERT INTO target SELECT id, (SELECT count(*) FROM i WHERE i.k = o.k) FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k);
SELECT count(*), sum(id), sum(c) FROM target;
SELECT explained('UPDATE target SET c = 0 WHERE c < (SELECT count(*) FROM i WHERE i.k = target.id)') ~ 'SubPlan' AS subplan, explained('DELETE FROM target WHERE c < (SELECT count(*) FROM i WHERE i.k = target.id)') ~ 'SubPlan' AS subplan,
	explained('SELECT * FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k) FOR UPDATE') ~ 'SubPlan' AS subplan, explained('WITH d AS (DELETE FROM target RETURNING *) SELECT * FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k)') ~ 'SubPlan' AS subplan;
PREPARE asked(int, text, numeric) AS SELECT count(*), sum(id) FROM o WHERE n > $1 AND x < $3 * (SELECT avg(v) FROM i WHERE i.k = o.k AND kt <> $2);
EXECUTE asked(3, 't4', 1.5);
-- (a numeric of any size may overflow, so the plan must be for this one)
EXPLAIN (COSTS OFF) EXECUTE asked(3, 't4', 1.5);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE asked(3, 't4', 1.5);
EXECUTE asked(3, 't4', 1.5);
EXECUTE asked(NULL, 't4', 1.5);
RESET plan_cache_mode;
SET gpuconc.debug_rewrite = never;
DEALLOCATE asked;
PREPARE asked(int, text, numeric) AS SELECT count(*), sum(id) FROM o WHERE n > $1 AND x < $3 * (SELECT avg(v) FROM i WHERE i.k = o.k AND kt <> $2);
EXECUTE asked(3, 't4', 1.5);
SET gpuconc.debug_rewrite = always;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k);
FETCH 1 FROM c;
UPDATE o SET n = n WHERE CURRENT OF c;
ROLLBACK;
CREATE FUNCTION counted(int) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM rewrite.o WHERE n > $1 AND x < (SELECT avg(v) FROM rewrite.i WHERE i.k = o.k)';
SELECT counted(3), counted(9);
RESET gpuconc.debug_rewrite;
SELECT counted(3), counted(9);
RESET gpuconc.offload_cost;
SET gpuconc.offload_cost = 0;

-- row security and security barriers
CREATE ROLE regress_gpuconc_rewriter;
GRANT USAGE ON SCHEMA rewrite TO regress_gpuconc_rewriter;
GRANT SELECT ON ALL TABLES IN SCHEMA rewrite TO regress_gpuconc_rewriter;
CREATE POLICY higher ON i USING (q > 3);
CREATE VIEW barred WITH (security_barrier) AS SELECT * FROM i WHERE q > 2;
GRANT SELECT ON barred TO regress_gpuconc_rewriter;
ALTER TABLE i ENABLE ROW LEVEL SECURITY;
SET ROLE regress_gpuconc_rewriter;
SELECT q, rewritten('SELECT id FROM o WHERE ' || q) FROM unnest(ARRAY['x < (SELECT avg(v) FROM i WHERE i.k = o.k)', 'n NOT IN (SELECT nn FROM i)', 'x < (SELECT avg(v) FROM barred i WHERE i.k = o.k)']) AS q;
SELECT rewritten('SELECT id FROM i WHERE v < (SELECT avg(x) FROM o WHERE i.k = o.k)');
RESET ROLE;
ALTER TABLE i DISABLE ROW LEVEL SECURITY;

-- NOT IN
CREATE TABLE parent (k int NOT NULL);
CREATE TABLE child () INHERITS (parent);
ALTER TABLE child ALTER k DROP NOT NULL;
INSERT INTO parent VALUES (1), (50);
INSERT INTO child VALUES (2), (NULL);
CREATE TABLE parts (k int NOT NULL) PARTITION BY HASH (k);
CREATE TABLE part0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT generate_series(1, 5);
SELECT q, rewritten('SELECT id FROM o WHERE ' || q) FROM unnest(ARRAY[
	'n NOT IN (SELECT nn FROM i WHERE q > 10)', 'n <> ALL (SELECT nn FROM i WHERE q > 10)', 'NOT n = ANY (SELECT nn FROM i WHERE q > 10)', '(n, id) NOT IN (SELECT nn, id FROM i WHERE q > 3)', 'n NOT IN (SELECT nn FROM i WHERE false)', 'n NOT IN (SELECT k FROM i WHERE k IS NOT NULL AND q = 7)', 'n NOT IN (SELECT k FROM i WHERE k < 5)', 'k IS NOT NULL AND k NOT IN (SELECT nn FROM i WHERE q > 10)', 'k > 2 AND k NOT IN (SELECT nn FROM i WHERE q > 10)',
	'n NOT IN (SELECT nn FROM i GROUP BY nn HAVING count(*) > 41)', 'n NOT IN (SELECT count(*) - 24 FROM i GROUP BY k)', 'n NOT IN (SELECT DISTINCT nn FROM i WHERE q > 10)', 'n NOT IN (WITH w AS (SELECT nn FROM i WHERE q > 10) SELECT nn FROM w)', 'n NOT IN (SELECT nn FROM (SELECT nn, q FROM i OFFSET 0) AS y WHERE q > 10)', 'n NOT IN (SELECT j.k FROM i JOIN j ON i.q = j.id)', 'n NOT IN (SELECT nn FROM i WHERE i.k = o.k)', 'n NOT IN (SELECT k FROM parts)', 'id NOT IN (SELECT n FROM o)', 'kb > ''c1'' AND kb NOT IN (SELECT kb FROM i WHERE kb > ''c4'')', 'kt IS NOT NULL AND kt NOT IN (SELECT kt FROM i WHERE kt LIKE ''t1%'' AND kt IS NOT NULL)'
]) AS q;
-- ... where a NULL may come in, and what stays
SELECT q, rewritten('SELECT id FROM o WHERE ' || q) FROM unnest(ARRAY[
	'm NOT IN (SELECT nn FROM i WHERE q > 10)', 'n NOT IN (SELECT k FROM i WHERE q = 1)', '(n, m) NOT IN (SELECT nn, id FROM i)', 'n NOT IN (SELECT j.k FROM i LEFT JOIN j ON i.q = j.id)', 'n NOT IN (SELECT nn FROM i LIMIT 3)', 'n NOT IN (SELECT max(nn) FROM i WHERE false)', 'n NOT IN (SELECT nn FROM i GROUP BY ROLLUP (nn))', 'n NOT IN (SELECT nn FROM i UNION SELECT k FROM none)', 'n NOT IN (SELECT k FROM parent)', 'n NOT IN (VALUES (1), (NULL))', 'n <> ANY (SELECT nn FROM i)', 'n > ALL (SELECT nn FROM i WHERE q = 1)', 'n NOT IN (SELECT nn FROM i WHERE 1 / nn > 0) AND id < 0', 'n IS NULL OR n NOT IN (SELECT nn FROM i WHERE q > 10)', 'n + 1 NOT IN (SELECT nn FROM i WHERE q > 10)'
]) AS q;
SELECT rewritten('SELECT o.id FROM j LEFT JOIN o ON o.id = j.w WHERE o.n NOT IN (SELECT nn FROM i WHERE q > 10)'), rewritten('SELECT o.id FROM o LEFT JOIN j ON o.id = j.w WHERE o.n NOT IN (SELECT nn FROM i WHERE q > 10)'), rewritten('SELECT id FROM (SELECT id, n AS z FROM o OFFSET 0) AS y WHERE z NOT IN (SELECT nn FROM i WHERE q > 10)'), rewritten('SELECT count(*) FROM o JOIN j USING (id) WHERE id NOT IN (SELECT nn FROM i WHERE q > 10)');

-- CTEs that are read twice
SELECT q, rewritten(q) FROM unnest(ARRAY[
	'WITH w AS (SELECT k, sum(v) AS s FROM i GROUP BY k) SELECT k FROM w WHERE s = (SELECT max(s) FROM w)', 'WITH w AS (SELECT k, sum(v) AS s FROM i GROUP BY k) SELECT a.k, b.s FROM w AS a JOIN w AS b USING (k) WHERE a.k > 3', 'WITH w AS (SELECT o.id, o.n, j.w FROM o JOIN j ON o.k = j.id) SELECT count(*) FROM w AS a JOIN w AS b ON a.n = b.w', 'WITH w AS (SELECT k, count(*) c FROM i GROUP BY k), x AS (SELECT max(c) AS m FROM w) SELECT w.k FROM w, x WHERE w.c = x.m UNION ALL SELECT m FROM x',
	'WITH w AS MATERIALIZED (SELECT k, sum(v) AS s FROM i GROUP BY k) SELECT k FROM w WHERE s = (SELECT max(s) FROM w)', 'WITH w AS (SELECT k FROM i LIMIT 5) SELECT count(*) FROM w AS a, w AS b', 'WITH v AS (SELECT k FROM i LIMIT 5), w AS (SELECT k, count(*) AS c FROM v GROUP BY k) SELECT count(*) FROM w AS a JOIN w AS b USING (k)', 'WITH w AS (SELECT row_number() OVER () AS r, k FROM i) SELECT count(*) FROM w AS a JOIN w AS b USING (r)', 'WITH w AS (SELECT k, sum(f) AS s FROM i GROUP BY k) SELECT k FROM w WHERE s = (SELECT max(s) FROM w)', 'WITH w AS (SELECT k, max(vol(q)) AS s FROM i GROUP BY k) SELECT k FROM w WHERE s = (SELECT max(s) FROM w)', 'WITH w AS (SELECT k, array_agg(q) AS s FROM i GROUP BY k) SELECT count(*) FROM w AS a JOIN w AS b USING (s)',
	'WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w WHERE n < 5) SELECT count(*) FROM w AS a, w AS b', 'WITH w AS (SELECT generate_series(1, 3) AS n) SELECT count(*) FROM w AS a, w AS b', 'WITH w AS (SELECT k, sum(v) AS s FROM i WHERE k > 0 GROUP BY k) SELECT a.k FROM w AS a JOIN w AS b ON a.s = b.s AND a.k = b.k WHERE 1 / a.k >= 0', 'WITH w AS (SELECT k, q FROM i WHERE q > 0) SELECT count(*) FROM w AS a JOIN w AS b USING (k) WHERE 1 / b.q > 0', 'WITH w AS (SELECT k, v FROM i FOR UPDATE) SELECT count(*) FROM w AS a JOIN w AS b USING (k)'
]) AS q;

-- ... which read each other twice: up to so many tables, of groups more than of joins
CREATE FUNCTION scans(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	result bigint;
BEGIN
	PERFORM set_config('gpuconc.offload_cost', '1e9', true), set_config('gpuconc.debug_rewrite', 'always', true);
	result := count(*) FROM regexp_matches(explained(query), ' on divisors\M', 'g');
	PERFORM set_config('gpuconc.offload_cost', '0', true), set_config('gpuconc.debug_rewrite', 'auto', true);
	RETURN result;
END $$;
SELECT name, ctes, rewritten(q), scans(q)
FROM (VALUES ('join', 'SELECT id, x AS n FROM divisors WHERE x < 2', 'SELECT a.id, greatest(a.n, b.n) AS n FROM %2$s AS a JOIN %2$s AS b USING (id)'),
	('group', 'SELECT x AS k, max(id) AS n FROM divisors GROUP BY x', 'SELECT k, max(greatest(a.n, b.n)) AS n FROM %2$s AS a JOIN %2$s AS b USING (k) GROUP BY k'),
	('in', 'SELECT id, x AS n FROM divisors WHERE x < 2', 'SELECT id, n FROM %2$s WHERE n IN (SELECT n FROM %2$s)')) AS c (name, first, next),
	unnest(ARRAY[3, 4, 5, 6, 7]) AS ctes,
	LATERAL (SELECT 'WITH w0 AS (' || first || ')' || string_agg(format(', w%1$s AS (' || next || ')', i, 'w' || i - 1), '' ORDER BY i) || ' SELECT sum(n), count(*) FROM w' || max(i) AS q FROM generate_series(1, ctes) i) AS s;

-- ... whose outputs may fail, beside conditions that keep them from it: where readers ask for keys of what it groups alone
SELECT q, rewritten(q) FROM (SELECT 'WITH w AS (SELECT k, q, s / c AS r, c FROM (SELECT k, q, sum(v) AS s, sum(nullif(k, 3)) AS c FROM i GROUP BY k, q) g WHERE c <> 0) SELECT a.k, a.r, b.r FROM w AS a JOIN w AS b USING (k) WHERE ' AS w) AS s,
	unnest(ARRAY['a.q = 1 AND b.q = 2', 'a.q = 1 AND b.q = 2 AND a.r > 3', 'a.q = 1 AND a.r < b.r', 'a.c > 3', '1 / a.q > 0', 'k > 3', 'b.q <> 5 AND a.r IS NOT NULL', 'a IS NOT NULL']) AS condition, concat(w, condition) AS q;
SELECT q, rewritten(q) FROM unnest(ARRAY[
	'WITH w AS (SELECT k, q, s / c AS r FROM (SELECT k, q, stddev_samp(q) AS s, avg(k) AS c FROM i GROUP BY k, q) g WHERE CASE c WHEN 0 THEN 0 ELSE s / c END >= 0) SELECT a.k, a.r, b.r FROM w AS a JOIN w AS b ON a.k = b.k WHERE a.q = 1 AND b.q = 2',
	'WITH w AS (SELECT k, q, s / c AS r FROM (SELECT k, q, sum(v) AS s, sum(k) AS c FROM i GROUP BY k, q) g WHERE c <> 0) SELECT o.id, r FROM o LEFT JOIN w ON o.k = w.k AND w.q = 1 WHERE EXISTS (SELECT FROM w WHERE w.q = o.n)',
	'WITH w AS (SELECT k, q, s / c AS r FROM (SELECT k, q, sum(v) AS s, sum(k) AS c FROM i GROUP BY k, q) g WHERE c >= 0) SELECT a.r, b.r FROM w AS a JOIN w AS b ON a.k = b.k WHERE a.q = 1 AND b.q = 2',
	'WITH w AS (SELECT k, q, s / c AS r FROM (SELECT k, q, sum(v) AS s, sum(k) AS c FROM i GROUP BY k, q LIMIT 9) g WHERE c <> 0) SELECT count(*) FROM w AS a JOIN w AS b ON a.k = b.k WHERE a.q = 1 AND b.q = 2',
	'WITH w AS (SELECT g.k, q, s / c AS r FROM (SELECT k, q, sum(v) AS s, sum(k) AS c FROM i GROUP BY k, q) g JOIN j USING (k) WHERE c <> 0) SELECT a.r, b.r FROM w AS a JOIN w AS b ON a.k = b.k WHERE a.q = 1 AND b.q = 2',
	'WITH w AS (SELECT k, q, s / c AS r FROM (SELECT k, q, variance(f) AS s, avg(k) AS c FROM i GROUP BY k, q) g WHERE CASE c WHEN 0 THEN 0 ELSE s / c END >= 0) SELECT a.k FROM w AS a JOIN w AS b ON a.k = b.k WHERE a.q = 1 AND b.q = 2'
]) AS q;
-- ... such a CTE may stay one, of the rows alone that any reader asks for, but where one of them asks for all, or by other keys
SELECT q, rewritten(q), check_here(q) FROM (SELECT 'WITH w AS (SELECT k, q, s / c AS r FROM (SELECT k, q, sum(v) AS s, sum(k) AS c FROM i GROUP BY k, q) g WHERE CASE c WHEN 0 THEN 0 ELSE s / c END > 1) ' AS w) AS s,
	unnest(ARRAY['SELECT a.k, a.r, b.r FROM w AS a JOIN w AS b USING (k) WHERE a.q = 1 AND b.q = 2', 'SELECT a.k, a.r, b.r FROM w AS a JOIN w AS b USING (k) WHERE a.q = 1 AND b.q = 1', 'SELECT a.k, a.r, b.r, c.r FROM w AS a JOIN w AS b USING (k) JOIN w AS c USING (k) WHERE a.q = 1 AND b.q IN (2, 3) AND c.q < 4',
		'SELECT a.k, a.r, b.r FROM w AS a LEFT JOIN w AS b ON a.k = b.k AND b.q = 2 WHERE a.q = 1', 'SELECT a.k, a.r, b.r FROM w AS a JOIN w AS b USING (k) WHERE a.q = 1', 'SELECT a.q, a.r, b.r FROM w AS a JOIN w AS b USING (q) WHERE a.k = 1 AND b.q = 2',
		'SELECT k, r FROM w WHERE q = 1 UNION ALL SELECT k, r FROM (SELECT k, r FROM w WHERE q = 3) AS y', 'SELECT k, r FROM w WHERE q = 1 AND r > (SELECT avg(r) FROM w WHERE q = 2)']) AS reader, concat(w, reader) AS q;
CREATE TABLE readings AS SELECT 1 + n % 997 AS k, n % 12 AS q, n % 37 AS v FROM generate_series(1, 30000) n;
SELECT settle();
VACUUM ANALYZE readings;
SELECT check_here('WITH w AS (SELECT k, q, s / c AS r FROM (SELECT k, q, stddev_samp(v) AS s, sum(k) AS c FROM readings GROUP BY k, q) g WHERE CASE c WHEN 0 THEN 0 ELSE s / c END >= 0) SELECT a.k, a.r, b.r FROM w AS a JOIN w AS b USING (k) WHERE a.q = 1 AND b.q = 2');
-- NULLs of an outer join pass
SELECT check_here('WITH w AS (SELECT k, q, s / c AS r FROM (SELECT k, q, stddev_samp(v) AS s, sum(k) AS c FROM readings GROUP BY k, q) g WHERE CASE c WHEN 0 THEN 0 ELSE s / c END >= 0) SELECT a.k, a.r, b.q, b.r FROM w AS a LEFT JOIN w AS b ON a.k = b.k + 500 AND b.q <> 1 WHERE a.q = 1 AND (b.q IS NULL OR b.q = 99)');
-- it does where that takes less; inlined, it may be a whole
EXPLAIN (COSTS OFF) WITH w AS (SELECT k, q, s / c AS r FROM (SELECT k, q, stddev_samp(v) AS s, sum(k) AS c FROM readings GROUP BY k, q) g WHERE CASE c WHEN 0 THEN 0 ELSE s / c END >= 0) SELECT a.k, a.r, b.r FROM w AS a JOIN w AS b USING (k) WHERE a.q = 1 AND b.q = 2;
EXPLAIN (COSTS OFF) WITH w AS (SELECT k, q, s / c AS r FROM (SELECT k, q, sum(v) AS s, sum(k) AS c FROM i GROUP BY k, q) g WHERE CASE c WHEN 0 THEN 0 ELSE s / c END > 1) SELECT a.k, a.r, b.r FROM w AS a JOIN w AS b USING (k) WHERE a.q = 1 AND b.q = 2;

-- conditions with arithmetic of constants: of small ones it cannot fail (an output that nobody reads might, so that the CTE is not kept apart)
SELECT q, rewritten(q) FROM unnest(ARRAY[
	'WITH w AS (SELECT k, sum(v) AS s, 1 / (k + 1000) AS z FROM i GROUP BY k) SELECT a.k, b.s FROM w AS a JOIN w AS b ON a.s = b.s WHERE a.k = 1 + 1 AND b.k > 3 * (2 - 4) - -5', 'WITH w AS (SELECT k, sum(v) AS s, 1 / (k + 1000) AS z FROM i GROUP BY k) SELECT a.k FROM w AS a JOIN w AS b ON a.s = b.s WHERE a.k < 2147483647 + 1::bigint',
	'WITH w AS (SELECT k, sum(v) AS s, 1 / (k + 1000) AS z FROM i GROUP BY k) SELECT a.k FROM w AS a JOIN w AS b ON a.s = b.s WHERE a.k < 30000 * 30000',
	'WITH w AS (SELECT k, sum(v) AS s, 1 / (k + 1000) AS z FROM i GROUP BY k) SELECT a.k FROM w AS a JOIN w AS b ON a.s = b.s WHERE a.k < 100::int2 * 200::int2', 'WITH w AS (SELECT k, sum(v) AS s, 1 / (k + 1000) AS z FROM i GROUP BY k) SELECT a.k FROM w AS a JOIN w AS b ON a.s = b.s WHERE a.k < 7 / 2', 'WITH w AS (SELECT k, sum(v) AS s, 1 / (k + 1000) AS z FROM i GROUP BY k) SELECT a.k FROM w AS a JOIN w AS b ON a.s = b.s WHERE a.k < NULL + 2'
]) AS q;
-- the rewritten query is offloaded, if it is wanted, or a whole
SELECT check_here(q) FROM unnest(ARRAY[
	'SELECT sum(i.v) FROM i, j WHERE j.id = i.k AND j.name = ''name 3'' AND i.v < (SELECT 0.9 * avg(v) FROM i i2 WHERE i2.k = j.id)', 'SELECT count(*), sum(n) FROM o WHERE n < (SELECT count(*) FROM i WHERE (i.k = o.k AND q > 3) OR (i.k = o.k AND kt = ''t1''))', 'SELECT count(*), sum(n) FROM o WHERE n >= (SELECT DISTINCT k FROM j WHERE id < 2) AND x < (SELECT avg(v) FROM i WHERE i.k = o.k)', 'WITH w AS (SELECT k, sum(v) AS s FROM i GROUP BY k) SELECT k FROM w WHERE s = (SELECT max(s) FROM w)', 'SELECT count(*) FROM o WHERE n NOT IN (SELECT nn FROM i WHERE q > 10)'
]) AS q;
SET gpuconc.offload_cost = 1e9;
SELECT explained('SELECT id FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k)') ~ 'SubPlan' AS subplan;
SET gpuconc.debug_rewrite = always;
SELECT explained('SELECT id FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k)') ~ 'SubPlan' AS subplan;
SET gpuconc.debug_rewrite = auto;
-- once it has won by far, it is not compared again, whatever the constants, until a table or a setting changes
SET gpuconc.offload_cost = 0;
SET client_min_messages = debug1;
EXPLAIN (COSTS OFF) SELECT sum(o.n) FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k) AND n < 15;
EXPLAIN (COSTS OFF) SELECT sum(o.n) FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k) AND n < 14;
SET enable_hashjoin = off;
EXPLAIN (COSTS OFF) SELECT sum(o.n) FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k) AND n < 14;
RESET enable_hashjoin;
ANALYZE o;
EXPLAIN (COSTS OFF) SELECT sum(o.n) FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k) AND n < 14;
-- nor is it taken where other constants make its own plan cheap
EXPLAIN (COSTS OFF) SELECT sum(o.n) FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k) AND id < 190;
EXPLAIN (COSTS OFF) SELECT sum(o.n) FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k) AND id < 1;
RESET client_min_messages;
-- a query of many partitions is not compared again, either; the first time fills PostgreSQL's caches, which say so
CREATE TABLE spread (k int, v numeric(8,2)) PARTITION BY LIST (k);
DO $$ BEGIN FOR n IN 0..25 LOOP EXECUTE format('CREATE TABLE spread%s PARTITION OF spread FOR VALUES IN (%1$s)', n); END LOOP; END $$;
INSERT INTO spread SELECT n % 26, n % 41 / 5.0 FROM generate_series(1, 520) n;
SELECT settle();
VACUUM ANALYZE spread;
EXPLAIN (COSTS OFF) SELECT sum(o.n) FROM o WHERE x < (SELECT avg(v) FROM spread AS i WHERE i.k = o.k) AND n < 15;
SET client_min_messages = debug1;
EXPLAIN (COSTS OFF) SELECT sum(o.n) FROM o WHERE x < (SELECT avg(v) FROM spread AS i WHERE i.k = o.k) AND n < 14;
RESET client_min_messages;
SELECT check_here('SELECT sum(o.n) FROM o WHERE x < (SELECT avg(v) FROM spread AS i WHERE i.k = o.k) AND n < 14');
-- a subquery that scans a CTE of more rows than are estimated, with and without LIMIT: the join is sooner by far
CREATE TABLE days AS SELECT n AS id, n / 100 AS yr FROM generate_series(1, 20000) n;
CREATE TABLE people (id int PRIMARY KEY, name text);
INSERT INTO people SELECT n, 'p' || n || repeat('x', 60) FROM generate_series(1, 40000) n;
CREATE TABLE bought AS SELECT 500 + n % 90 AS day, n % 1100 AS who, n % 9 AS place, (n % 100)::numeric(8,2) AS v FROM generate_series(1, 4000) n;
SELECT settle();
VACUUM ANALYZE days, people, bought;
RESET gpuconc.offload_cost;
SELECT bounds, explained(q || bounds) ~ 'SubPlan' AS subplan, check_here(q || bounds) FROM unnest(ARRAY['', ' ORDER BY 1, 2 LIMIT 5']) AS bounds,
	(SELECT 'WITH w AS (SELECT who, place, sum(v) AS s FROM bought JOIN days ON day = id WHERE yr = 5 GROUP BY who, place) SELECT name, s FROM w AS w1 JOIN people ON who = id WHERE s > (SELECT 1.2 * avg(s) FROM w AS w2 WHERE w1.place = w2.place)' AS q) AS s;
SET gpuconc.enabled = off;
SELECT explained('SELECT id FROM o WHERE x < (SELECT avg(v) FROM i WHERE i.k = o.k)') ~ 'SubPlan' AS subplan;

SET client_min_messages = warning;
DROP SCHEMA rewrite CASCADE;
DROP ROLE regress_gpuconc_rewriter;
