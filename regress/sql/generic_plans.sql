-- Generic plans: a node decides when it is executed, by the values of parameters, whether the device or PostgreSQL's own
-- plan answers.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA generic_plans;
SET search_path = generic_plans, public;
CREATE TABLE sales WITH (autovacuum_enabled = off) AS
SELECT i AS id, date '2020-01-01' + i / 50 AS day, i % 7 AS shop, (i * 7919::bigint % 1009)::int AS amount,
	CASE WHEN i % 3 > 0 THEN 0 ELSE i END AS customer
FROM generate_series(1, 60000) AS i;
ALTER TABLE sales ADD PRIMARY KEY (id);
CREATE INDEX ON sales (day);
CREATE INDEX ON sales (customer);
CREATE TABLE shops WITH (autovacuum_enabled = off) AS SELECT i AS shop, 'shop ' || i AS name, i % 3 AS area FROM generate_series(0, 6) AS i;
CREATE TABLE parted (day date, shop int, amount int) PARTITION BY RANGE (day);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM ('2020-01-01') TO ('2021-01-01') WITH (autovacuum_enabled = off);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM ('2021-01-01') TO ('2022-01-01') WITH (autovacuum_enabled = off);
CREATE TABLE parted_3 PARTITION OF parted FOR VALUES FROM ('2022-01-01') TO ('2030-01-01') WITH (autovacuum_enabled = off);
CREATE INDEX ON parted (day);
INSERT INTO parted SELECT day, shop, amount FROM sales;
CREATE TABLE clients WITH (autovacuum_enabled = off) AS SELECT i AS client, date '2020-01-01' + i / 2 AS since, i % 5 AS kind FROM generate_series(1, 5000) AS i;
ALTER TABLE clients ADD PRIMARY KEY (client);
CREATE INDEX ON clients (since);
CREATE TABLE orders WITH (autovacuum_enabled = off) AS SELECT i AS id, (i * 7919::bigint % 5000)::int AS client, i % 100 AS amount FROM generate_series(1, 60000) AS i;
CREATE INDEX ON orders (client);
VACUUM (ANALYZE) sales, shops, parted, clients, orders;
SET gpuconc.offload_cost = 50;
SET gpuconc.debug_tuple_cost = 0.0003;
SET gpuconc.debug_build_cost = 0.002;
SET max_parallel_workers_per_gather = 0;

-- Who answers a call of a prepared statement, and with what it should.
CREATE FUNCTION answers(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before record;
	after record;
	got text[];
	own text[];
BEGIN
	SELECT * INTO before FROM gpuconc_stat_get();
	got := rows_of('EXECUTE ' || call, 'allow');
	SELECT * INTO after FROM gpuconc_stat_get();
	own := rows_of('EXECUTE ' || call, 'forbid');
	RETURN concat_ws(', ', CASE WHEN after.offloaded > before.offloaded THEN 'device' ELSE 'PostgreSQL' END,
		cardinality(got) || ' rows', CASE WHEN difference(own, got) IS NOT NULL THEN 'DIFFERENT: ' || difference(own, got) END);
END $$;

-- As drivers do it: five plans for the values, then one for all.  This one is there for large ranges.
PREPARE by_shop(date, date) AS SELECT shop, count(*), sum(amount) FROM sales WHERE day >= $1 AND day < $2 GROUP BY shop ORDER BY shop;
CREATE FUNCTION offloaded(times int, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
BEGIN
	SELECT offloaded INTO before FROM gpuconc_stat_get();
	FOR i IN 1 .. times LOOP
		EXECUTE 'EXECUTE ' || call;
	END LOOP;
	RETURN format('%s of %s', (SELECT offloaded - before FROM gpuconc_stat_get()), times);
END $$;
SELECT offloaded(9, 'by_shop(''2020-01-02'', ''2023-01-01'')');
SELECT generic_plans FROM pg_prepared_statements WHERE name = 'by_shop';
-- It decides for each execution.
SET plan_cache_mode = force_generic_plan;
SELECT answers('by_shop(''2020-02-01'', ''2020-02-02'')');
SELECT answers('by_shop(''2020-02-01'', ''2023-02-02'')');
SELECT answers('by_shop(''2024-02-01'', ''2025-02-02'')');
SELECT answers('by_shop(''2023-02-01'', ''2020-02-02'')');
SELECT answers('by_shop(''2020-02-01'', NULL)');
SELECT answers('by_shop(''-infinity'', ''infinity'')');
EXPLAIN (COSTS OFF) EXECUTE by_shop('2020-02-01', '2023-02-02');
EXPLAIN (COSTS OFF) EXECUTE by_shop('2020-02-01', '2020-02-02');
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE by_shop('2020-02-01', '2020-02-02');
-- It is no request, and not a fallback; but it is counted why the device was not asked.
SELECT gpuconc_stat_reset();
EXECUTE by_shop('2020-02-01', '2020-02-02');
SELECT requests, fallbacks FROM gpuconc_stat_get();
SELECT relation, refusals, fallbacks FROM gpuconc_advise() WHERE relation = 'sales'::regclass;
-- Settings are looked at, too.
SET gpuconc.enabled = off;
SELECT answers('by_shop(''2020-02-01'', ''2023-02-02'')');
SET gpuconc.enabled = on;

-- A range of which one bound is known; computed bounds; bounds whose computation fails, or would.
PREPARE since(int) AS SELECT count(*), max(amount) FROM sales WHERE day >= date '2020-01-01' + $1 AND day < '2023-01-01';
SELECT answers(format('since(%s)', n)) FROM unnest('{0,700,1090,5000}'::int[]) AS n;
PREPARE divided(int) AS SELECT count(*) FROM sales WHERE id > 10000 / $1 AND amount > 3;
SELECT answers('divided(5)');
EXECUTE divided(0);

-- A key has one row, whatever it is; a value that is frequent has many, and others have few.
PREPARE by_key(int) AS SELECT count(*), sum(amount) FROM sales WHERE id = $1;
EXPLAIN (COSTS OFF) EXECUTE by_key(7);
PREPARE by_customer(int) AS SELECT shop, count(*), sum(amount) FROM sales WHERE customer = $1 GROUP BY shop;
SELECT answers(format('by_customer(%s)', n)) FROM unnest('{0,3,-1}'::int[]) AS n;

-- Joins, with parameters on either side; rows; their first few; DISTINCT.
PREPARE joined(date, date, int) AS
SELECT name, count(*), sum(amount) FROM sales JOIN shops USING (shop) WHERE day BETWEEN $1 AND $2 AND area <= $3 GROUP BY name ORDER BY name;
SELECT answers('joined(''2020-02-01'', ''2023-02-02'', 5)');
SELECT answers('joined(''2020-02-01'', ''2020-02-02'', 5)');
SELECT answers('joined(''2020-02-01'', ''2023-02-02'', -5)');
PREPARE of_area(int) AS SELECT name, count(*) FROM sales JOIN shops USING (shop) WHERE area = $1 GROUP BY name;
SELECT answers(format('of_area(%s)', n)) FROM unnest('{0,9}'::int[]) AS n;
-- Both tables are looked at by indexes, or none is.
PREPARE of_clients(date, date) AS
SELECT kind, count(*), sum(amount) FROM clients JOIN orders USING (client) WHERE since >= $1 AND since < $2 GROUP BY kind;
SELECT answers('of_clients(''2020-02-01'', ''2020-02-02'')');
SELECT answers('of_clients(''2020-02-01'', ''2024-02-02'')');
PREPARE first_few(date, date, bigint) AS
SELECT customer, sum(amount) FROM sales WHERE day > $1 AND day < $2 GROUP BY customer ORDER BY 2 DESC, 1 LIMIT $3;
SELECT answers(format('first_few(''2020-01-01'', ''2022-12-31'', %s)', n)) FROM unnest('{0,1,7}'::int[]) AS n;
SELECT answers('first_few(''2020-02-01'', ''2020-02-02'', 3)');
PREPARE first_ten(date, date) AS
SELECT customer, sum(amount) FROM sales WHERE day > $1 AND day < $2 GROUP BY customer ORDER BY 2 DESC, 1 LIMIT 10;
SELECT answers('first_ten(''2020-01-01'', ''2022-12-31'')');
SELECT answers('first_ten(''2020-02-01'', ''2020-02-03'')');
PREPARE single(date, date) AS SELECT DISTINCT shop FROM sales WHERE day > $1 AND day < $2;
SELECT answers('single(''2020-01-01'', ''2022-12-31'')');
SELECT answers('single(''2020-02-01'', ''2020-02-03'')');

-- Once for all rescans, as parameters do not change in an execution.
PREPARE rescanned(date, date) AS
SELECT g, n FROM generate_series(0, 3) AS g, LATERAL (SELECT count(*) AS n FROM sales WHERE day > $1 AND day < $2 AND shop <> g) AS s;
SELECT answers('rescanned(''2020-01-01'', ''2022-12-31'')');
SELECT answers('rescanned(''2020-02-01'', ''2020-02-03'')');

-- Partitions: the table's statistics are of all of them, and PostgreSQL's own plan reads those that it needs.
PREPARE of_parts(date, date) AS SELECT shop, count(*), sum(amount) FROM parted WHERE day >= $1 AND day < $2 GROUP BY shop;
SELECT answers('of_parts(''2020-02-01'', ''2023-02-02'')');
SELECT answers('of_parts(''2021-02-01'', ''2021-02-02'')');
EXPLAIN (COSTS OFF) EXECUTE of_parts('2021-02-01', '2021-02-02');
PREPARE of_union(date, date) AS
SELECT count(*), sum(amount) FROM (SELECT day, amount FROM sales UNION ALL SELECT day, amount FROM parted_1) AS u WHERE day >= $1 AND day < $2;
SELECT answers('of_union(''2020-02-01'', ''2023-02-02'')');
SELECT answers('of_union(''2021-02-01'', ''2021-02-02'')');

-- Functions keep plans, too.
CREATE FUNCTION total(a date, b date) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT sum(amount) FROM sales WHERE day >= a AND day < b);
END $$;
CREATE FUNCTION sql_total(a date, b date) RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT sum(amount) FROM sales WHERE day >= a AND day < b';
RESET plan_cache_mode;
CREATE FUNCTION calls(call text, a date, b date, times int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
	got bigint;
	expected bigint := (SELECT sum(amount) FROM unnest(ARRAY(SELECT sales FROM sales)) WHERE day >= a AND day < b);
	wrong int := 0;
BEGIN
	SELECT offloaded INTO before FROM gpuconc_stat_get();
	FOR i IN 1 .. times LOOP
		EXECUTE format('SELECT %s(%L, %L)', call, a, b) INTO got;
		wrong := wrong + (got IS DISTINCT FROM expected)::int;
	END LOOP;
	RETURN format('%s of %s by the device, %s wrong', (SELECT offloaded - before FROM gpuconc_stat_get()), times, wrong);
END $$;
SELECT calls('total', '2020-02-01', '2023-01-01', 9);
SELECT calls('sql_total', '2020-02-01', '2023-01-01', 9);
SELECT calls('sql_total', '2020-02-01', '2020-02-02', 9);

-- A cursor that goes back, over PostgreSQL's plan.
CREATE FUNCTION back_and_forth(a date, b date) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c SCROLL CURSOR FOR SELECT shop, count(*) AS n FROM sales WHERE day >= a AND day < b GROUP BY shop ORDER BY shop;
	r record;
	seen text := '';
BEGIN
	OPEN c;
	FETCH LAST FROM c INTO r;
	seen := r.shop || ' ' || r.n;
	FETCH PRIOR FROM c INTO r;
	seen := seen || ', ' || r.shop || ' ' || r.n;
	FETCH FIRST FROM c INTO r;
	CLOSE c;
	RETURN seen || ', ' || r.shop || ' ' || r.n;
END $$;
SET plan_cache_mode = force_generic_plan;
SELECT back_and_forth('2020-02-01', '2020-02-03'), back_and_forth('2020-02-01', '2023-01-01');

-- While nothing is loaded, the node decides, too: an execution that needs no columns has none loaded.
SELECT gpuconc_evict('sales') > 0 AS evicted;
SET gpuconc.cold = fallback;
PREPARE cold(date, date) AS SELECT shop, sum(amount) FROM sales WHERE day >= $1 AND day < $2 GROUP BY shop ORDER BY shop;
SELECT answers('cold(''2020-02-01'', ''2020-02-02'')');
EXPLAIN (COSTS OFF) EXECUTE cold('2020-02-01', '2023-02-02');
SELECT count(*) FROM gpuconc_cache WHERE relation = 'sales'::regclass;
SET gpuconc.cold = wait;
SELECT answers('cold(''2020-02-01'', ''2023-02-02'')');

-- Row security: functions that are not leakproof see no statistics, and the answer is the same.
CREATE ROLE generic_plans_reader;
CREATE POLICY shops_seen ON sales TO generic_plans_reader USING (shop < 3);
ALTER TABLE sales ENABLE ROW LEVEL SECURITY;
GRANT USAGE ON SCHEMA generic_plans TO generic_plans_reader;
GRANT SELECT ON sales TO generic_plans_reader;
SET ROLE generic_plans_reader;
SELECT answers('by_shop(''2020-02-01'', ''2023-02-02'')');
SELECT answers('by_shop(''2020-02-01'', ''2020-02-02'')');
RESET ROLE;
-- The owner of a view reads its table.
CREATE VIEW seen AS SELECT * FROM sales;
REVOKE SELECT ON sales FROM generic_plans_reader;
GRANT SELECT ON seen TO generic_plans_reader;
SET ROLE generic_plans_reader;
PREPARE of_view(date, date) AS SELECT shop, count(*), sum(amount) FROM seen WHERE day >= $1 AND day < $2 GROUP BY shop ORDER BY shop;
SELECT answers('of_view(''2020-02-01'', ''2023-02-02'')');
SELECT answers('of_view(''2020-02-01'', ''2020-02-02'')');
RESET ROLE;
DROP SCHEMA generic_plans CASCADE;
DROP ROLE generic_plans_reader;
