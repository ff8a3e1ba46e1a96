-- How many groups are expected of expressions that have fewer values than their columns: costs decide by it.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE events (id int, at timestamp, tz timestamptz, d date, kind text, total numeric(10,2)) WITH (autovacuum_enabled = off);
INSERT INTO events SELECT i, timestamp '2022-11-05' + i * interval '20 min', timestamptz '2022-11-05' + i * interval '20 min', date '2022-11-05' + i / 50, 'kind ' || i % 4, i * 7919 % 100000 / 100.0
FROM generate_series(1, 30000) AS i;
CREATE TABLE parts (LIKE events) PARTITION BY RANGE (at);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM ('2020-01-01') TO ('2023-07-01') WITH (autovacuum_enabled = off);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM ('2023-07-01') TO ('2030-01-01') WITH (autovacuum_enabled = off);
INSERT INTO parts SELECT * FROM events;
SELECT settle();
VACUUM (FREEZE, ANALYZE) events, parts;

CREATE FUNCTION public.check_groups(query text, OUT rows bigint, OUT estimate text, OUT verdict text) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	verdict := check_here(query);
	rows := cardinality(rows_of(query, 'forbid'));
	PERFORM set_config('gpuconc.debug_offload', 'require', true);
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	PERFORM set_config('gpuconc.debug_offload', 'allow', true);
	estimate := plan -> 0 -> 'Plan' ->> 'Plan Rows';
	estimate := CASE WHEN estimate::bigint BETWEEN rows AND 2 * rows + 6 THEN 'near' ELSE estimate END;
END $$;

-- EXPLAIN where costs decide.
CREATE FUNCTION public.planned(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query;
END $$;

SELECT q, (check_groups(q)).* FROM unnest(ARRAY[
	'SELECT date_trunc(''month'', at), sum(total) FROM events GROUP BY 1', 'SELECT date_trunc(''day'', tz), count(*) FROM events GROUP BY 1', 'SELECT date_trunc(''hour'', at), count(*) FROM events WHERE id > 0 GROUP BY 1', 'SELECT date_trunc(''quarter'', d), max(total) FROM events GROUP BY 1 ORDER BY 1', 'SELECT at::date, min(total) FROM events GROUP BY 1 ORDER BY 1 DESC',
	'SELECT extract(dow FROM tz), count(*) FROM events GROUP BY 1', 'SELECT extract(year FROM at) AS y, extract(month FROM at) AS m, count(*) FROM events GROUP BY 1, 2', 'SELECT extract(hour FROM at), kind, avg(total) FROM events GROUP BY 1, 2', 'SELECT DISTINCT date_trunc(''year'', tz) FROM events', 'SELECT date_trunc(''month'', at) + interval ''1 month'', kind, count(*) FROM events GROUP BY 1, 2',
	'SELECT CASE WHEN id % 2 = 0 THEN ''even'' ELSE ''odd'' END, count(*) FROM events GROUP BY 1', 'SELECT total > 500, count(*) FROM events GROUP BY 1', 'SELECT to_char(at, ''YYYY-MM''), count(*) FROM events GROUP BY 1', 'SELECT date_trunc(''month'', at), count(*) FROM parts GROUP BY 1', 'SELECT id, count(*) FROM events GROUP BY 1', 'SELECT date_trunc(''minute'', at), count(*) FROM events GROUP BY 1',
	'SELECT m, count(*) FROM (SELECT date_trunc(''month'', at) AS m, kind, sum(total) FROM events GROUP BY 1, 2) q GROUP BY 1', 'SELECT date_trunc(''month'', at), count(DISTINCT kind) FROM events GROUP BY 1', 'SELECT date_trunc(''month'', e.at), count(*) FROM events AS e JOIN events AS f USING (id) GROUP BY 1'
]) AS q;
-- joins to groups, and sorts: one node has it all where costs decide
SELECT q, (check_groups(q)).*, (SELECT count(*) FILTER (WHERE line ~ 'Gpuconc') = 1 AND NOT bool_or(line ~ 'Sort|Aggregate') FROM planned(q) AS line) AS whole FROM unnest(ARRAY[
	'SELECT a.m, a.s, b.s FROM (SELECT date_trunc(''month'', tz) AS m, sum(total) AS s FROM events GROUP BY 1) a LEFT JOIN (SELECT date_trunc(''month'', tz) + interval ''1 month'' AS m, sum(total) AS s FROM events GROUP BY 1) b USING (m) ORDER BY 1', 'SELECT a.m, a.s, b.s FROM (SELECT date_trunc(''month'', tz) AS m, sum(total) AS s FROM events GROUP BY 1) a JOIN (SELECT date_trunc(''month'', tz) AS m, sum(total) AS s FROM events WHERE kind <> ''kind 1'' GROUP BY 1) b USING (m) ORDER BY 1'
]) AS q;
-- each row of what is joined may have a match
SELECT q, (check_groups(q)).* FROM unnest(ARRAY[
	'SELECT e.id, b.s FROM events AS e LEFT JOIN (SELECT extract(dow FROM tz)::int AS m, sum(total) AS s FROM events GROUP BY 1) b ON id = m'
]) AS q;

DROP FUNCTION public.check_groups(text), public.planned(text);
DROP TABLE events, parts;
