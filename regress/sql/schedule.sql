-- How requests are scheduled, and what is shown of it: settings, every policy, the
-- views of batches and kernels, the timeline, privileges, resets.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE ROLE regress_gpuconc_user;
CREATE ROLE regress_gpuconc_stats IN ROLE pg_read_all_stats;
SELECT current_setting('gpuconc.schedule') AS initial \gset

-- settings: bad values, and where they may be set
SET gpuconc.schedule = streams;
SET gpuconc.enable_shared_scan = off;
SET gpuconc.debug_schedule_seed = 2;
SET gpuconc.debug_hold_requests = 2;
SET gpuconc.batch_log_size = 10;
\set VERBOSITY default
ALTER SYSTEM SET gpuconc.schedule = fastest;
\set VERBOSITY terse
ALTER SYSTEM SET gpuconc.schedule = '';
ALTER SYSTEM SET gpuconc.enable_shared_scan = sometimes;
ALTER SYSTEM SET gpuconc.debug_schedule_seed = -1;
ALTER SYSTEM SET gpuconc.debug_schedule_seed = 2147483648;
ALTER SYSTEM SET gpuconc.batch_log_size = 0;
ALTER SYSTEM SET gpuconc.batch_log_size = 65537;
ALTER SYSTEM SET gpuconc.debug_hold_requests = -1;
ALTER SYSTEM SET gpuconc.debug_hold_requests = 1025;
SET ROLE regress_gpuconc_user;
ALTER SYSTEM SET gpuconc.schedule = streams;
RESET ROLE;

-- the views' columns
SELECT attrelid::regclass AS view, attname AS column, format_type(atttypid, atttypmod) AS type FROM pg_attribute
WHERE attrelid IN ('gpuconc_stat_batches'::regclass, 'gpuconc_stat_kernels'::regclass) AND attnum > 0 ORDER BY attrelid::regclass::text, attnum;

-- The node's properties after the worker has come to use a policy, which it does some
-- time after a reload.
CREATE FUNCTION public.run_under(policy text, query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	j jsonb;
BEGIN
	PERFORM set_config('gpuconc.debug_offload', 'require', true);
	FOR i IN 1 .. 100000 LOOP
		EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, FORMAT JSON) ' || query INTO j;
		j := jsonb_path_query_first(j, '$.** ? (@."Custom Plan Provider" starts with "Gpuconc")');
		EXIT WHEN j ->> 'Schedule' = policy;
		PERFORM pg_sleep(0.01);
	END LOOP;
	PERFORM set_config('gpuconc.debug_offload', 'allow', true);
	RETURN j;
END $$;

-- The batch of that number, once it is over.
CREATE FUNCTION public.batch(wanted bigint) RETURNS gpuconc_stat_batches LANGUAGE plpgsql AS $$
DECLARE
	b gpuconc_stat_batches;
BEGIN
	FOR i IN 1 .. 100000 LOOP
		SELECT * INTO b FROM gpuconc_stat_batches WHERE id = wanted;
		EXIT WHEN FOUND;
		PERFORM pg_sleep(0.01);
	END LOOP;
	RETURN b;
END $$;

-- Several queries under a policy: is it used, is it logged, is the answer right?
CREATE FUNCTION public.check_policy(policy text) RETURNS TABLE (verdict text, used text, logged text, alone boolean) LANGUAGE plpgsql AS $$
DECLARE
	query text;
	j jsonb;
	b gpuconc_stat_batches;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT count(*), sum(price), min(day) FROM sales WHERE quantity < 25',
		'SELECT y, r_name, sum(price) FROM sales s, calendar c, shop, region WHERE s.day = c.day AND shop = s_id AND s_region = r_id AND m < 7 GROUP BY y, r_name',
		'SELECT product, customer, count(*) FROM sales WHERE quantity = 7 GROUP BY product, customer',
		'SELECT id, c_name FROM sales JOIN customer ON customer = c_id WHERE quantity > 48'] LOOP
		j := run_under(policy, query);
		b := batch((j ->> 'Batch')::bigint);
		verdict := check_same(query);
		used := j ->> 'Schedule';
		logged := b.schedule;
		alone := b.kernels = 1 AND b.failed = 0 AND b.shared_scans = 0 AND (j ->> 'Batch Requests')::int = 1 AND (j ->> 'Shared Scan Requests')::int = 1;
		RETURN NEXT;
	END LOOP;
END $$;

ALTER SYSTEM SET gpuconc.schedule = sequential;
SELECT pg_reload_conf();
SELECT * FROM check_policy('sequential');
ALTER SYSTEM SET gpuconc.schedule = streams;
SELECT pg_reload_conf();
SELECT * FROM check_policy('streams');
ALTER SYSTEM SET gpuconc.schedule = random;
ALTER SYSTEM SET gpuconc.debug_schedule_seed = 0;
SELECT pg_reload_conf();
SELECT * FROM check_policy('random');
ALTER SYSTEM SET gpuconc.debug_schedule_seed = 2147483647;
SELECT pg_reload_conf();
SELECT * FROM check_policy('random');
ALTER SYSTEM SET gpuconc.schedule = kernel;
SELECT pg_reload_conf();
SELECT * FROM check_policy('kernel');
ALTER SYSTEM SET gpuconc.schedule = twostage;
ALTER SYSTEM SET gpuconc.enable_shared_scan = off;
SELECT pg_reload_conf();
SELECT * FROM check_policy('twostage');
ALTER SYSTEM RESET gpuconc.enable_shared_scan;
SELECT pg_reload_conf();
SELECT * FROM check_policy('twostage');

-- contents
SELECT DISTINCT schedule FROM gpuconc_stat_batches ORDER BY schedule;
SELECT count(*) = count(DISTINCT id) AS ids, min(id) > 0 AS positive, bool_and(started_at <= clock_timestamp() AND started_at > clock_timestamp() - interval '1 hour') AS started,
	bool_and(kernels = 1) AS kernels, bool_and(patterns >= 0 AND batches_planned >= 0 AND waiting = 0 AND co_running = 0) AS plan,
	bool_and(predicted_time > 0) IS DISTINCT FROM false AS predicted, bool_and(actual_time >= 0) AS actual, bool_and(decision_time >= 0) AS decision, max(failed) AS failed
FROM gpuconc_stat_batches WHERE schedule = 'kernel';
SELECT bool_and(kernel ~ '^[0-9a-f]{16}$') AS kernel, count(*) = count(DISTINCT (kernel, kind)) AS once, bool_and(kind IN ('kernel', 'shared scan')) AS kind, bool_and(launches > 0 AND requests >= launches) AS counts,
	bool_and(abs(mean_time * launches - total_time) <= 1e-6 * total_time) AS mean, bool_and(min_time <= mean_time * (1 + 1e-5)) AS least, bool_and(alone_time > 0) IS DISTINCT FROM false AS alone, bool_and(prediction_error >= 0) IS DISTINCT FROM false AS error,
	bool_and(registers >= 0 AND shared_memory >= 0 AND threads > 0) AS shape, bool_and(last_launch <= clock_timestamp() AND last_launch > clock_timestamp() - interval '1 hour') AS launched
FROM gpuconc_stat_kernels;
-- a kernel that comes again is one row, launched once more
SELECT kernel AS first, launches AS before FROM gpuconc_stat_kernels ORDER BY last_launch DESC LIMIT 1 \gset
SELECT count((batch((run_under('twostage', 'SELECT id, c_name FROM sales JOIN customer ON customer = c_id WHERE quantity > 48') ->> 'Batch')::bigint)).id) FROM generate_series(1, 3);
SELECT sum(launches) > :before AS more FROM gpuconc_stat_kernels WHERE kernel IN (SELECT kernel FROM gpuconc_stat_kernels ORDER BY last_launch DESC LIMIT 1) OR kernel = :'first';
-- a request that PostgreSQL's plan has to answer after all
SELECT max(id) AS last FROM gpuconc_stat_batches \gset
SELECT max(abs(i4)) FROM extremes;
SELECT failed, kernels FROM batch(:last + 1);

-- the timeline
SELECT gpuconc_timeline() AS timeline \gset
SELECT jsonb_object_keys(:'timeline') AS key ORDER BY key;
SELECT :'timeline'::jsonb ->> 'displayTimeUnit' AS unit, :'timeline'::jsonb -> 'otherData' ->> 'device' = name AS device FROM gpuconc_devices;
CREATE TEMP TABLE event AS
SELECT e ->> 'ph' AS ph, e ->> 'cat' AS cat, e ->> 'name' AS name, (e ->> 'pid')::int AS pid, (e ->> 'tid')::int AS tid, (e ->> 'ts')::numeric AS ts, (e ->> 'dur')::numeric AS dur, e -> 'args' AS args
FROM jsonb_array_elements(:'timeline'::jsonb -> 'traceEvents') AS e;
SELECT ph, cat, min(args_keys) AS args, count(DISTINCT args_keys) AS kinds FROM event, LATERAL (SELECT string_agg(k, ', ' ORDER BY k) AS args_keys FROM jsonb_object_keys(args) AS k) AS a
WHERE ph = 'X' GROUP BY ph, cat ORDER BY cat;
SELECT DISTINCT ph, name, args ->> 'name' AS process FROM event WHERE ph = 'M' AND name <> 'thread_name' ORDER BY 2, 3;
SELECT count(*) AS without_name FROM event AS e WHERE ph = 'X' AND NOT EXISTS (SELECT FROM event AS m WHERE m.name = 'thread_name' AND m.pid = e.pid AND m.tid = e.tid AND m.args ->> 'name' <> '');
SELECT count(*) FILTER (WHERE cat = 'batch') = 100 AS batches, count(*) FILTER (WHERE cat IN ('kernel', 'shared scan')) = sum((args ->> 'kernels')::int) FILTER (WHERE cat = 'batch') AS kernels,
	min(ts) = 0 AS origin, min(ts) >= 0 AND min(dur) >= 0 AS times FROM event WHERE ph = 'X';
SELECT count(*) AS of_kernels, bool_and(name = left(args ->> 'kernel', 8)) AS named, bool_and((args ->> 'pid')::int = pg_backend_pid()) AS own, bool_and((args ->> 'blocks')::int > 0 AND (args ->> 'members')::int >= 1) AS shape FROM event WHERE cat = 'kernel';
SELECT count(*) AS overlapping FROM event AS a JOIN event AS b USING (ph, pid, tid) WHERE ph = 'X' AND (a.ts, a.ctid) < (b.ts, b.ctid) AND a.ts + a.dur > b.ts + 0.01;
SELECT count(*) AS without_batch FROM event AS e WHERE cat = 'kernel' AND NOT EXISTS (SELECT FROM event AS b WHERE b.cat = 'batch' AND b.args -> 'batch' = e.args -> 'batch' AND b.ts <= e.ts);
-- so many as there are, as are asked for, none
CREATE FUNCTION public.batches_in(timeline json) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM json_array_elements(timeline -> 'traceEvents') AS e WHERE e ->> 'cat' = 'batch'
$$;
SELECT batches_in(gpuconc_timeline(1)) AS one, batches_in(gpuconc_timeline(7)) AS seven, batches_in(gpuconc_timeline(0)) AS none, batches_in(gpuconc_timeline(2147483647)) = count(*) AS all, gpuconc_timeline(NULL) AS unknown FROM gpuconc_stat_batches;
SELECT json_array_length(gpuconc_timeline(0) -> 'traceEvents') AS events;
\set VERBOSITY default
SELECT gpuconc_timeline(-1);
\set VERBOSITY terse
SELECT gpuconc_timeline(batches => -2147483648);
SELECT gpuconc_timeline('many');
DO $$ BEGIN PERFORM gpuconc_timeline(-1); EXCEPTION WHEN invalid_parameter_value THEN RAISE WARNING 'has the right code'; END $$;

-- more batches than are kept
SELECT max(id) AS last FROM gpuconc_stat_batches \gset
SET gpuconc.debug_offload = require;
DO $$
BEGIN
	FOR i IN 1 .. least(current_setting('gpuconc.batch_log_size')::int, 1000) + 3 LOOP
		PERFORM count(*) FROM shop WHERE s_id > i;
	END LOOP;
END $$;
RESET gpuconc.debug_offload;
SELECT least(current_setting('gpuconc.batch_log_size')::int, 1000) AS size \gset
SELECT (batch(:last + :size + 3)).schedule;
SELECT count(*) = :size AS kept, max(id) - min(id) + 1 = count(*) AS newest, min(id) > :last AS replaced FROM (SELECT id FROM gpuconc_stat_batches ORDER BY id DESC LIMIT :size) AS b;
SELECT count(*) <= current_setting('gpuconc.batch_log_size')::int AS no_more FROM gpuconc_stat_batches;

-- privileges: the own session's requests, or all with pg_read_all_stats
SET ROLE regress_gpuconc_user;
SELECT count(*) > 0 AS own FROM gpuconc_stat_batches;
SELECT batches_in(gpuconc_timeline(5)) AS own;
SELECT count(*) > 0 AS any, count(kernel) AS named, count(last_launch) AS dated FROM gpuconc_stat_kernels;
SELECT gpuconc_stat_reset();
\c -
SELECT count(*) > 0 AS all, batches_in(gpuconc_timeline(5)) AS five FROM gpuconc_stat_batches;
SET ROLE regress_gpuconc_user;
SELECT count(*) AS others FROM gpuconc_stat_batches;
SELECT batches_in(gpuconc_timeline()) AS others, json_array_length(gpuconc_timeline() -> 'traceEvents') AS events;
SELECT count(*) > 0 AS any, count(kernel) AS named, count(last_launch) AS dated FROM gpuconc_stat_kernels;
SET ROLE regress_gpuconc_stats;
SELECT count(*) > 0 AS all FROM gpuconc_stat_batches;
SELECT batches_in(gpuconc_timeline(5)) AS five;
SELECT count(*) > 0 AS any, count(kernel) = count(*) AS named, count(last_launch) = count(*) AS dated FROM gpuconc_stat_kernels;
RESET ROLE;

-- reset with the other statistics; numbers go on
SET gpuconc.enabled = on;
SET gpuconc.offload_cost = 0;
SET search_path = cached, public;
SELECT max(id) AS last FROM gpuconc_stat_batches \gset
SELECT gpuconc_stat_reset();
SELECT count(*) AS batches FROM gpuconc_stat_batches;
SELECT count(*) AS kernels FROM gpuconc_stat_kernels;
SELECT json_array_length(gpuconc_timeline() -> 'traceEvents') AS events;
SELECT (batch((run_under('twostage', 'SELECT count(*) FROM shop') ->> 'Batch')::bigint)).id > :last AS goes_on;
SELECT count(*) AS batches FROM gpuconc_stat_batches;
SELECT count(*) AS kernels, sum(launches) AS launches FROM gpuconc_stat_kernels;

ALTER SYSTEM RESET gpuconc.schedule;
ALTER SYSTEM RESET gpuconc.debug_schedule_seed;
SELECT pg_reload_conf();
SELECT run_under(:'initial', 'SELECT count(*) FROM shop') ->> 'Schedule' = :'initial' AS as_before;
DROP FUNCTION public.check_policy, public.run_under, public.batch, public.batches_in;
DROP ROLE regress_gpuconc_user, regress_gpuconc_stats;
