-- NOT IN where either side may be NULL: anti joins, and what NULLs and empty subqueries add.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA not_in;
SET search_path = not_in, public;

-- outer rows with NULLs; inner rows with and without; sizes around a tile and a word
CREATE TABLE o (id int NOT NULL, k int, t text, n numeric(9,2), d date, f float8, g int NOT NULL);
INSERT INTO o SELECT i, CASE WHEN i % 7 > 0 THEN i % 1500 END, CASE WHEN i % 11 > 0 THEN 't' || i % 50 END, CASE WHEN i % 5 > 0 THEN i % 200 / 4.0 END,
	CASE WHEN i % 13 > 0 THEN date '2001-02-03' + i % 300 END, CASE WHEN i % 3 > 0 THEN i % 64 / 8.0 END, i % 20 FROM generate_series(1, 5003) AS i;
CREATE TABLE whole (id int NOT NULL, k int, t text, n numeric(9,2), d date, f float8, g int NOT NULL);
INSERT INTO whole SELECT i, i * 3 % 1100, 't' || i % 37, i % 90 / 4.0, date '2001-02-03' + i % 200, i % 40 / 8.0, i % 15 FROM generate_series(1, 1000) AS i;
CREATE TABLE holes (LIKE whole);
INSERT INTO holes SELECT id, nullif(k, 999), nullif(t, 't5'), nullif(n, 3), CASE WHEN id <> 500 THEN d END, nullif(f, 1), g FROM whole;
CREATE TABLE none (LIKE whole);
CREATE TABLE voids (LIKE whole);
INSERT INTO voids (id, g) SELECT i, i FROM generate_series(1, 33) AS i;
SELECT settle();
VACUUM ANALYZE o, whole, holes, none, voids;

-- the rows, and whether nodes of ours read all tables
CREATE FUNCTION check_in(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	verdict text;
	line text;
	own bool := false;
BEGIN
	PERFORM set_config('search_path', 'not_in, public', true);
	verdict := check_here(query);
	PERFORM set_config('gpuconc.debug_offload', 'prefer', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		own := own OR line ~ 'Seq Scan|SubPlan';
	END LOOP;
	PERFORM set_config('gpuconc.debug_offload', 'allow', true);
	RETURN verdict || CASE WHEN own THEN ', in pieces' ELSE '' END;
END $$;

-- plans
SELECT plan_of('SELECT count(*) FROM o WHERE k NOT IN (SELECT k FROM holes)');
SELECT plan_of('SELECT count(*) FROM o WHERE k NOT IN (SELECT k FROM holes h WHERE h.g = o.g)');

-- each type, against no rows, rows without NULLs, with some, NULLs only
SELECT c, t, check_in(format('SELECT count(*), sum(id), count(%1$s) FROM o WHERE %1$s NOT IN (SELECT %1$s FROM %2$s)', c, t))
FROM unnest('{k,t,n,d,f}'::text[]) AS c, unnest('{none,whole,holes,voids}'::text[]) AS t;
SELECT c, t, check_in(format('SELECT id, %1$s FROM o WHERE %1$s NOT IN (SELECT %1$s FROM %2$s) AND g < 7', c, t))
FROM unnest('{k,t,n}'::text[]) AS c, unnest('{none,whole,holes,voids}'::text[]) AS t;
-- one of the sides is never NULL
SELECT t, check_in(format('SELECT count(*), sum(id) FROM o WHERE g NOT IN (SELECT k FROM %s WHERE id < 9)', t)), check_in(format('SELECT count(*), sum(id), count(k) FROM o WHERE k NOT IN (SELECT g FROM %s)', t)),
	check_in(format('SELECT count(*), sum(id), count(k) FROM o WHERE k NOT IN (SELECT k FROM %s WHERE k IS NOT NULL)', t)), check_in(format('SELECT count(*), sum(id) FROM o WHERE k > 0 AND k NOT IN (SELECT k FROM %s)', t))
FROM unnest('{none,whole,holes,voids}'::text[]) AS t;
-- the other spellings
SELECT t, check_in(format('SELECT count(*), sum(id), count(k) FROM o WHERE k <> ALL (SELECT k FROM %s)', t)), check_in(format('SELECT count(*), sum(id), count(k) FROM o WHERE NOT k = ANY (SELECT k FROM %s)', t)), check_in(format('SELECT count(*), sum(o.id) FROM o JOIN whole w ON o.g = w.id AND o.k NOT IN (SELECT k FROM %s)', t))
FROM unnest('{none,whole,holes,voids}'::text[]) AS t;
-- correlated: some keys have no rows, some a NULL
SELECT t, check_in(format('SELECT count(*), sum(id), count(k) FROM o WHERE k NOT IN (SELECT k FROM %s x WHERE x.g = o.g)', t)), check_in(format('SELECT count(*), sum(id), count(t) FROM o WHERE t NOT IN (SELECT t FROM %s x WHERE x.g = o.g AND x.id > 3)', t)),
	check_in(format('SELECT id FROM o WHERE n NOT IN (SELECT n FROM %s x WHERE x.g = o.g AND x.k = o.k)', t)), check_in(format('SELECT count(*), sum(id) FROM o WHERE id NOT IN (SELECT k FROM %s x WHERE x.g = o.g)', t)),
	check_in(format('SELECT count(*), sum(id) FROM o WHERE k NOT IN (SELECT id FROM %s x WHERE x.g = o.g)', t)), check_in(format('SELECT count(*), sum(id) FROM o WHERE k NOT IN (SELECT k FROM %s x WHERE x.g = o.g AND x.id < o.id)', t))
FROM unnest('{none,whole,holes,voids}'::text[]) AS t;
-- several columns, of which some are never NULL
SELECT t, check_in(format('SELECT count(*), sum(id), count(k) FROM o WHERE (g, k) NOT IN (SELECT g, k FROM %s)', t)), check_in(format('SELECT count(*), sum(id) FROM o WHERE (k, t, g) NOT IN (SELECT k, t, g FROM %s)', t)), check_in(format('SELECT count(*), sum(id) FROM o WHERE (g, id) NOT IN (SELECT g, id FROM %s)', t)),
	check_in(format('SELECT count(*), sum(id) FROM o WHERE (k, t) NOT IN (SELECT k, t FROM %s x WHERE x.g = o.g)', t)), check_in(format('SELECT count(*), sum(id) FROM o WHERE (k, t) NOT IN (SELECT k, t FROM %s)', t))
FROM unnest('{none,whole,holes,voids}'::text[]) AS t;
-- subqueries that group, join, filter, or select nothing
SELECT q, check_in('SELECT count(*), sum(id), count(k) FROM o WHERE ' || q) FROM unnest(ARRAY[
	'k NOT IN (SELECT max(k) FROM holes GROUP BY g)', 'k NOT IN (SELECT max(k) FROM holes GROUP BY t HAVING count(*) > 28)', 'k NOT IN (SELECT max(k) FROM voids)', 'k NOT IN (SELECT sum(k) FROM none)', 'k NOT IN (SELECT DISTINCT k FROM holes)', 'k NOT IN (SELECT h.k FROM holes h JOIN whole w ON h.g = w.id)', 'k NOT IN (SELECT w.k FROM whole h LEFT JOIN whole w ON h.k = w.id)',
	'k NOT IN (SELECT k FROM holes WHERE false)', 'k NOT IN (SELECT k + 1 FROM whole WHERE id < 500)', 'k NOT IN (SELECT CASE WHEN g > 3 THEN k END FROM whole)', 'k NOT IN (SELECT k FROM holes WHERE t LIKE ''t1%'')', 'k NOT IN (SELECT k FROM whole WHERE k NOT IN (SELECT k FROM holes WHERE id < 50))', 'k NOT IN (SELECT NULL::int FROM none)', 'k NOT IN (SELECT NULL::int FROM whole)', 'NULL::int NOT IN (SELECT k FROM none)', '5 NOT IN (SELECT k FROM whole)', '5 NOT IN (SELECT k FROM holes)',
	'k + 0 NOT IN (SELECT k FROM whole)', 'k NOT IN (SELECT k FROM whole) AND t NOT IN (SELECT t FROM whole) AND n NOT IN (SELECT n FROM none)', 'k NOT IN (SELECT k FROM whole UNION ALL SELECT k FROM none)', 'k NOT IN (WITH c AS (SELECT k FROM holes) SELECT k FROM c)', 'd NOT IN (SELECT d::timestamp FROM whole)'
]) AS q;
-- below AND and OR, and where NULL is not as good as false
SELECT q, check_in('SELECT count(*), sum(id), count(k) FROM o WHERE ' || q) FROM unnest(ARRAY[
	'g < 3 OR k NOT IN (SELECT k FROM whole)', 'g < 3 OR k NOT IN (SELECT k FROM holes)', 'k IS NULL OR k NOT IN (SELECT k FROM whole x WHERE x.g = o.g)', '(g < 3 AND k NOT IN (SELECT k FROM whole)) OR (g > 10 AND t NOT IN (SELECT t FROM whole))', '(k NOT IN (SELECT k FROM whole)) IS NULL', '(k NOT IN (SELECT k FROM holes)) IS NOT FALSE', 'NOT (k NOT IN (SELECT k FROM holes))', 'CASE WHEN g < 5 THEN k NOT IN (SELECT k FROM whole) ELSE true END', 'coalesce(k NOT IN (SELECT k FROM holes), true)'
]) AS q;
SELECT check_in('SELECT count(*), count(k NOT IN (SELECT k FROM holes)) FROM o'), check_in('SELECT o.id, w.id FROM o LEFT JOIN whole w ON o.id = w.id AND w.k NOT IN (SELECT k FROM holes) WHERE o.id < 50'), check_in('SELECT g, count(*) FROM o GROUP BY g HAVING count(*) NOT IN (SELECT k FROM whole)'), check_in('SELECT g, count(*) FROM o WHERE k NOT IN (SELECT k FROM whole) GROUP BY g ORDER BY 2 DESC, 1 LIMIT 3');
-- a subquery's rows may change from one execution to the next, or an error come
SELECT q, check_in('SELECT count(*), sum(id) FROM o WHERE ' || q) FROM unnest(ARRAY[
	'k NOT IN (SELECT k FROM whole ORDER BY id LIMIT 3)', 'k NOT IN (SELECT k FROM whole WHERE random() < 2)', 'k NOT IN (SELECT 100 / id FROM whole)', 'k NOT IN (SELECT k FROM whole TABLESAMPLE BERNOULLI (100))'
]) AS q;
-- parameters of a prepared statement
PREPARE p (int, int) AS SELECT count(*), sum(id) FROM o WHERE k NOT IN (SELECT k FROM holes WHERE id < $1) AND g > $2;
SET gpuconc.debug_offload = prefer;
EXECUTE p (1, 3); EXECUTE p (100, 3); EXECUTE p (1000, 3); EXECUTE p (100, NULL);
SET gpuconc.debug_offload = forbid;
EXECUTE p (1, 3); EXECUTE p (100, 3); EXECUTE p (1000, 3); EXECUTE p (100, NULL);
RESET gpuconc.debug_offload;
-- a NULL that comes and goes between executions
SELECT check_in('SELECT count(*), sum(id) FROM o WHERE k NOT IN (SELECT k FROM whole)');
INSERT INTO whole (id, g) VALUES (2000, 1);
SELECT check_in('SELECT count(*), sum(id) FROM o WHERE k NOT IN (SELECT k FROM whole)');
DELETE FROM whole WHERE id = 2000;
SELECT check_in('SELECT count(*), sum(id) FROM o WHERE k NOT IN (SELECT k FROM whole)');
