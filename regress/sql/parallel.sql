-- Beside PostgreSQL's parallel plans: as the plan that is fallen back to, and with
-- queries inside of functions that parallel workers call.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT shop, sum(price) FROM sales GROUP BY shop;
SELECT check_same('SELECT shop, sum(price), count(*) FROM sales GROUP BY shop');
SELECT check_same('SELECT id, price FROM sales WHERE quantity = 5');
SELECT check_same('SELECT r_name, count(*) FROM sales JOIN shop ON shop = s_id JOIN region ON s_region = r_id GROUP BY r_name');
-- fallen back to, once and again
SELECT check_same('SELECT sum(nw), count(*) FROM extremes, sales WHERE extremes.id = sales.id');
SELECT check_same('SELECT x, (SELECT sum(nw) FROM extremes WHERE id > x) FROM generate_series(1, 5) AS x');
SELECT check_same('SELECT s_id, q.* FROM shop LEFT JOIN LATERAL (SELECT count(*), max(nw) FROM extremes WHERE id = s_id) q ON true');
SELECT check_error('SELECT sum(10 / (id - 5)) FROM types');
SELECT check_error('SELECT sum(10 / (id - 5)) FROM types GROUP BY nn');
-- row sources below its Gather: of a function, each process reads its own; of a subquery, the Gather goes
CREATE FUNCTION public.few(n int) RETURNS SETOF int LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 40 AS $$BEGIN RETURN QUERY SELECT generate_series(1, n); END$$;
CREATE TABLE public.apart WITH (parallel_workers = 0) AS SELECT i AS a, nullif(i % 7, 3) AS b FROM generate_series(1, 80) AS i;
CREATE TABLE public.many AS SELECT i % 97 AS g, i % 211 / 9.0 AS v FROM generate_series(1, 20000) AS i;
VACUUM ANALYZE public.apart, public.many;
CREATE FUNCTION public.own_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Gather|Gpuconc|Scan on|Fallback' THEN
			RETURN NEXT regexp_replace(line, ' \(actual.*', '');
		END IF;
	END LOOP;
	RETURN NEXT coalesce(difference(rows_of(query, 'forbid'), rows_of(query, 'allow')), 'no difference');
END $$;
SET gpuconc.debug_offload = allow;
SET gpuconc.debug_tuple_cost = 0;
SET gpuconc.debug_build_cost = 0;
SELECT own_plan('SELECT sum(v * v * v * v * v * v * v * v), count(*), sum(x) FROM many JOIN few(30) AS x ON g = x');
SELECT own_plan('SELECT sum(v * v * v * v * v * v * v * v), count(*), max(b) FROM many JOIN (SELECT DISTINCT ON (a % 50) a, b FROM apart ORDER BY a % 50, a) AS y ON g = a');
RESET gpuconc.debug_tuple_cost;
RESET gpuconc.debug_build_cost;
DROP FUNCTION public.few, public.own_plan;
DROP TABLE public.apart, public.many;
-- cursors stop early
SET gpuconc.debug_offload = allow;
BEGIN;
DECLARE c CURSOR FOR SELECT nw FROM extremes WHERE nw > 0 ORDER BY nw;
FETCH 2 FROM c;
COMMIT;
-- queries in parallel workers run there, on PostgreSQL's own plan
CREATE FUNCTION public.in_worker(i int) RETURNS bigint LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$BEGIN RETURN (SELECT count(*) FROM cached.sales WHERE shop = i); END$$;
SELECT count(set_config(name, 'on', false)) AS forced FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SET gpuconc.debug_offload = forbid;
SELECT sum(in_worker(nn)), count(*) FROM types WHERE id < 60;
SET gpuconc.debug_offload = allow;
SELECT sum(in_worker(nn)), count(*) FROM types WHERE id < 60;
SELECT check_same('SELECT id, in_worker(nn) FROM types WHERE id < 60');
SELECT check_same('SELECT count(*), sum(m) FROM (SELECT id, stddev(i4) OVER () AS m FROM types) q');
SELECT check_same('SELECT shop, sum(price) FROM sales WHERE shop IN (SELECT s_id FROM shop WHERE s_region = 2) GROUP BY shop');
SELECT count(set_config(name, 'off', false)) AS forced FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
DROP FUNCTION public.in_worker;
