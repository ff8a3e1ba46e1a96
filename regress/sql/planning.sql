-- Results of planning a statement are used for the next of its shape, as long as they hold.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA planned;
SET search_path = planned, public;
CREATE TABLE facts WITH (autovacuum_enabled = off) AS
SELECT i, i % 10 AS a, i % 200 AS b, i % 20 AS c, (i * 7919::bigint % 10007)::int AS v FROM generate_series(1, 60000) AS i;
ALTER TABLE facts ADD PRIMARY KEY (i);
CREATE TABLE da WITH (autovacuum_enabled = off) AS SELECT i AS id, i % 3 AS g FROM generate_series(0, 9) AS i;
CREATE TABLE db WITH (autovacuum_enabled = off) AS SELECT i AS id, i % 7 AS g, i AS u FROM generate_series(0, 199) AS i;
CREATE TABLE dc WITH (autovacuum_enabled = off) AS SELECT i AS id, i % 5 AS g FROM generate_series(0, 19) AS i;
VACUUM (ANALYZE) facts, da, db, dc;
SET gpuconc.offload_cost = 50;
SET gpuconc.debug_tuple_cost = 0.0003;
SET gpuconc.debug_build_cost = 0.002;
SET max_parallel_workers_per_gather = 0;

-- Is the plan PostgreSQL's or ours, and what does EXPLAIN say of planning it?
CREATE FUNCTION whose(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	reason text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF, VERBOSE) ' || query LOOP
		IF line ~ 'Custom Scan .Gpuconc' THEN
			RETURN 'gpuconc';
		END IF;
		reason := coalesce(substring(line FROM 'not offloaded: .*'), reason);
	END LOOP;
	RETURN rtrim('PostgreSQL ' || reason);
END $$;

-- A query's answer with what is remembered of it, three times, against PostgreSQL's own; and how often it fell back.
CREATE FUNCTION same_answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	used bigint;
	fell_back bigint;
	diff text := '';
	expected text[];
BEGIN
	expected := rows_of(query, 'forbid');
	SELECT offloaded, fallbacks INTO used, fell_back FROM gpuconc_stat_get();
	FOR i IN 1..3 LOOP
		diff := diff || coalesce(difference(expected, rows_of(query, 'allow')), '');
	END LOOP;
	SELECT offloaded - used, fallbacks - fell_back INTO used, fell_back FROM gpuconc_stat_get();
	RETURN concat(format('%s rows, offloaded %s times, fell back %s times', cardinality(expected), used, fell_back), ', differs: ' || nullif(diff, ''));
END $$;

-- Left to PostgreSQL, and passed over the second time, with the same reason; but not with constants that select more.
SELECT whose('SELECT sum(v) FROM facts WHERE i < 10');
SET client_min_messages = debug2;
EXPLAIN (COSTS OFF) SELECT sum(v) FROM facts WHERE i < 12;
EXPLAIN (COSTS OFF) SELECT sum(v) FROM facts WHERE i < 50000;
RESET client_min_messages;
SELECT n, whose(format('SELECT sum(v) FROM facts WHERE i < %s', n)) FROM unnest('{10,50000,11,12,50001,13,14,15,50002}'::int[]) AS n;
SELECT n, whose(format('SELECT v, u FROM facts, db WHERE b = db.id AND v %% 2 = 0 AND facts.i < %s ORDER BY v LIMIT 5', n)) FROM unnest('{3,4,60000,5,60000}'::int[]) AS n;
-- The cheapest path was above a node of ours: its cost is no limit for PostgreSQL's own.
SELECT whose('SELECT i, v, sum(c) FROM facts GROUP BY i, v ORDER BY i LIMIT 5');
SET client_min_messages = debug2;
EXPLAIN (COSTS OFF) SELECT i, v, sum(c) FROM facts GROUP BY i, v ORDER BY i LIMIT 5;
RESET client_min_messages;
-- A table that grows, though nothing has analyzed it.
CREATE TABLE grows (k int, v int) WITH (autovacuum_enabled = off);
INSERT INTO grows SELECT i, i FROM generate_series(1, 10) AS i;
SELECT whose('SELECT sum(v) FROM grows WHERE k > 0') FROM generate_series(1, 3);
INSERT INTO grows SELECT i, i FROM generate_series(1, 100000) AS i;
VACUUM grows;
SELECT whose('SELECT sum(v) FROM grows WHERE k > 0') FROM generate_series(1, 2);
-- Settings, indexes, and what is offloaded at all.
SELECT whose('SELECT sum(v) FROM facts WHERE i = 77') FROM generate_series(1, 2);
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT whose('SELECT sum(v) FROM facts WHERE i = 77') FROM generate_series(1, 2);
RESET enable_indexscan;
RESET enable_bitmapscan;
SELECT whose('SELECT sum(v) FROM facts WHERE i = 77') FROM generate_series(1, 2);
ALTER TABLE facts DROP CONSTRAINT facts_pkey;
SELECT whose('SELECT sum(v) FROM facts WHERE i = 77') FROM generate_series(1, 2);
ALTER TABLE facts ADD PRIMARY KEY (i);
SELECT whose('SELECT sum(v) FROM facts WHERE i = 77') FROM generate_series(1, 2);
SELECT whose('SELECT sum(v) FROM facts') FROM generate_series(1, 2);
SET gpuconc.offload_cost = 1e9;
SELECT whose('SELECT sum(v) FROM facts') FROM generate_series(1, 2);
SET gpuconc.offload_cost = 50;
SELECT whose('SELECT sum(v) FROM facts') FROM generate_series(1, 2);
SELECT whose('SELECT sum(pg_column_size(v)) FROM facts') FROM generate_series(1, 2);
-- A verdict is no answer: debug_offload has its own.
SELECT whose('SELECT v FROM facts WHERE i = 5') FROM generate_series(1, 2);
SET gpuconc.debug_offload = prefer;
SELECT whose('SELECT v FROM facts WHERE i = 5') FROM generate_series(1, 2);
SET gpuconc.debug_offload = allow;
SELECT whose('SELECT v FROM facts WHERE i = 5') FROM generate_series(1, 2);
-- Any setting that plans depend on, of PostgreSQL's and gpuconc's, until it is taken back.
CREATE FUNCTION whose_twice(query text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(split_part(whose(query), ' ', 1), ', ') FROM generate_series(1, 2)
$$;
CREATE FUNCTION whose_with(setting text, before text, value text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	PERFORM set_config(setting, before, true);
	answer := whose_twice(query);
	BEGIN
		PERFORM set_config(setting, value, true);
		answer := answer || '; ' || whose_twice(query);
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
		answer := answer || '; ' || whose_twice(query);
	END;
	RAISE division_by_zero;
EXCEPTION WHEN division_by_zero THEN
	RETURN answer;
END $$;
CREATE TABLE times WITH (autovacuum_enabled = off) AS SELECT timestamptz '2000-01-01 UTC' + i * interval '1 hour' AS t FROM generate_series(1, 20000) AS i;
VACUUM (ANALYZE) times;
SELECT setting, whose_with(setting, before, value, q) FROM (VALUES
	('enable_indexscan', 'on', 'off', 'SELECT v FROM facts ORDER BY i LIMIT 5'),
	('random_page_cost', '4', '400', 'SELECT sum(v) FROM facts WHERE i < 2000'),
	('enable_seqscan', 'off', 'on', 'SELECT sum(a) FROM facts WHERE i < 10000'),
	('gpuconc.offload_cost', '5000', '50', 'SELECT sum(b) FROM facts WHERE i < 20000'),
	('gpuconc.debug_tuple_cost', '0.1', '0.0003', 'SELECT sum(c) FROM facts WHERE i < 20000'),
	('TimeZone', 'Europe/Berlin', 'UTC', 'SELECT max(t + interval ''1 day'') FROM times')
) AS s (setting, before, value, q);
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET gpuconc.offload_cost = 600;
SELECT whose_with('max_parallel_workers_per_gather', '8', '0', 'SELECT sum(v) FROM facts WHERE v % 7 = 1');
SET gpuconc.offload_cost = 50;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
-- For a transaction, and for a function.
SELECT whose_twice('SELECT v FROM facts ORDER BY i LIMIT 6');
BEGIN;
SET LOCAL enable_indexscan = off;
SELECT whose_twice('SELECT v FROM facts ORDER BY i LIMIT 6');
COMMIT;
SELECT whose_twice('SELECT v FROM facts ORDER BY i LIMIT 6');
ALTER FUNCTION whose SET enable_indexscan = off;
SELECT whose_twice('SELECT v FROM facts ORDER BY i LIMIT 6');
ALTER FUNCTION whose RESET enable_indexscan;
SELECT whose_twice('SELECT v FROM facts ORDER BY i LIMIT 6');
-- A statement of equal text, of other tables.
CREATE SCHEMA planned_too;
CREATE TABLE planned_too.da WITH (autovacuum_enabled = off) AS SELECT i AS id, i % 3 AS g FROM generate_series(0, 99999) AS i;
VACUUM (ANALYZE) planned_too.da;
SELECT whose('SELECT sum(id) FROM da') FROM generate_series(1, 2);
SET search_path = planned_too, planned, public;
SELECT whose('SELECT sum(id) FROM da') FROM generate_series(1, 2);
SET search_path = planned, public;
SELECT whose('SELECT sum(id) FROM da') FROM generate_series(1, 2);
CREATE TEMP TABLE da AS SELECT i AS id FROM generate_series(1, 100000) AS i;
VACUUM (ANALYZE) pg_temp.da;
SELECT whose('SELECT sum(id) FROM da'), sum(id) FROM da;
DROP TABLE pg_temp.da;
SELECT whose('SELECT sum(id) FROM da'), sum(id) FROM da;

-- Joins of which PostgreSQL's order does not matter: made once more in that order, with the same plan and answer.
CREATE FUNCTION star(g int, u int) RETURNS text LANGUAGE sql RETURN format(
	'SELECT dc.g, sum(v), count(*) FROM facts, da, db, dc WHERE a = da.id AND b = db.id AND c = dc.id AND da.g = %s AND db.u < %s GROUP BY dc.g', g, u);
SELECT star(1, 150) AS star_1, star(2, 150) AS star_2, star(1, 2) AS star_few \gset
CREATE TEMP TABLE plans (n serial, line text);
CREATE FUNCTION note_plan(query text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		INSERT INTO plans (line) VALUES (line);
	END LOOP;
END $$;
SELECT note_plan(:'star_1');
SELECT string_agg(line, E'\n' ORDER BY n) AS plan FROM plans \gset
TRUNCATE plans;
SET client_min_messages = debug2;
EXPLAIN (COSTS OFF) :star_2;
EXPLAIN (COSTS OFF) :star_few;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) :star_2;
RESET enable_nestloop;
RESET client_min_messages;
SELECT note_plan(:'star_1');
SELECT string_agg(line, E'\n' ORDER BY n) = :'plan' AS same_plan FROM plans;
SELECT same_answer(q) FROM unnest(ARRAY[:'star_1', :'star_2', :'star_few', :'star_1']) AS q;
-- A function that is called meanwhile sets the setting that such joins are made with; afterwards it is as before.
CREATE FUNCTION sets() RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
	PERFORM set_config('enable_mergejoin', 'on', true);
	RETURN 1;
END $$;
\set sets 'SELECT dc.g, sum(v), count(*) FROM facts, da, db, dc WHERE a = da.id AND b = db.id AND c = dc.id AND (da.g = sets() OR db.u < 30) GROUP BY dc.g'
SELECT same_answer(:'sets');
:sets ORDER BY 1;
SET client_min_messages = debug2;
EXPLAIN (COSTS OFF) :sets ORDER BY 1;
RESET client_min_messages;
SHOW enable_mergejoin;
CREATE INDEX ON db (u);
SET client_min_messages = debug2;
EXPLAIN (COSTS OFF) :star_2;
RESET client_min_messages;
-- PostgreSQL read no table, so no filter is tried alone; with another constant one is PostgreSQL's, whose rows the node then reads.
CREATE TABLE dn WITH (autovacuum_enabled = off) AS SELECT i AS id, i % 3 AS g, (i::numeric / 7)::numeric(8,2) AS n FROM generate_series(0, 199) AS i;
VACUUM (ANALYZE) dn;
CREATE FUNCTION rounded(digits int) RETURNS text LANGUAGE sql RETURN format('SELECT g, sum(v), count(*) FROM facts, dn WHERE b = dn.id AND round(n, %s) < 20 GROUP BY g', digits);
SELECT digits, same_answer(rounded(digits)) FROM unnest(ARRAY[1, 40, 2, 41, 1]) AS digits;
SELECT rounded(1) AS rounded_1, rounded(40) AS rounded_40 \gset
EXPLAIN (COSTS OFF) :rounded_1;
EXPLAIN (COSTS OFF) :rounded_1;
EXPLAIN (COSTS OFF) :rounded_40;
-- A subquery of FROM that went along with the outermost level is offered with that only, but not where it is a node itself.
SELECT 'SELECT count(*), sum(f) FROM (SELECT e.b, max(x.v) AS f FROM facts e, (SELECT b, max(v) AS v FROM facts GROUP BY b) x WHERE x.b = e.b GROUP BY e.b) q' AS along \gset
SELECT 'SELECT da.g, sum(v) FROM facts, da WHERE a = da.id GROUP BY da.g EXCEPT SELECT a, max(v) FROM facts GROUP BY a' AS apart \gset
SELECT whose(q), same_answer(q), whose(q) FROM unnest(ARRAY[:'along', :'apart']) AS q;
SET client_min_messages = debug2;
EXPLAIN (COSTS OFF) :along;
EXPLAIN (COSTS OFF) :apart;
-- A table that was changed is looked at anew, and so is the statement with another setting.
ALTER TABLE facts ALTER v SET STATISTICS 50;
EXPLAIN (COSTS OFF) :along;
EXPLAIN (COSTS OFF) :along;
SET enable_material = off;
EXPLAIN (COSTS OFF) :along;
RESET enable_material;
SET client_min_messages = warning;
-- Nodes may stand in an expression, too, or in a subquery of FROM themselves: no subquery further in is offered alone.
SELECT 'SELECT count(*), sum(f), (SELECT max(s) FROM (SELECT a, sum(v) AS s FROM facts GROUP BY a) t) FROM (SELECT e.b, max(x.v) AS f FROM facts e, (SELECT b, max(v) AS v FROM facts GROUP BY b) x WHERE x.b = e.b GROUP BY e.b) q' AS beside \gset
SELECT 'SELECT b, max(s) FROM (SELECT a, b, sum(v) AS s FROM facts GROUP BY a, b) t GROUP BY b EXCEPT SELECT a, max(v) FROM facts GROUP BY a' AS further_in \gset
-- SELECTs of UNION ALL that have no row, as a condition is false, are joined in a known order like the others.
SELECT 'WITH y AS (SELECT 1 AS k, da.g, sum(v) AS s FROM facts, da WHERE a = da.id GROUP BY da.g UNION ALL SELECT 2, db.u, sum(v) FROM facts, db WHERE b = db.id GROUP BY db.u) SELECT p.g, p.s, q.s AS t FROM y p, y q WHERE p.k = 1 AND q.k = 2 AND p.g = q.g AND p.g = 1' AS empty_arms \gset
-- So is a subquery that reads another one's groups, at another depth.
SELECT 'SELECT x.g, x.s, y.n FROM (SELECT da.g, sum(v) AS s FROM facts, da WHERE a = da.id GROUP BY da.g) x, (SELECT s, count(*) AS n FROM (SELECT da.g, sum(v) AS s FROM facts, da WHERE a = da.id GROUP BY da.g) t GROUP BY s) y WHERE x.s = y.s' AS at_two_depths \gset
SELECT whose(q), same_answer(q), whose(q) FROM unnest(ARRAY[:'beside', :'further_in', :'empty_arms', :'at_two_depths']) AS q;
-- A node of a part of what a level joins is offered again, though PostgreSQL itself reads no table.
SELECT whose(q), same_answer(q), whose(q) FROM unnest(ARRAY[
	'SELECT g.k, x.s FROM (SELECT k, count(*) AS n FROM generate_series(0, 9) AS k GROUP BY k) AS g LEFT JOIN (SELECT i, sum(v) AS s FROM facts GROUP BY i) AS x ON x.i = g.k',
	'SELECT g.k, x.s, (SELECT max(v) FROM facts) FROM (SELECT k, count(*) AS n FROM generate_series(0, 9) AS k GROUP BY k) AS g LEFT JOIN (SELECT i, sum(v) AS s FROM facts GROUP BY i) AS x ON x.i = g.k'
]) AS q;
SET client_min_messages = debug2;
SELECT whose(:'beside');
SELECT whose(:'further_in');
SELECT whose(:'empty_arms');
SELECT whose(:'at_two_depths');
RESET client_min_messages;
-- Outer and semi joins.
SELECT whose(q), same_answer(q) FROM unnest(ARRAY[
	'SELECT da.g, count(db.id), sum(v) FROM facts JOIN da ON a = da.id LEFT JOIN db ON b = db.id AND db.u < 50 LEFT JOIN dc ON c = dc.id AND dc.g = 1 GROUP BY da.g',
	'SELECT da.g, sum(v) FROM facts, da WHERE a = da.id AND EXISTS (SELECT 1 FROM db WHERE db.id = b AND u < 70) AND NOT EXISTS (SELECT 1 FROM dc WHERE dc.id = c AND dc.g = 2) GROUP BY da.g',
	'SELECT sum(v) FROM facts, da WHERE a = da.id AND b IN (SELECT id FROM db WHERE u < 20) AND v < (SELECT avg(id) FROM dc WHERE dc.g = da.g)'
]) AS q;
-- The fallback is PostgreSQL's plan in that order.
CREATE TABLE odd WITH (autovacuum_enabled = off) AS SELECT i AS id, i % 3 AS g, CASE WHEN i = 5 THEN numeric 'NaN' ELSE i END AS n FROM generate_series(0, 9) AS i;
VACUUM (ANALYZE) odd;
SELECT 'SELECT dc.g, sum(n), count(*) FROM facts, odd, db, dc WHERE a = odd.id AND b = db.id AND c = dc.id GROUP BY dc.g' AS falls_back \gset
SELECT whose(:'falls_back'), same_answer(:'falls_back');
SET client_min_messages = debug2;
EXPLAIN (COSTS OFF) :falls_back;
RESET client_min_messages;
-- A table that goes, and one that comes in its place.
DROP TABLE odd;
:falls_back;
CREATE TABLE odd WITH (autovacuum_enabled = off) AS SELECT i AS id, i % 3 AS g, i AS n FROM generate_series(0, 9) AS i;
VACUUM (ANALYZE) odd;
SELECT whose(:'falls_back'), same_answer(:'falls_back');

-- Roles, row security and privileges.
CREATE ROLE regress_gpuconc_planner;
GRANT USAGE ON SCHEMA planned TO regress_gpuconc_planner;
GRANT SELECT ON ALL TABLES IN SCHEMA planned TO regress_gpuconc_planner;
ALTER TABLE facts ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON facts USING (a < 2);
SELECT count(*), sum(v) FROM facts WHERE c < 15;
SELECT count(*), sum(v) FROM facts WHERE c < 15;
SET ROLE regress_gpuconc_planner;
SELECT count(*), sum(v) FROM facts WHERE c < 15;
SELECT count(*), sum(v) FROM facts WHERE c < 16;
RESET ROLE;
SELECT count(*), sum(v) FROM facts WHERE c < 15;
DROP POLICY few ON facts;
CREATE POLICY few ON facts USING (a < 1);
SET ROLE regress_gpuconc_planner;
SELECT count(*), sum(v) FROM facts WHERE c < 15;
RESET ROLE;
CREATE VIEW seen AS SELECT facts.v, dc.g FROM facts, dc WHERE c = dc.id;
GRANT SELECT ON seen TO regress_gpuconc_planner;
SET ROLE regress_gpuconc_planner;
SELECT sum(v) FROM seen WHERE g < 3;
SELECT sum(v) FROM seen WHERE g < 3;
RESET ROLE;
REVOKE SELECT ON seen FROM regress_gpuconc_planner;
SET ROLE regress_gpuconc_planner;
SELECT sum(v) FROM seen WHERE g < 3;
RESET ROLE;
-- Prepared statements, by custom and by generic plans, and functions that are planned in.
PREPARE by_key(int) AS SELECT sum(v) FROM facts WHERE i < $1;
EXECUTE by_key(10);
EXECUTE by_key(50000);
EXECUTE by_key(11);
SET plan_cache_mode = force_generic_plan;
EXECUTE by_key(50000);
EXECUTE by_key(12);
RESET plan_cache_mode;
ALTER TABLE facts ADD COLUMN w int DEFAULT 1;
EXECUTE by_key(50000);
SELECT whose('SELECT sum(w) FROM facts WHERE v < 9000') FROM generate_series(1, 2);
-- More lookup tables than names are kept of, which differ by constants alone: none is taken for another.
CREATE TABLE words WITH (autovacuum_enabled = off) AS SELECT 'w' || i % 150 AS t, i AS v FROM generate_series(1, 3000) AS i;
VACUUM (ANALYZE) words;
SELECT check_here(format(q, i)), count(*) FROM unnest(ARRAY[
	'SELECT sum(v) FROM words WHERE position(''%s'' in t) > 0', 'SELECT max(replace(t, ''w'', ''%s'')), sum(v) FROM words WHERE left(t, %1$s %% 4) = ''w1'''
]) AS q, generate_series(1, 100) AS i GROUP BY 1 ORDER BY 1;

-- Joins that drop no row stand in one order, whatever part of the rows is left before them.
SELECT DISTINCT substring(line FROM 'Stream: .*') FROM generate_series(20, 60) AS n, plan_of(format('
	SELECT sum(facts.v + da.g + same.a + dc.g) FROM facts, da, db, dc, facts AS same
	WHERE facts.a = da.id AND facts.b = db.id AND facts.c = dc.id AND facts.i = same.i AND u < %s', n)) AS line WHERE line ~ 'Stream: ';

SET client_min_messages = warning;
DROP SCHEMA planned, planned_too CASCADE;
DROP ROLE regress_gpuconc_planner;
