-- Queries over columns that are not loaded: gpuconc.cold.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE cold AS SELECT i, i % 10 AS g, 'text ' || i AS t FROM generate_series(1, 20000) i;
VACUUM (ANALYZE) cold;
SET gpuconc.enabled = on;
SET gpuconc.debug_offload = prefer;

-- EXPLAIN ANALYZE's lines on the fallback, once the kernels are there.
CREATE FUNCTION fallback(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	said text;
BEGIN
	FOR i IN 1 .. 100000 LOOP
		said := '';
		FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
			IF line ~ 'Fallback|not offloaded' THEN
				said := concat_ws(' ', nullif(said, ''), trim(line));
			ELSIF line ~ ' Device: ' THEN
				said := concat_ws(' ', nullif(said, ''), 'Device');
			END IF;
		END LOOP;
		EXIT WHEN said !~* 'kernels are (being )?compiled';
		PERFORM pg_sleep(0.01);
	END LOOP;
	RETURN said;
END $$;

-- Until the device answers.
CREATE FUNCTION device_answers(query text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 100000 LOOP
		IF fallback(query) ~ '^Device( Device)*$' THEN
			RETURN true;
		END IF;
		PERFORM pg_sleep(0.01);
	END LOOP;
	RETURN false;
END $$;

-- PostgreSQL's plan answers, and later the device does.
SET gpuconc.cold = fallback;
SELECT fallback('SELECT sum(i) FROM cold WHERE g = 3');
SELECT device_answers('SELECT sum(i) FROM cold WHERE g = 3');
SELECT sum(i) FROM cold WHERE g = 3;
-- A column that the table's others do not bring along.
SELECT fallback('SELECT max(t), count(*) FROM cold WHERE g = 3');
SELECT device_answers('SELECT max(t), count(*) FROM cold WHERE g = 3');
SELECT max(t), count(*) FROM cold WHERE g = 3;
-- So does a plan that shows conditions on aggregates, also with DISTINCT.
\set windowed 'SELECT g, rank() OVER (ORDER BY count(*)), sum(count(*)) OVER (ORDER BY g GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM cold GROUP BY g HAVING count(DISTINCT i) > 5 AND sum(i + 1) <> 3'
SELECT gpuconc_evict('cold') > 0 AS evicted;
SELECT fallback(:'windowed');
SELECT device_answers(:'windowed');

-- The query waits.
SET gpuconc.cold = wait;
SELECT gpuconc_evict('cold') > 0 AS evicted;
SELECT fallback('SELECT sum(i) FROM cold WHERE g = 3');

-- Whichever is sooner by the estimates; a forced offload waits.
SET gpuconc.cold = auto;
SELECT gpuconc_evict('cold') > 0 AS evicted;
SELECT fallback('SELECT sum(i) FROM cold WHERE g = 3');
RESET gpuconc.debug_offload;
SET gpuconc.offload_cost = 0;
-- A table written anew has no files of columns, which would be loaded sooner (gpuconc.disk_cache_size).
VACUUM (FULL) cold;
VACUUM cold;
-- PostgreSQL reads 20,000 rows sooner than they are loaded: its own plan answers, without a node ...
SELECT fallback('SELECT sum(i) FROM cold WHERE g = 3');
SELECT device_answers('SELECT sum(i) FROM cold WHERE g = 3');
-- ... which the statement itself tells at DEBUG1, ...
VACUUM (FULL) cold;
VACUUM cold;
SET client_min_messages = debug1;
SELECT sum(i) FROM cold WHERE g = 3;
RESET client_min_messages;
SELECT device_answers('SELECT sum(i) FROM cold WHERE g = 3');
-- ... but does not look sooner at all pairs of them.
SELECT gpuconc_evict('cold') > 0 AS evicted;
SELECT fallback('SELECT count(*) FROM cold a, cold b WHERE a.i < b.i AND a.g < 1 AND b.g < 2');

-- The device's time counts, too, in plans that are kept: it would not be sooner than PostgreSQL after a load.
SET gpuconc.cold = wait;
SET gpuconc.offload_cost = 4200;
PREPARE pairs AS SELECT count(*) FROM cold a, cold b WHERE a.i < b.i AND a.g < 1 AND b.g < 2 AND b.i < 800;
-- Nor are files written of a table that a session has locked.
VACUUM (FULL) cold;
VACUUM cold;
BEGIN;
LOCK TABLE cold IN EXCLUSIVE MODE;
SELECT fallback('EXECUTE pairs');
SELECT gpuconc_evict('cold') > 0 AS evicted;
COMMIT;
SET gpuconc.cold = auto;
SELECT fallback('EXECUTE pairs') ~ '^Device( Device)*$' AS waits;
SELECT device_answers('EXECUTE pairs');
DEALLOCATE pairs;
SET gpuconc.offload_cost = 0;

-- Where a query can be rewritten, PostgreSQL's own plan answers, and not that of the rewritten one.  Nor is its
-- own taken to execute a subquery for each row that it hashes.
CREATE TABLE chosen AS SELECT i * 97 AS k FROM generate_series(1, 1000) i;
CREATE TABLE owner AS SELECT i AS id, i % 7 AS g FROM generate_series(1, 100000) i;
ALTER TABLE owner ADD PRIMARY KEY (id);
CREATE TABLE owned AS SELECT i * 7919::bigint % 100000 AS owner, i % 3000 AS d FROM generate_series(1, 70000) i;
CREATE TABLE days AS SELECT i AS d, 1998 + i / 365 AS y FROM generate_series(0, 2999) i;
ALTER TABLE days ADD PRIMARY KEY (d);
VACUUM (ANALYZE) chosen, owner, owned, days;
\set query 'SELECT count(*) FROM chosen, owner WHERE k = id AND (EXISTS (SELECT 1 FROM owned, days WHERE owner = id AND owned.d = days.d AND y = 2002) OR g = 6)'
SET gpuconc.cold = wait;
SELECT fallback(:'query');
VACUUM (FULL) chosen, owner, owned, days;
VACUUM chosen, owner, owned, days;
SET gpuconc.cold = auto;
SELECT fallback(:'query');
SELECT device_answers(:'query');
DROP TABLE chosen, owner, owned, days;

-- Where the rewritten query is to wait for its loads, so does its node, though its own fallback might be a little sooner.
CREATE TABLE looked_up AS SELECT i % 1000 AS k, i % 97 AS v FROM generate_series(1, 20000) i;
CREATE INDEX ON looked_up (k);
CREATE TABLE asked AS SELECT i AS n, i * 7 % 1000 AS k, i % 100 AS x FROM generate_series(1, 2000) i;
VACUUM (ANALYZE) asked, looked_up;
\set query 'SELECT sum(n) FROM asked WHERE n < 45 AND x < (SELECT avg(v) FROM looked_up l WHERE l.k = asked.k)'
SET gpuconc.cold = wait;
SELECT fallback(:'query');
SET gpuconc.cold = auto;
SELECT gpuconc_evict('asked') + gpuconc_evict('looked_up') > 0 AS evicted;
SELECT fallback(:'query');
DROP TABLE asked, looked_up;

-- Nor by a table that was never analyzed, or has grown a hundredfold since: its rows are estimated.
CREATE TABLE fresh (i int, g int, t text) WITH (autovacuum_enabled = off);
INSERT INTO fresh SELECT i, i % 10, 'text ' || i FROM generate_series(1, 60000) i;
CREATE TABLE grew (i int, g int, t text) WITH (autovacuum_enabled = off);
INSERT INTO grew SELECT i, i % 10, 'text ' || i FROM generate_series(1, 600) i;
VACUUM (ANALYZE) grew;
INSERT INTO grew SELECT i, i % 10, 'text ' || i FROM generate_series(1, 60000) i;
SELECT fallback('SELECT sum(i) FROM fresh WHERE g = 3'), fallback('SELECT sum(i) FROM grew WHERE g = 3');
SELECT device_answers('SELECT sum(i) FROM fresh WHERE g = 3'), device_answers('SELECT sum(i) FROM grew WHERE g = 3');
DROP TABLE fresh, grew;

-- Row sources and InitPlans are not computed in vain, and what fails, fails.
SET gpuconc.debug_offload = prefer;
SET gpuconc.cold = fallback;
SELECT gpuconc_evict('cold') > 0 AS evicted;
SELECT count(*) FROM cold WHERE i = (SELECT 7 FROM generate_series(1, 1));
SELECT gpuconc_evict('cold') IS NOT NULL AS evicted;
SELECT sum(1 / (i - 1)) FROM cold;


-- The fallback's Sort knows of LIMIT.
CREATE FUNCTION sort_method(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Sort Method' THEN
			RETURN NEXT regexp_replace(trim(line), '  Memory.*', '');
		END IF;
	END LOOP;
END $$;
SELECT gpuconc_evict('cold') IS NOT NULL AS evicted;
SELECT sort_method('SELECT i, g FROM cold ORDER BY g DESC, i LIMIT 3');
DROP FUNCTION sort_method;

-- The fallback is parallel where PostgreSQL's plan is.
CREATE FUNCTION gathers(query text, how text DEFAULT 'Gather') RETURNS bool LANGUAGE plpgsql AS $$
DECLARE line text; found bool := false;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		found := found OR line ~ ('-> +' || how);
	END LOOP;
	RETURN found;
END $$;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
CREATE TABLE colder AS SELECT i, i % 10 AS g FROM generate_series(1, 20000) i;
VACUUM (ANALYZE) colder;
SELECT gathers('SELECT i, g FROM colder WHERE i < 100 ORDER BY g, i');
-- Where few rows are wanted, the workers sort.
CREATE TABLE coldest AS TABLE colder;
VACUUM (ANALYZE) coldest;
RESET gpuconc.debug_offload;
SELECT gathers('SELECT i, g FROM coldest ORDER BY g, i LIMIT 10', 'Gather Merge');
SET gpuconc.debug_offload = prefer;
DROP TABLE colder, coldest;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
DROP FUNCTION gathers;

-- A table that is dropped, or loses a column, while it is loaded.
SELECT gpuconc_evict('cold') IS NOT NULL AS evicted;
SELECT count(*), max(t) FROM cold;
ALTER TABLE cold DROP COLUMN t;
SELECT count(*), max(i) FROM cold;
DROP TABLE cold;
DROP FUNCTION fallback, device_answers;
