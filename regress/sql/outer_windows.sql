-- Windows of a query's own level on the device: over rows, groups and grouping sets, with order, LIMIT and DISTINCT above.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- check_same(), if the device computes all windows; else says who does.
CREATE FUNCTION public.check_outer(query text, OUT verdict text) LANGUAGE plpgsql AS $$
DECLARE
	nodes text;
BEGIN
	verdict := check_same(query);
	SELECT string_agg(DISTINCT node, ', ') INTO nodes FROM plan_of(query) AS line, substring(line FROM 'WindowAgg|Rows: ') AS node;
	IF nodes IS DISTINCT FROM 'Rows: ' THEN
		verdict := verdict || ', ' || coalesce(nodes, 'session');
	END IF;
END $$;

-- the session's windows are dear
SET gpuconc.debug_build_cost = 0;
SET gpuconc.debug_tuple_cost = 0;
SET cpu_operator_cost = 1;
SELECT f, check_outer(format('SELECT id, %s OVER (PARTITION BY nn ORDER BY id) FROM types', f)) AS partitions,
	check_outer(format('SELECT id, nt, tx, f8, %s OVER (ORDER BY i4 DESC NULLS LAST, id) + id AS v FROM types WHERE id %% 7 < 5', f)) AS one
FROM unnest(ARRAY['row_number()', 'rank()', 'lag(i4)', 'first_value(nn)', 'count(*)', 'count(i4)', 'sum(i4)', 'sum(i8)', 'avg(i4)', 'avg(n)', 'min(n)', 'max(i8)', 'ntile(1)', 'ntile(7)', 'ntile(2147483647)', 'count(*) FILTER (WHERE b)', 'count(i2) FILTER (WHERE nt < ''H'' OR b IS NULL)', 'sum(i4) FILTER (WHERE i4 > 0)', 'avg(n) FILTER (WHERE nn = 3)', 'max(d) FILTER (WHERE id < 0)', 'min(i8) FILTER (WHERE 10 / nullif(i2, 0) > 1)',
	'percent_rank()', 'cume_dist()', 'lag(i4, 3)', 'lead(n, 2, 0.555)', 'lag(i8, -4, id)', 'lag(i4, i2::int4 % 5)', 'lead(id, NULL)', 'lead(id, (-2147483648)::int4, id)', 'nth_value(n, 3)', 'nth_value(id, 2147483647)']) AS f;

-- frames of rows at constant distances, with none and with all of a partition
SELECT frame, check_outer(format('SELECT id, count(*) OVER w, count(i4) OVER w, sum(i4) OVER w, sum(id) OVER w, sum(n) OVER w, avg(i8) OVER w, first_value(i4) OVER w, last_value(id) OVER w, lag(i2) OVER w, ntile(4) OVER w FROM types WINDOW w AS (PARTITION BY b ORDER BY id %s)', frame)) AS partitions,
	check_outer(format('SELECT id, count(*) FILTER (WHERE b) OVER w, avg(n) OVER w, first_value(id) OVER w FROM types WINDOW w AS (ORDER BY nn DESC, id %s)', frame)) AS one
FROM unnest(ARRAY['ROWS 2 PRECEDING', 'ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW', 'ROWS CURRENT ROW', 'ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING', 'ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING', 'ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING', 'ROWS BETWEEN 2 FOLLOWING AND 9 FOLLOWING',
	'ROWS BETWEEN 1 PRECEDING AND 4 PRECEDING', 'ROWS 9223372036854775807 PRECEDING', 'ROWS BETWEEN CURRENT ROW AND 9223372036854775807 FOLLOWING', 'ROWS BETWEEN 9223372036854775807 FOLLOWING AND UNBOUNDED FOLLOWING', 'ROWS BETWEEN UNBOUNDED PRECEDING AND 3 PRECEDING', 'ROWS BETWEEN UNBOUNDED PRECEDING AND 0 FOLLOWING', 'ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING']) AS frame;

-- frames of peers and of ranges, and what they leave out
SELECT frame, check_outer(format('SELECT id, count(*) OVER w, count(i4) OVER w, sum(n) OVER w, avg(i8) OVER w, first_value(i4) OVER w, last_value(id) OVER w, nth_value(id, 2) OVER w FROM types WINDOW w AS (PARTITION BY b ORDER BY id %s)', frame)) AS partitions,
	check_outer(format('SELECT id, count(*) FILTER (WHERE b) OVER w, sum(n) OVER w, count(*) OVER w FROM types WINDOW w AS (ORDER BY nn DESC NULLS LAST %s)', frame)) AS one
FROM unnest(ARRAY['GROUPS 2 PRECEDING', 'GROUPS BETWEEN 1 PRECEDING AND 3 FOLLOWING EXCLUDE GROUP', 'GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE TIES', 'GROUPS BETWEEN 9223372036854775807 PRECEDING AND 1 PRECEDING', 'GROUPS BETWEEN 2 PRECEDING AND 4 PRECEDING EXCLUDE TIES',
	'RANGE 2 PRECEDING', 'RANGE BETWEEN 1 PRECEDING AND 3 FOLLOWING EXCLUDE TIES', 'RANGE BETWEEN 5 FOLLOWING AND UNBOUNDED FOLLOWING', 'RANGE BETWEEN CURRENT ROW AND CURRENT ROW EXCLUDE CURRENT ROW', 'RANGE BETWEEN 9223372036854775807 PRECEDING AND 4 PRECEDING EXCLUDE GROUP', 'RANGE BETWEEN 3 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW', 'RANGE UNBOUNDED PRECEDING EXCLUDE TIES',
	'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE GROUP']) AS frame;
SELECT c, o, check_outer(format('SELECT id, count(*) OVER (ORDER BY %1$I RANGE %2$s PRECEDING), sum(id) OVER (PARTITION BY nn ORDER BY %1$I DESC RANGE BETWEEN %2$s PRECEDING AND %2$s FOLLOWING), count(*) OVER (ORDER BY %1$I NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND %2$s FOLLOWING EXCLUDE TIES), max(i4) OVER (ORDER BY %1$I RANGE BETWEEN UNBOUNDED PRECEDING AND %2$s PRECEDING), count(*) OVER (ORDER BY %1$I RANGE BETWEEN UNBOUNDED PRECEDING AND %2$s PRECEDING), count(*) OVER (ORDER BY %1$I DESC RANGE BETWEEN %2$s FOLLOWING AND UNBOUNDED FOLLOWING) FROM types', c, o)) AS verdict
FROM (VALUES ('i2', '3::int2'), ('i4', '7'), ('i8', '3000000000'), ('n', '0.195'), ('nw', '100'), ('n0', '2'), ('d', 'interval ''10 days'''), ('ts', 'interval ''3 days 02:00'''), ('ts', 'interval ''36 hours''')) AS x (c, o);

SELECT q, check_outer(q) AS verdict FROM unnest(ARRAY[
	'SELECT id, min(i4) OVER w, max(n) OVER w FROM types WINDOW w AS (PARTITION BY nn ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING)',
	'SELECT id, sum(i4) OVER (ORDER BY id ROWS 1 PRECEDING), sum(i4) OVER (ORDER BY id ROWS 3 PRECEDING), sum(i4) OVER (ORDER BY id) FROM types',
	'SELECT nn, sum(sum(id)) OVER (ORDER BY nn ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM types GROUP BY nn',
	'SELECT x.*, r_name FROM (SELECT id, nn, sum(i4) OVER (ORDER BY id ROWS 2 PRECEDING) AS s, last_value(id) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS l FROM types) AS x JOIN region ON r_id = nn WHERE l > 7 OR l IS NULL',
	-- expressions of PostgreSQL's above, and none of a row
	'SELECT id, to_char(rank() OVER (ORDER BY id), ''099'') || nt, upper(nt), n * 100 / nullif(sum(n) OVER (PARTITION BY nn ORDER BY id), 0), 17 FROM types',
	'SELECT sum(i4) OVER (ORDER BY id) FROM types WHERE id + 0 < 0',
	'SELECT count(*) OVER () FROM types WHERE id + 0 = 7 OR id + 0 > 5000',
	'SELECT id, rank() OVER w, sum(i4) OVER w, count(*) OVER (PARTITION BY b), dense_rank() OVER (ORDER BY nt DESC) FROM types WINDOW w AS (PARTITION BY b, nn ORDER BY i2)',
	'SELECT t.id, c_name, c_city, rank() OVER (PARTITION BY c_city ORDER BY t.id) FROM types AS t LEFT JOIN customer ON c_id = t.nn',
	'SELECT id, sum((SELECT max(r_id) FROM region) + i4) OVER (ORDER BY id) FROM types',
	'SELECT x.id, x.s, rank() OVER (ORDER BY x.s, x.id) FROM (SELECT id, sum(i4) OVER (PARTITION BY nn ORDER BY id) AS s FROM types) AS x WHERE x.s > 0',
	-- order, LIMIT, DISTINCT
	'SELECT id, rank() OVER (PARTITION BY nn ORDER BY id) AS r FROM types ORDER BY r DESC, id LIMIT 7 OFFSET 2',
	'SELECT id, nt, sum(i4) OVER (PARTITION BY nn ORDER BY id) AS s FROM types ORDER BY s DESC NULLS LAST, id DESC LIMIT 20',
	'SELECT id, count(*) OVER (PARTITION BY nn) AS c FROM types ORDER BY nt, c, id LIMIT 5',
	'SELECT id, row_number() OVER (ORDER BY id) AS r FROM types ORDER BY r FETCH FIRST 3 ROWS WITH TIES',
	'SELECT DISTINCT nn, count(*) OVER (PARTITION BY nn) AS c FROM types ORDER BY c, nn LIMIT 4',
	'SELECT DISTINCT ON (nn) nn, id, rank() OVER (ORDER BY id) AS r FROM types ORDER BY nn, id DESC',
	'SELECT * FROM (SELECT id, nn, rank() OVER (PARTITION BY nn ORDER BY id) AS r FROM types OFFSET 0) AS x WHERE r < 4',
	-- groups
	'SELECT nn, b, sum(n), rank() OVER (PARTITION BY nn ORDER BY sum(n) DESC, b), avg(sum(n)) OVER (PARTITION BY nn ORDER BY b), sum(n) * 100 / nullif(sum(sum(n)) OVER (PARTITION BY b ORDER BY nn), 0) FROM types GROUP BY nn, b',
	'SELECT nt, i2 % 10, count(*), max(tx), rank() OVER (ORDER BY count(*) DESC, nt, i2 % 10) AS r FROM types GROUP BY nt, i2 % 10 HAVING sum(i4) > 0 ORDER BY r DESC LIMIT 9',
	'SELECT nn, count(DISTINCT i2), rank() OVER (ORDER BY count(DISTINCT i2) DESC, nn) FROM types GROUP BY nn',
	'SELECT nn, rank() OVER (ORDER BY sum(f8 * 0) DESC, nn) FROM types GROUP BY nn',
	-- grouping sets, as in TPC-DS 36, 67, 70 and 86
	'SELECT nt, nn, sum(i4), GROUPING(nt) + GROUPING(nn) AS level, rank() OVER (PARTITION BY GROUPING(nt) + GROUPING(nn), CASE WHEN GROUPING(nn) = 0 THEN nt END ORDER BY sum(i4) DESC, nt, nn) AS r FROM types GROUP BY ROLLUP (nt, nn) ORDER BY level DESC, CASE WHEN GROUPING(nt) + GROUPING(nn) = 0 THEN nt END, r LIMIT 100',
	'SELECT nt, nn, r FROM (SELECT nt, nn, s, rank() OVER (PARTITION BY nt ORDER BY s DESC) AS r FROM (SELECT nt, nn, sum(coalesce(n * i2, 0)) AS s FROM types GROUP BY ROLLUP (nt, nn)) AS x) AS y WHERE r <= 3',
	'SELECT nt, nn, sum(CASE WHEN b THEN 1 ELSE 1.00 END), rank() OVER (ORDER BY sum(CASE WHEN b THEN 1 ELSE 1.00 END)) FROM types GROUP BY ROLLUP (nt, nn)',
	'SELECT * FROM (SELECT nt, nn, b, s, c, rank() OVER (PARTITION BY nt ORDER BY s DESC, nn, b) AS r FROM (SELECT nt, nn, b, sum(coalesce(i8, 0)) AS s, count(DISTINCT i2) AS c FROM types GROUP BY ROLLUP (nt, nn, b)) AS x) AS y WHERE r <= 3',
	'SELECT nn, b, GROUPING(nn, b), count(*), sum(count(*)) OVER (PARTITION BY GROUPING(nn, b) ORDER BY nn, b) FROM types GROUP BY CUBE (nn, b) HAVING count(*) > 1 OR GROUPING(nn) = 1',
	'SELECT nn, nt, max(n), row_number() OVER (ORDER BY nn, nt, max(n)) FROM types GROUP BY GROUPING SETS ((nn), (nt), (nn))',
	'SELECT nn, count(*), sum(count(*)) OVER (ORDER BY nn) FROM types WHERE id + 0 < 0 GROUP BY GROUPING SETS ((nn), (id))',
	'SELECT x.*, r_name FROM (SELECT nn, g, a, rank() OVER (ORDER BY g, nn, id) AS r FROM (SELECT nn, id, GROUPING(nn, id) AS g, max(n) AS a FROM types GROUP BY CUBE (nn, id)) AS y) AS x JOIN region ON r_id = x.nn']) AS q;
-- a set's groups are not unique by what they are grouped by
SELECT q, check_whole(q) AS verdict FROM unnest(ARRAY[
	'SELECT id, x.* FROM types LEFT JOIN (SELECT nn, GROUPING(nn) AS g, avg(n) AS a FROM types GROUP BY GROUPING SETS ((nn), (nn), ())) AS x ON x.nn = types.nn',
	'SELECT r_name, x.* FROM region JOIN (SELECT nn, b, GROUPING(nn, b) AS g, count(DISTINCT i2) AS c FROM types GROUP BY ROLLUP (nn, b) HAVING GROUPING(nn) = 0) AS x ON r_id = x.nn']) AS q;

-- what adds up the groups of all sets has each row once for each set
CREATE TABLE public.added AS SELECT i AS id, i % 2 AS a, i % 3 AS b, 9000000000000000 + i AS v, 2000000 + i % 2 AS w FROM generate_series(1, 1000) AS i;
VACUUM ANALYZE public.added;
SELECT check_outer('SELECT id, a, sum(sum(w)) OVER (), sum(sum(v)) OVER (ORDER BY id, a, GROUPING(id, a)), sum(sum(w)) OVER (ORDER BY id, a, GROUPING(id, a) ROWS 1 PRECEDING) FROM public.added GROUP BY CUBE (id, a)');
SELECT q, check_whole(q) AS verdict FROM unnest(ARRAY[
	'SELECT sum(s), count(*), avg(s), max(c) FROM (SELECT sum(v) AS s, count(*) AS c FROM public.added GROUP BY GROUPING SETS ((a), (b), ())) AS x',
	'SELECT sum(s), sum(w) FROM (SELECT sum(s) AS s, sum(w) AS w FROM (SELECT a, b, sum(v) AS s, sum(w) AS w FROM public.added GROUP BY CUBE (a, b)) AS x GROUP BY CUBE (a, b)) AS y',
	'SELECT sum(s) FROM (SELECT sum(v) AS s FROM public.added GROUP BY a UNION ALL SELECT sum(v) FROM public.added GROUP BY CUBE (a, b)) AS x']) AS q;
DROP TABLE public.added;

-- of no row, a grouping set without columns has a group, which PostgreSQL's plan makes
SELECT q, check_same(q) AS verdict FROM unnest(ARRAY[
	'SELECT nn, count(*), GROUPING(nn), sum(count(*)) OVER (ORDER BY nn) FROM types WHERE id + 0 < 0 GROUP BY ROLLUP (nn, id)',
	'SELECT x.c, r_id FROM (SELECT nn, count(*) AS c FROM types WHERE id < 0 GROUP BY CUBE (nn)) AS x RIGHT JOIN region ON r_id = x.c']) AS q;

EXPLAIN (COSTS OFF) SELECT id, nt, rank() OVER (PARTITION BY nn ORDER BY id) AS r FROM types ORDER BY r DESC, id LIMIT 7;
EXPLAIN (COSTS OFF) SELECT nt, nn, rank() OVER (PARTITION BY GROUPING(nt) ORDER BY sum(i4) DESC) FROM types GROUP BY ROLLUP (nt, nn, id);
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT id, rank() OVER (ORDER BY id) AS r FROM types OFFSET 0) AS x WHERE r < 4;

-- rescans with other values, and a cursor that goes back
SELECT check_outer('SELECT s.*, q.* FROM generate_series(1, 3) AS s, LATERAL (SELECT id, rank() OVER (ORDER BY i4 DESC, id) AS r FROM types WHERE id % 3 = s - 1) AS q');
SET gpuconc.debug_offload = require;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, row_number() OVER (ORDER BY id DESC), count(*) OVER () FROM types WHERE id BETWEEN 3 AND 7 ORDER BY id;
FETCH 2 FROM c;
FETCH LAST FROM c;
FETCH BACKWARD 2 FROM c;
COMMIT;
RESET gpuconc.debug_offload;

-- the session's, or PostgreSQL's
SELECT q, check_outer(q) AS verdict FROM unnest(ARRAY[
	'SELECT id, ntile(nullif(id, 1)::int4) OVER (ORDER BY id) FROM types',
	'SELECT id, lag(tx) OVER (ORDER BY id) FROM types',
	'SELECT id, sum(f8) OVER (ORDER BY id) FROM types',
	'SELECT id, rank() OVER (ORDER BY id), count(tx) FILTER (WHERE b) OVER (ORDER BY id), max(tx) FILTER (WHERE b) OVER (ORDER BY id) FROM types',
	'SELECT sum(i4), rank() OVER (ORDER BY sum(i4)) FROM types',
	'SELECT id, rank() OVER (ORDER BY id), random() < 2 FROM types',
	'SELECT id, sum(i4) OVER (ORDER BY f8 RANGE 2 PRECEDING) FROM types',
	'SELECT id, sum(i4) OVER (ORDER BY d RANGE ''1 month'' PRECEDING) FROM types',
	'SELECT id, sum(i4) OVER (ORDER BY tz RANGE ''1 day'' PRECEDING) FROM types',
	'SELECT id, sum(i4) OVER (ORDER BY id RANGE -1 PRECEDING) FROM types',
	'SELECT id, lag(i4, id, 3) OVER (ORDER BY id) FROM types',
	'SELECT id, nth_value(i4, id) OVER (ORDER BY id) FROM types',
	'SELECT id, nth_value(i4, 0) OVER (ORDER BY id) FROM types',
	'SELECT id, max(i4) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW) FROM types',
	'SELECT nn, first_value(nn) OVER (PARTITION BY b ORDER BY nn ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING EXCLUDE TIES) FROM types',
	'SELECT id, max(i4) OVER (ORDER BY id ROWS 2 PRECEDING) FROM types',
	'SELECT id, sum(i4) OVER (ORDER BY id ROWS (SELECT 2) PRECEDING) FROM types',
	'SELECT x.*, r_name FROM (SELECT id, nn, to_char(rank() OVER (ORDER BY id), ''9999'') AS c FROM types) AS x JOIN region ON r_id = nn']) AS q;
DROP FUNCTION public.check_outer(text);
