-- A statement that a session repeats is not planned again, as long as nothing that its plan was made from has changed.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA repeated;
SET search_path = repeated, public;
CREATE TABLE facts WITH (autovacuum_enabled = off) AS
SELECT i, i % 10 AS a, i % 20 AS c, (i * 7919::bigint % 10007)::int AS v, 'w' || i % 30 AS t FROM generate_series(1, 60000) AS i;
CREATE TABLE dims WITH (autovacuum_enabled = off) AS SELECT i AS id, i % 3 AS g FROM generate_series(0, 9) AS i;
VACUUM (ANALYZE) facts, dims;
SET gpuconc.offload_cost = 50;
SET gpuconc.tuple_cost = 0.0003;
SET gpuconc.build_cost = 0.002;
SET max_parallel_workers_per_gather = 0;
\set grouped 'SELECT g, sum(v), count(*) FROM facts, dims WHERE a = id AND t <> ''w7'' AND c IN (1, 2, 3, 15) GROUP BY g ORDER BY g'
\set explain 'EXPLAIN (COSTS OFF)'

-- The first time it is planned, the second time its plan is kept, the third time that is used.
:grouped;
:grouped;
SET client_min_messages = debug2;
:grouped;
:explain :grouped;
-- The same with other constants is another statement, and so is one that is spelled another way if it means something else.
SELECT g, sum(v), count(*) FROM facts, dims WHERE a = id AND t <> 'w8' AND c IN (1, 2, 3, 15) GROUP BY g ORDER BY g;
SELECT g, sum(v), count(*) FROM facts, dims WHERE a = id AND t <> 'w7' AND c IN (1, 2, 3, 16) GROUP BY g ORDER BY g;
SELECT  g,  sum(v), /* blanks do not matter */ count(*) FROM facts JOIN dims ON true WHERE a = id AND t <> 'w7' AND c IN (1, 2, 3, 15) GROUP BY g ORDER BY g;
select g, sum(v), count(*) from facts, dims where a = id and t <> 'w7' and c in (1, 2, 3, 15) group by g order by g ;
RESET client_min_messages;

-- Settings: the plan for others is another one, and that for the old ones is made anew or still there.
SET enable_hashagg = off;
SET client_min_messages = debug2;
:explain :grouped;
RESET enable_hashagg;
:explain :grouped;
SET jit = off;
:explain :grouped;
RESET jit;
SET timezone = 'Europe/Berlin';
:explain :grouped;
SET timezone = 'UTC';
SET gpuconc.enabled = off;
:explain :grouped;
SET gpuconc.enabled = on;
SET gpuconc.plan_cache_size = 0;
:explain :grouped;
:explain :grouped;
RESET gpuconc.plan_cache_size;
:explain :grouped;
RESET client_min_messages;

-- What is stored: rows that are written, and tables that are changed, analyzed, cut off, or made again.
\set change 'INSERT INTO facts SELECT 60001, 1, 2, 1000000, ''w1'''
CREATE FUNCTION three_times(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	used bigint;
	diff text := '';
BEGIN
	SELECT offloaded INTO used FROM gpuconc_stat_get();
	FOR i IN 1..3 LOOP
		diff := diff || coalesce(difference(rows_of(query, 'forbid'), rows_of(query, 'allow')), '');
	END LOOP;
	SELECT offloaded - used INTO used FROM gpuconc_stat_get();
	RETURN format('offloaded %s times, differs: %s', used, diff);
END $$;
:grouped;
:change;
:grouped;
ALTER TABLE facts ALTER v TYPE bigint;
VACUUM (ANALYZE) facts;
SELECT three_times(:'grouped');
ALTER TABLE facts ADD COLUMN w int;
VACUUM (ANALYZE) facts;
SELECT three_times(:'grouped');
CREATE INDEX ON facts (t);
VACUUM (ANALYZE) facts;
SELECT three_times(:'grouped');
UPDATE dims SET g = g + 1 WHERE id < 5;
SELECT three_times(:'grouped');
VACUUM (ANALYZE) facts, dims;
SELECT three_times(:'grouped');
TRUNCATE dims;
SELECT three_times(:'grouped');
INSERT INTO dims SELECT i, i % 2 FROM generate_series(0, 9) AS i;
VACUUM (ANALYZE) dims;
SELECT three_times(:'grouped');
ALTER TABLE facts DROP COLUMN t;
:grouped;
ALTER TABLE facts ADD COLUMN t text DEFAULT 'w9';
SELECT three_times(:'grouped');
DROP TABLE dims;
:grouped;
CREATE TABLE dims WITH (autovacuum_enabled = off) AS SELECT i AS id, i % 4 AS g FROM generate_series(0, 9) AS i;
SELECT three_times(:'grouped');
-- A table of the same name that comes before it in the search path.
CREATE SCHEMA repeated_first;
CREATE TABLE repeated_first.dims WITH (autovacuum_enabled = off) AS SELECT i AS id, 100 + i % 2 AS g FROM generate_series(0, 9) AS i;
VACUUM (ANALYZE) dims, repeated_first.dims;
SELECT three_times(:'grouped');
SET search_path = repeated_first, repeated, public;
:grouped;
SELECT three_times(:'grouped');
SET search_path = repeated, public;
SELECT three_times(:'grouped');
:grouped;

-- A table that grows, though nothing has analyzed it: what it is planned for is looked at.
CREATE TABLE grows (k int, v int) WITH (autovacuum_enabled = off);
INSERT INTO grows SELECT i, i FROM generate_series(1, 100000) AS i;
VACUUM (ANALYZE) grows;
\set growing 'SELECT sum(v), count(*) FROM grows WHERE k > 5'
:growing;
:growing;
SET client_min_messages = debug2;
:explain :growing;
RESET client_min_messages;
INSERT INTO grows SELECT i, i FROM generate_series(1, 10000) AS i;
SET client_min_messages = debug2;
:explain :growing;
RESET client_min_messages;
INSERT INTO grows SELECT i, i FROM generate_series(1, 100000) AS i;
SET client_min_messages = debug2;
:explain :growing;
:explain :growing;
RESET client_min_messages;
:growing;

-- Functions and views that are planned in, row security, roles, privileges.
VACUUM (ANALYZE) facts;
CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n * 2';
\set calls 'SELECT sum(twice(a)), count(*) FROM facts WHERE c < 15'
:calls;
:calls;
:calls;
CREATE OR REPLACE FUNCTION twice(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n * 3';
:calls;
SELECT three_times(:'calls');
CREATE VIEW seen AS SELECT a, v FROM facts WHERE c < 15;
\set looks 'SELECT sum(v), count(*) FROM seen WHERE a > 2'
SELECT three_times(:'looks');
CREATE OR REPLACE VIEW seen AS SELECT a, v FROM facts WHERE c < 10;
SELECT three_times(:'looks');
CREATE ROLE regress_gpuconc_repeated;
GRANT USAGE ON SCHEMA repeated TO regress_gpuconc_repeated;
GRANT SELECT ON ALL TABLES IN SCHEMA repeated TO regress_gpuconc_repeated;
ALTER TABLE facts ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON facts USING (a < 2);
SELECT three_times(:'calls');
SET ROLE regress_gpuconc_repeated;
:calls;
:calls;
:calls;
RESET ROLE;
:calls;
DROP POLICY few ON facts;
CREATE POLICY few ON facts USING (a < 1);
SET ROLE regress_gpuconc_repeated;
:calls;
SET row_security = off;
:calls;
RESET row_security;
:calls;
RESET ROLE;
REVOKE SELECT ON facts FROM regress_gpuconc_repeated;
SET ROLE regress_gpuconc_repeated;
:calls;
RESET ROLE;
ALTER TABLE facts DISABLE ROW LEVEL SECURITY;

-- Transactions: plans are in use until the end, though what they were made from has gone meanwhile.
BEGIN;
:calls;
:calls;
:calls;
DECLARE c1 CURSOR FOR SELECT a, sum(v) FROM facts GROUP BY a ORDER BY a;
FETCH 2 FROM c1;
SAVEPOINT s;
ALTER FUNCTION twice(int) COST 200;
:calls;
SELECT 1 / 0;
ROLLBACK TO s;
:calls;
FETCH 2 FROM c1;
COMMIT;
:calls;
BEGIN;
:calls;
DROP FUNCTION twice(int) CASCADE;
:calls;
ROLLBACK;
:calls;
-- Cursors that outlive their transaction, procedures that end theirs, and queries as texts in a function.
\set by_a 'SELECT a, sum(v) FROM facts GROUP BY a ORDER BY a'
BEGIN;
DECLARE c2 CURSOR WITH HOLD FOR :by_a;
DECLARE c3 CURSOR WITH HOLD FOR :by_a;
DECLARE c4 CURSOR WITH HOLD FOR :by_a;
FETCH 1 FROM c4;
COMMIT;
DISCARD PLANS;
FETCH 2 FROM c4;
CLOSE ALL;
CREATE PROCEDURE ends_transactions() LANGUAGE plpgsql AS $$
DECLARE
	r record;
	n int := 0;
BEGIN
	FOR i IN 1..4 LOOP
		FOR r IN EXECUTE 'SELECT a, sum(v) AS s FROM facts GROUP BY a ORDER BY a' LOOP
			n := n + r.a;
			COMMIT;
			IF r.a = 3 THEN
				EXECUTE 'ALTER TABLE facts ALTER v SET STATISTICS ' || 10 + i;
				COMMIT;
			END IF;
		END LOOP;
	END LOOP;
	RAISE NOTICE '%', n;
END $$;
CALL ends_transactions();
SELECT three_times(:'by_a');

-- More statements than there is room for.
SET gpuconc.plan_cache_size = '300kB';
SELECT count(*) FROM generate_series(1, 3) AS r, generate_series(1, 150) AS i,
LATERAL (SELECT three_times(format('SELECT sum(v + %s) FROM facts WHERE c < %s', i, i % 20)) AS d) AS x WHERE d <> 'offloaded 3 times, differs: ';
SET gpuconc.plan_cache_size = '200kB';
-- A transaction holds what it used, within bounds.
CREATE FUNCTION plans_held() RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	FOR i IN 1..200 LOOP
		EXECUTE format('SELECT sum(v + %s) FROM facts', i) INTO n;
		EXECUTE format('SELECT sum(v + %s) FROM facts', i) INTO n;
	END LOOP;
	RETURN (SELECT sum(total_bytes) < 1000000 FROM pg_backend_memory_contexts WHERE name IN ('CachedPlan', 'CachedPlanSource', 'CachedPlanQuery'));
END $$;
SELECT plans_held();
RESET gpuconc.plan_cache_size;
-- None is taken once none is to be kept.
:by_a;
:by_a;
SET client_min_messages = debug2;
SET gpuconc.plan_cache_size = 0;
:by_a;
RESET gpuconc.plan_cache_size;
:by_a;
RESET client_min_messages;

-- Other constants: the third statement has the plan that was made for parameters, if it is sure to be the best for all.
CREATE TABLE wide WITH (autovacuum_enabled = off) AS
SELECT i, i % 10 AS a, i % 1000 AS c, (i * 7919::bigint % 10007)::int AS v, 'w' || i % 30 AS t, date '2020-01-01' + i % 700 AS d, ((i % 100)::numeric / 10)::numeric(6,2) AS n
FROM generate_series(1, 200000) AS i;
VACUUM (ANALYZE) wide;
CREATE FUNCTION differing(query text, VARIADIC given text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	used bigint;
	diff text;
	q text;
	c text;
BEGIN
	FOREACH c IN ARRAY given LOOP
		q := format(query, c);
		SELECT offloaded INTO used FROM gpuconc_stat_get();
		diff := coalesce(difference(rows_of(q, 'forbid'), rows_of(q, 'allow')), '');
		SELECT offloaded - used INTO used FROM gpuconc_stat_get();
		RETURN NEXT format('%s: offloaded %s times, %s rows, differs: %s', c, used, cardinality(rows_of(q, 'forbid')), diff);
	END LOOP;
END $$;
SET client_min_messages = debug2;
SELECT sum(v), count(*) FROM wide WHERE c < 500 AND t = 'w1';
SELECT sum(v), count(*) FROM wide WHERE c < 400 AND t = 'w2';
SELECT sum(v), count(*) FROM wide WHERE c < 300 AND t = 'w3';
SELECT sum(v), count(*) FROM wide WHERE c < 500 AND t = 'nothing';
EXPLAIN (COSTS OFF) SELECT sum(v), count(*) FROM wide WHERE c < 301 AND t = 'w3';
-- What is computed from constants is one; NULL is none, and neither is what is not compared.
SELECT sum(v), count(*) FROM wide WHERE c < 100 + 200 AND t = 'w' || 4::text;
SELECT sum(v), count(*) FROM wide WHERE c < NULL AND t = 'w4';
SELECT sum(v) + 1, count(*) FROM wide WHERE c < 200 AND t = 'w4';
RESET client_min_messages;
SELECT sum(v), count(*) FROM wide WHERE c < 1 / 0 AND t = 'w4';
-- What PostgreSQL never computes raises nothing, and no function of a user's is called to find out.
SELECT * FROM differing('SELECT sum(v), count(*) FROM wide WHERE c < %s', '11 OR (false AND c < 1 / 1)', '12 OR (false AND c < 1 / 1)', '13 OR (false AND c < 1 / 0)',
	'14 OR CASE WHEN false THEN c < 100000 * 1 END', '15 OR CASE WHEN false THEN c < 100000 * 1 END', '16 OR CASE WHEN false THEN c < 100000 * 100000 END',
	'17 OR (false AND d < date ''2020-01-01'' - 1)', '18 OR (false AND d < date ''2020-01-01'' - 1)', '19 OR (false AND d < date ''2020-01-01'' - 2000000000)',
	'20 OR (false AND d < date ''2020-01-01'' - interval ''1 year'')', '21 OR (false AND d < date ''2020-01-01'' - interval ''1 year'')', '22 OR (false AND d < date ''2020-01-01'' - interval ''10000 years'')');
CREATE FUNCTION asks(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM set_config('gpuconc.plan_cache_size', '60kB', true);
	FOR i IN 1..4 LOOP
		EXECUTE format('SELECT sum(v) FROM repeated.wide WHERE a < 5 OR a = %s', i / 2 + n);
	END LOOP;
	RETURN n;
END $$;
SELECT * FROM differing('SELECT sum(v), min(t) FROM wide WHERE c < asks(%s)', '11', '12', '13', '14');
SELECT * FROM differing('SELECT a, sum(v), min(t) FROM wide WHERE d >= date ''2020-01-31'' - %s AND n <> 0.5 GROUP BY a ORDER BY a', '1', '2', '30', '-1000', '700');
SELECT * FROM differing('SELECT g, count(*), max(d) FROM wide, (SELECT id, g FROM dims WHERE id < %s) s WHERE a = id AND t <> ''w9'' GROUP BY g', '3', '4', '9', '0', '-1');
SELECT * FROM differing('SELECT count(*) FROM wide WHERE t >= %L AND EXISTS (SELECT FROM dims WHERE id = a AND g <> 1)', 'w1', '', 'w28', 'zz', 'W');
SELECT a, sum(v), min(t) FROM wide WHERE d >= date '2020-01-31' + 600 AND n <> 0.7 GROUP BY a HAVING a < 3 ORDER BY a;
SELECT a, sum(v), min(t) FROM wide WHERE d >= date '2020-01-31' + 601 AND n <> 0.7 GROUP BY a HAVING a < 3 ORDER BY a;
SELECT a, sum(v), min(t) FROM wide WHERE d >= date '2020-01-31' + 602 AND n <> 0.7 GROUP BY a HAVING a < 3 ORDER BY a;
SELECT g, count(*), max(d) FROM wide, (SELECT id, g FROM dims WHERE id < 1) s WHERE a = id AND t <> 'w8' GROUP BY g ORDER BY g;
SELECT g, count(*), max(d) FROM wide, (SELECT id, g FROM dims WHERE id < 2) s WHERE a = id AND t <> 'w8' GROUP BY g ORDER BY g;
SET client_min_messages = debug2;
SELECT a, sum(v), min(t) FROM wide WHERE d >= date '2020-01-31' + 500 AND n <> 0.8 GROUP BY a HAVING a < 3 ORDER BY a;
SELECT g, count(*), max(d) FROM wide, (SELECT id, g FROM dims WHERE id < 3) s WHERE a = id AND t <> 'w9' GROUP BY g ORDER BY g;
RESET client_min_messages;
SELECT * FROM differing('SELECT count(*), sum(n) FROM wide WHERE n = %s', '0.5', '9.9', '1e3', '0.50', '''NaN''');
SELECT * FROM differing('SELECT t, count(*) FROM wide WHERE c > %s GROUP BY t ORDER BY 2 DESC, 1 LIMIT 3', '5', '900', '998', '1000', '2147483647');
SELECT * FROM differing('SELECT count(*) FROM wide WHERE c BETWEEN 10 AND %s', '5', '2147483648', '700', '20', '9223372036854775807');
-- Constants that are no parameters must be the same.
\set listed 'SELECT sum(v), count(*) FROM wide WHERE c IN (1, 2, %s'
SELECT * FROM differing(:'listed', '3) AND n < 5', '4) AND n < 5', '5) AND n < 5', '3) AND n < 6', '3) AND n < 7', '4) AND n < 8', '4) AND n < 9');
SET client_min_messages = debug2;
SELECT sum(v), count(*) FROM wide WHERE c IN (1, 2, 3) AND n < 9.1;
SELECT sum(v), count(*) FROM wide WHERE c IN (1, 2, 4) AND n < 9.2;
SELECT sum(v), count(*) FROM wide WHERE c IN (1, 2, 3) AND n < 9.3;
SELECT sum(v), count(*) FROM wide WHERE c IN (1, 2, 4) AND n < 9.4;
SELECT sum(v), count(*) FROM wide WHERE c IN (1, 2, 3) AND n < 9.5;
SELECT sum(v), count(*) FROM wide WHERE c IN (1, 2, 4) AND n < 9.6;
SELECT sum(v), count(*) FROM wide WHERE c IN (1, 2, 3) AND n < 9.7;
SELECT sum(v), count(*) FROM wide WHERE c IN (1, 2, 5) AND n < 9.7;
RESET client_min_messages;
-- Rows that are returned one by one, CHECK constraints, an index with a predicate, and one with another column first.
CREATE TABLE skewed WITH (autovacuum_enabled = off) AS
SELECT i, i AS k, i % 7 AS v, CASE WHEN i % 1000 = 0 THEN 'rare' || i ELSE 'often' END AS s, (i % 50)::numeric AS n FROM generate_series(1, 100000) AS i;
ALTER TABLE skewed ADD CHECK (n < 1000);
VACUUM (ANALYZE) skewed;
SET client_min_messages = debug2;
SELECT i, v FROM skewed WHERE s = 'rare1000';
SELECT i, v FROM skewed WHERE s = 'rare2000';
SELECT i, v FROM skewed WHERE s = 'rare3000';
SET constraint_exclusion = on;
SELECT sum(v) FROM skewed WHERE n = 1;
SELECT sum(v) FROM skewed WHERE n = 2;
SELECT sum(v) FROM skewed WHERE n = 3;
RESET constraint_exclusion;
SELECT sum(v) FROM skewed WHERE n = 1;
SELECT sum(v) FROM skewed WHERE n = 2;
SELECT sum(v) FROM skewed WHERE n = 3;
RESET client_min_messages;
CREATE INDEX ON skewed (k) WHERE n = 4;
VACUUM (ANALYZE) skewed;
SET client_min_messages = debug2;
SELECT sum(v) FROM skewed WHERE n = 5;
SELECT sum(v) FROM skewed WHERE n = 6;
EXPLAIN (COSTS OFF) SELECT sum(v) FROM skewed WHERE n = 4;
SELECT sum(v) FROM skewed WHERE n = 4;
RESET client_min_messages;
DROP INDEX skewed_k_idx;
CREATE INDEX ON skewed (k, n);
VACUUM (ANALYZE) skewed;
SET client_min_messages = debug2;
SELECT sum(v) FROM skewed WHERE n = 7;
SELECT sum(v) FROM skewed WHERE n = 8;
SELECT sum(v) FROM skewed WHERE n = 9;
RESET client_min_messages;
-- With an index PostgreSQL may be sooner for some: each is planned.
CREATE INDEX ON wide (i);
VACUUM (ANALYZE) wide;
SELECT sum(v), count(*) FROM wide WHERE i < 150000 AND t = 'w1';
SELECT sum(v), count(*) FROM wide WHERE i < 160000 AND t = 'w2';
SET client_min_messages = debug2;
EXPLAIN (COSTS OFF) SELECT sum(v), count(*) FROM wide WHERE i < 3 AND t = 'w1';
SELECT sum(v), count(*) FROM wide WHERE i < 140000 AND t = 'w3';
RESET client_min_messages;
-- Cursors, tables made of queries, functions with arguments, plans that functions keep, and a plan that is copied.
\set sums 'SELECT a, sum(v) FROM wide WHERE n > %s GROUP BY a ORDER BY a'
SELECT * FROM differing(:'sums', '1', '2', '3');
BEGIN;
DECLARE c5 CURSOR WITH HOLD FOR SELECT a, sum(v) FROM wide WHERE n > 4 GROUP BY a ORDER BY a;
DECLARE c6 CURSOR WITH HOLD FOR SELECT a, sum(v) FROM wide WHERE n > 5 GROUP BY a ORDER BY a;
DECLARE c7 CURSOR WITH HOLD FOR SELECT a, sum(v) FROM wide WHERE n > 6 GROUP BY a ORDER BY a;
FETCH 1 FROM c7;
COMMIT;
FETCH 1 FROM c7;
FETCH 1 FROM c6;
CLOSE ALL;
CREATE TABLE made AS SELECT a, sum(v) FROM wide WHERE n > 7 GROUP BY a ORDER BY a;
SELECT * FROM made ORDER BY a LIMIT 2;
COPY (SELECT a, sum(v) FROM wide WHERE n > 8 GROUP BY a ORDER BY a LIMIT 2) TO stdout;
CREATE FUNCTION more_than(x numeric) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT sum(v) FROM wide WHERE n > $1 AND a < 5';
SELECT x, more_than(x) FROM generate_series(1.0, 9.0, 4.0) AS x;
CREATE FUNCTION names_no(x int, y text) RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT sum(v) FROM wide WHERE n > 3.5 AND t <> 'w5';
	SELECT sum(v) FROM wide WHERE n > 4.5 AND t <> 'w6';
	SELECT sum(v) FROM wide WHERE n > 5.5 AND t <> 'w7' $$;
SELECT x, names_no(x, 'w6'), (SELECT sum(v) FROM wide WHERE n > 5.5 AND t <> 'w7') FROM generate_series(1, 3) AS x;
PREPARE kept AS SELECT a, sum(v) FROM wide WHERE n > 9.1 GROUP BY a ORDER BY a LIMIT 2;
EXECUTE kept;
EXECUTE kept;
-- A name of ours is no privilege.
SELECT a, sum(v), count(*) FROM wide, (VALUES (1)) "gpuconc parameters" WHERE n > 9.2 GROUP BY a ORDER BY a LIMIT 2;

-- Rows that a trigger hands over, and rows that are locked, are planned each time.
CREATE TABLE heard (n bigint);
CREATE FUNCTION hear() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'INSERT INTO heard SELECT sum(f.v + n.v) FROM facts f, news n WHERE f.a = n.a';
	FOR i IN 1..3 LOOP
		EXECUTE 'SELECT sum(f.v + n.v) FROM facts f, news n WHERE f.a = n.a' INTO NEW.v;
		INSERT INTO heard VALUES (NEW.v);
	END LOOP;
	RETURN NULL;
END $$;
CREATE TABLE told (a int, v int);
CREATE TRIGGER hear AFTER INSERT ON told REFERENCING NEW TABLE AS news FOR EACH STATEMENT EXECUTE FUNCTION hear();
INSERT INTO told VALUES (1, 1);
INSERT INTO told VALUES (2, 1), (3, 1);
SELECT * FROM heard;
CREATE FUNCTION hear_below() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	sum bigint;
BEGIN
	FOR i IN 1..4 LOOP
		PERFORM set_config('client_min_messages', CASE WHEN i = 4 THEN 'debug2' ELSE 'notice' END, true);
		EXECUTE 'SELECT sum(f.v) FROM wide f WHERE f.a = (SELECT max(n.a) FROM news n)' INTO sum;
	END LOOP;
	RAISE NOTICE '%', sum;
	RETURN NULL;
END $$;
CREATE TRIGGER hear_below AFTER INSERT ON heard REFERENCING NEW TABLE AS news FOR EACH STATEMENT EXECUTE FUNCTION hear_below();
ALTER TABLE heard ADD a int DEFAULT 4;
INSERT INTO heard VALUES (1, 1);
INSERT INTO heard VALUES (1, 2), (1, 3);
RESET client_min_messages;

SET client_min_messages = warning;
DROP SCHEMA repeated, repeated_first CASCADE;
DROP ROLE regress_gpuconc_repeated;
