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
RESET gpuconc.plan_cache_size;

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

SET client_min_messages = warning;
DROP SCHEMA repeated, repeated_first CASCADE;
DROP ROLE regress_gpuconc_repeated;
