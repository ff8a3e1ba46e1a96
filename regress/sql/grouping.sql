-- DISTINCT, and grouping sets.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- SELECT DISTINCT: columns, expressions, constants, NULL, every type, no rows
SELECT check_same('SELECT DISTINCT shop FROM sales');
SELECT check_same('SELECT DISTINCT customer, city, quantity FROM sales WHERE price > 500');
SELECT check_same('SELECT DISTINCT shop + 1, upper(city), customer, 5, ''x'' FROM sales');
SELECT check_same('SELECT DISTINCT 5 FROM sales');
SELECT check_same('SELECT DISTINCT 5 FROM sales WHERE id < 0');
SELECT check_same('SELECT DISTINCT NULL::int, customer FROM sales');
SELECT check_same('SELECT DISTINCT shop, shop FROM sales');
SELECT check_same('SELECT DISTINCT b, i2, i4, i8, n, d, ts, tz, tx, vc, bc, di, dn, dt, dd FROM types');
SELECT check_same('SELECT DISTINCT b IS NULL, nn % 3 FROM types');
SELECT check_same('SELECT DISTINCT s_name, quantity FROM sales JOIN shop ON shop = s_id');
SELECT check_same('SELECT DISTINCT s_name, quantity FROM sales LEFT JOIN shop ON shop = s_id AND s_id < 10');
SELECT check_same('SELECT DISTINCT customer FROM sales WHERE id < 0');
SELECT check_error('SELECT DISTINCT 1 / (id - 7) FROM sales');
-- above and below it
SELECT check_same('SELECT DISTINCT shop, city FROM sales ORDER BY city, shop');
SELECT check_same('SELECT count(*), sum(q) FROM (SELECT DISTINCT shop AS s, quantity AS q FROM sales OFFSET 0) x');
SELECT check_same('SELECT * FROM (SELECT DISTINCT price FROM sales ORDER BY price DESC LIMIT 7) q');
SELECT check_same('SELECT * FROM (SELECT DISTINCT customer FROM sales ORDER BY customer DESC NULLS FIRST LIMIT 7 OFFSET 2) q');
SELECT check_same('SELECT DISTINCT shop FROM sales UNION SELECT DISTINCT s_id FROM shop');
SELECT check_same('SELECT count(*) FROM sales WHERE shop IN (SELECT DISTINCT s_id FROM shop WHERE s_id < 9)');
SELECT check_same('SELECT s_name, (SELECT count(*) FROM (SELECT DISTINCT city FROM sales WHERE shop = s_id) q) FROM shop WHERE s_id < 4');
SELECT plan_of('SELECT DISTINCT shop, city FROM sales');
SELECT plan_of('SELECT DISTINCT price FROM sales ORDER BY price DESC LIMIT 7');
-- PostgreSQL makes these distinct itself: rows from the device, groups
SELECT check_same('SELECT DISTINCT ON (shop) shop, price FROM sales ORDER BY shop, price');
SELECT check_same('SELECT DISTINCT shop, row_number() OVER (PARTITION BY shop ORDER BY id) FROM sales WHERE id < 500');
SELECT check_same('SELECT DISTINCT count(*) FROM sales GROUP BY customer');
SELECT check_same('SELECT DISTINCT quantity FROM sales GROUP BY quantity, shop ORDER BY quantity LIMIT 3');
SELECT plan_of('SELECT DISTINCT count(*) FROM sales GROUP BY customer');

-- grouping sets: every aggregate; NULLs that are values and NULLs that are not
SELECT check_same('SELECT shop, count(*) FROM sales GROUP BY ROLLUP (shop)');
SELECT check_same('SELECT shop, city, count(*), count(note), sum(price), avg(price), min(note), max(quantity), stddev(price), bool_or(price > 999), bit_and(quantity), bit_or(quantity), GROUPING(shop, city) FROM sales GROUP BY CUBE (shop, city)');
SELECT check_same('SELECT shop, city, quantity, count(*), sum(customer), avg(customer), count(customer), GROUPING(city), GROUPING(quantity, shop) FROM sales GROUP BY ROLLUP (shop, city, quantity)');
SELECT check_same('SELECT customer, city, count(*), max(customer), min(customer), GROUPING(customer) FROM sales GROUP BY GROUPING SETS ((customer), (city), (), (), (customer))');
SELECT check_same('SELECT b, nn, d, count(*), GROUPING(b, nn, d) FROM types GROUP BY GROUPING SETS (ROLLUP (b, nn), CUBE (nn, d), (b, d))');
SELECT check_same('SELECT b, nn, count(*), GROUPING(b, nn) FROM types GROUP BY DISTINCT ROLLUP (b, nn), ROLLUP (b)');
SELECT check_same('SELECT b, i2, n, tx, bc, count(*), sum(n), avg(i8), GROUPING(b, i2, n, tx, bc) FROM types GROUP BY CUBE (b, i2, n, tx, bc)');
SELECT check_same('SELECT id, city, count(*) FROM sales GROUP BY CUBE (id, city)');
SELECT check_near('SELECT shop, sum(weight) AS a, avg(weight * quantity) AS b, min(weight) AS c, max(weight) AS d FROM sales GROUP BY ROLLUP (shop) ORDER BY shop');
-- twelve columns, and many sets
SELECT check_same('SELECT b, i2, i4, i8, n, d, ts, tz, tx, vc, bc, nn, count(*), sum(n), avg(i8), GROUPING(b, i2, i4, i8, n, d, ts, tz, tx, vc, bc, nn) FROM types GROUP BY ROLLUP (b, i2, i4, i8, n, d, ts, tz, tx, vc, bc, nn)');
SELECT check_same('SELECT count(*), sum(c), sum(g) FROM (SELECT count(*) AS c, GROUPING(b, i2, n, d, tx, bc, nn, vc) AS g FROM types WHERE id < 100 GROUP BY CUBE (b, i2, n, d, tx, bc, nn, vc) OFFSET 0) q');
-- so many groups and sets that a block keeps those of coarse sets to itself
SELECT check_aggregated('SELECT a, b, f, h, count(*), sum(price), max(city), GROUPING(a, b, d, e, f, g, h, i) FROM (SELECT *, id % 4 AS a, id / 4 % 3 AS b, id / 12 % 3 AS d, id / 36 % 3 AS e, id / 108 % 3 AS f, id / 324 % 3 AS g, nullif(id / 972 % 3, 1) AS h, id / 2916 % 3 AS i FROM sales) r GROUP BY CUBE (a, b, d, e, f, g, h, i)');
-- no rows: only a set without columns has a group
SELECT check_same('SELECT customer, city, count(*), sum(price) FROM sales WHERE id < 0 GROUP BY CUBE (customer, city)');
SELECT check_same('SELECT customer, city, count(*), sum(price) FROM sales WHERE id < 0 GROUP BY GROUPING SETS ((customer), (city))');
SELECT check_same('SELECT count(*), sum(price), max(note) FROM sales WHERE id < 0 GROUP BY GROUPING SETS ((), ())');
SELECT check_same('SELECT count(*), sum(price) FROM sales GROUP BY GROUPING SETS ((), ())');
SELECT check_same('SELECT count(*) FROM sales GROUP BY ()');
-- sums beyond 64 bits; errors; scales that differ from group to group
SELECT check_same('SELECT id % 3, sum(i8::numeric * 1000000), avg(i8) FROM types GROUP BY ROLLUP (1)');
SELECT check_same('SELECT nn, sum(i8 * 900000), sum(CASE WHEN b THEN n ELSE 0 END), count(*) FILTER (WHERE b) FROM types GROUP BY ROLLUP (nn)');
SELECT check_error('SELECT shop, sum(id / (id - 7)) FROM sales GROUP BY ROLLUP (shop)');
SELECT check_error('SELECT id % 3, sum(i8 * 2) FROM extremes GROUP BY CUBE (1)');
-- joins, expressions, columns that a key determines, HAVING, order, windows
SELECT check_same('SELECT s_name, quantity, count(*) FROM sales LEFT JOIN shop ON shop = s_id AND s_id < 10 GROUP BY CUBE (s_name, quantity)');
SELECT check_same('SELECT s_id, s_name, quantity, count(*) FROM sales JOIN shop ON shop = s_id GROUP BY s_id, ROLLUP (quantity)');
SELECT check_same('SELECT shop + 1, upper(city), sum(price) * 2 FROM sales GROUP BY ROLLUP (shop + 1, upper(city))');
SELECT check_same('SELECT shop, shop + 1, count(*) FROM sales GROUP BY ROLLUP (shop)');
SELECT check_same('SELECT shop, shop + 1, count(*) FROM sales GROUP BY ROLLUP (shop, shop + 1)');
SELECT check_same('SELECT shop, city, sum(price) FROM sales GROUP BY shop, ROLLUP (city, quantity) HAVING sum(price) > 5000 AND GROUPING(city) = 0');
SELECT check_same('SELECT shop, city, sum(price) FROM sales GROUP BY ROLLUP (shop, city) HAVING shop IS NULL OR shop < 5 ORDER BY shop NULLS FIRST, city DESC LIMIT 20');
SELECT check_same('SELECT * FROM (SELECT shop, city, sum(price) FROM sales GROUP BY ROLLUP (shop, city) ORDER BY 3 DESC LIMIT 5) q');
SELECT check_same('SELECT shop, rank() OVER (PARTITION BY GROUPING(shop) ORDER BY sum(price)) FROM sales GROUP BY ROLLUP (shop)');
SELECT check_same('SELECT DISTINCT shop, count(*) > 5 FROM sales GROUP BY ROLLUP (shop, city)');
SELECT check_same('SELECT count(*), sum(c) FROM (SELECT shop, city, count(*) AS c FROM sales GROUP BY ROLLUP (shop, city)) q WHERE shop = 3');
SELECT check_same('SELECT shop, s_name, c FROM shop JOIN (SELECT shop, city, count(*) AS c FROM sales GROUP BY ROLLUP (shop, city)) q ON shop = s_id');
SELECT check_same('SELECT s_id, q.* FROM shop, LATERAL (SELECT city, count(*) FROM sales WHERE shop = s_id GROUP BY ROLLUP (city)) q WHERE s_id < 4');
-- in the order of a window, of this level or of the one above
SELECT q, check_aggregated(q), (SELECT count(*) FROM plan_of(q) AS line WHERE line ~ 'Sort') AS sorts FROM unnest(ARRAY[
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY city ORDER BY p DESC) AS r FROM (SELECT shop, city, sum(price) AS p FROM sales GROUP BY ROLLUP (shop, city)) q) w WHERE r < 3', 'SELECT city, shop, sum(price), rank() OVER (PARTITION BY city ORDER BY sum(price) DESC NULLS LAST, shop) FROM sales GROUP BY city, shop', 'SELECT *, sum(c) OVER (ORDER BY q.n, q.f4 NULLS FIRST) FROM (SELECT n, f4, count(*) AS c FROM types GROUP BY n, f4) q', 'SELECT x + 1, rank() OVER (ORDER BY x + 1) FROM (SELECT shop, sum(quantity) AS x FROM sales GROUP BY shop) q', 'SELECT q.shop, s_name, rank() OVER (ORDER BY q.c, q.shop) FROM (SELECT shop, count(*) AS c FROM sales GROUP BY shop) q JOIN shop ON s_id = q.shop', 'SELECT *, rank() OVER (ORDER BY c DESC) FROM (SELECT shop, count(*) AS c FROM sales GROUP BY shop ORDER BY shop LIMIT 9) q', 'SELECT *, rank() OVER (PARTITION BY s_name ORDER BY p DESC) FROM (SELECT s_name, city, sum(price) AS p FROM sales JOIN shop ON s_id = shop GROUP BY ROLLUP (s_name, city)) q', 'SELECT *, rank() OVER (ORDER BY s_name COLLATE "und-x-icu" DESC, p) FROM (SELECT s_name, city, sum(price) AS p FROM sales JOIN shop ON s_id = shop GROUP BY ROLLUP (s_name, city)) q', 'SELECT shop, count(*), rank() OVER (ORDER BY count(*), shop), sum(count(*)) OVER (ORDER BY shop DESC) FROM sales GROUP BY shop ORDER BY shop'
]) AS q;
-- GROUPING() without sets
SELECT check_same('SELECT shop, GROUPING(shop), count(*) FROM sales GROUP BY shop');
SELECT check_same('SELECT shop FROM sales GROUP BY shop HAVING GROUPING(shop) = 0 AND count(*) > 440');
-- cached plans, cursors
PREPARE sets(int) AS SELECT shop, city, count(*) FROM sales WHERE quantity = $1 GROUP BY ROLLUP (shop, city) HAVING count(*) > $1 AND GROUPING(shop) < $1 ORDER BY 1, 2;
SET plan_cache_mode = force_generic_plan;
SET gpuconc.debug_offload = require;
EXECUTE sets(4);
EXECUTE sets(50);
SET gpuconc.debug_offload = forbid;
EXECUTE sets(4);
RESET gpuconc.debug_offload;
RESET plan_cache_mode;
BEGIN;
SET LOCAL gpuconc.debug_offload = require;
DECLARE sets SCROLL CURSOR FOR SELECT city, count(*), GROUPING(city) FROM sales WHERE shop = 3 GROUP BY ROLLUP (city) ORDER BY 1;
FETCH ALL FROM sets;
FETCH BACKWARD 2 FROM sets;
FETCH FIRST FROM sets;
COMMIT;
SELECT plan_of('SELECT shop, city, GROUPING(shop, city), count(*) FROM sales GROUP BY CUBE (shop, city) HAVING count(*) > 5', 'COSTS OFF, VERBOSE');
-- in an order, row by row
SELECT q, rows_of(q, 'require') = rows_of(q, 'forbid') AS same FROM unnest(ARRAY[
	'SELECT shop, city, sum(price), GROUPING(shop, city) FROM sales GROUP BY CUBE (shop, city) ORDER BY 3 DESC, 1, 2, 4', 'SELECT customer, city, GROUPING(customer, city), count(*) FROM sales GROUP BY CUBE (customer, city) ORDER BY 1 NULLS FIRST, 2 DESC, 3', 'SELECT customer, city, GROUPING(customer, city), count(*) FROM sales GROUP BY CUBE (customer, city) ORDER BY 1 DESC, 2 NULLS FIRST, 3', 'SELECT shop, stddev(price) FROM sales GROUP BY shop ORDER BY 2 DESC, 1', 'SELECT id, variance(n), variance(i4) FROM types GROUP BY id ORDER BY 2, 3 DESC, 1', 'SELECT nn, bit_or(i8), bool_or(b), stddev(i8) FROM types GROUP BY nn ORDER BY 4 DESC NULLS LAST, 2, 3, 1', 'SELECT n, tx, b, bc, sum(n) FROM types GROUP BY ROLLUP (n, tx, b, bc) ORDER BY n DESC, tx, b, bc, GROUPING(n, tx, b, bc)', 'SELECT DISTINCT n, tx, ts, b FROM types ORDER BY 1, 2 DESC, 3, 4', 'SELECT DISTINCT nw, d FROM types ORDER BY 1 DESC, 2'
]) AS q;
-- queries that PostgreSQL computes over rows from the device, or altogether
SELECT q, check_same(q) FROM unnest(ARRAY[
	'SELECT shop, shop, count(*) FROM sales GROUP BY ROLLUP (1, 2)', 'SELECT shop, string_agg(city, '','' ORDER BY id) FROM sales GROUP BY ROLLUP (shop)'
]) AS q;
-- aggregates with DISTINCT: of what is grouped by, beside others, with FILTER; sets twice; no rows
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT shop, city, count(DISTINCT customer), sum(DISTINCT quantity), avg(DISTINCT price), count(DISTINCT city), count(*), sum(price), min(note), max(quantity), stddev(price), stddev(DISTINCT quantity), GROUPING(shop, city) FROM sales GROUP BY CUBE (shop, city)', 'SELECT customer, city, count(DISTINCT customer), count(DISTINCT quantity) FILTER (WHERE price > 500), GROUPING(customer) FROM sales GROUP BY GROUPING SETS ((customer), (city), (), (), (customer))', 'SELECT b, nn, d, count(DISTINCT n), sum(DISTINCT i4), GROUPING(b, nn, d) FROM types GROUP BY GROUPING SETS (ROLLUP (b, nn), CUBE (nn, d), (b, d))', 'SELECT shop + 1, upper(city), count(DISTINCT note) * 2 FROM sales GROUP BY ROLLUP (shop + 1, upper(city))',
	'SELECT count(DISTINCT shop), sum(price), max(note) FROM sales WHERE id < 0 GROUP BY GROUPING SETS ((), (), (shop))', 'SELECT customer, city, count(DISTINCT price) FROM sales WHERE id < 0 GROUP BY GROUPING SETS ((customer), (city))', 'SELECT shop, GROUPING(shop), count(DISTINCT price) AS c FROM sales WHERE id < 0 GROUP BY CUBE (shop) ORDER BY 3, 2 LIMIT 1', 'SELECT count(DISTINCT shop), sum(DISTINCT price) FROM sales GROUP BY GROUPING SETS ((), ())', 'SELECT shop, city, count(DISTINCT price) FROM sales GROUP BY shop, ROLLUP (city, quantity) HAVING count(DISTINCT price) > 5 AND GROUPING(city) = 0', 'SELECT s_name, quantity, count(DISTINCT customer) FROM sales LEFT JOIN shop ON shop = s_id AND s_id < 10 GROUP BY CUBE (s_name, quantity)', 'SELECT b, i2, n, tx, bc, nn, count(DISTINCT d) FROM types GROUP BY CUBE (b, i2, n, tx, bc, nn)'
]) AS q;
SELECT check_error('SELECT shop, count(DISTINCT id / (id - 7)) FROM sales GROUP BY ROLLUP (shop)');
-- floats: NaN is one value; a group with -0 is PostgreSQL's, but -0 counts as 0
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT DISTINCT f8 FROM types', 'SELECT DISTINCT f4, nn FROM types', 'SELECT f4, f8, nn, count(*) FROM types GROUP BY f4, f8, nn', 'SELECT count(DISTINCT f8), count(DISTINCT f4), count(*) FROM types', 'SELECT nn, count(DISTINCT f8), avg(i4) FROM types GROUP BY nn', 'SELECT f8, count(DISTINCT f4) FROM types GROUP BY ROLLUP (f8)', 'SELECT f4, count(*) FROM types GROUP BY ROLLUP (f4)', 'SELECT weight * 2 AS w, count(*) FROM sales GROUP BY 1 ORDER BY 1 LIMIT 5', 'SELECT weight, count(*) FROM sales GROUP BY weight ORDER BY 2 DESC, 1 LIMIT 5', 'SELECT f8 FROM types GROUP BY f8 HAVING f8 > 3', 'SELECT count(*), sum(c) FROM (SELECT f8, count(*) AS c FROM types GROUP BY f8) q WHERE f8 > 0', 'SELECT count(DISTINCT f4), count(DISTINCT f8), count(DISTINCT -f4) FROM extremes',
	'SELECT f8, count(*) FROM extremes GROUP BY f8', 'SELECT DISTINCT f4 FROM extremes', 'SELECT x, count(*) FROM (SELECT CASE WHEN nn < 5 THEN ''NaN'' WHEN nn < 9 THEN ''infinity''::float8 - ''infinity'' WHEN nn < 12 THEN 0 END AS x FROM types) q GROUP BY x'
]) AS q;
-- a constant that is grouped by, without sets
SELECT q, check_same(q), current_setting('server_version_num')::int >= 180000 OR check_aggregated(q) !~ 'pieces' AS whole FROM unnest(ARRAY[
	'SELECT s_id, c FROM shop LEFT JOIN (SELECT 1 AS one, count(*) AS c FROM sales WHERE id < 0 GROUP BY 1) q ON one = s_id', 'SELECT s_id, c FROM shop LEFT JOIN (SELECT 1 AS one, count(*) AS c FROM sales GROUP BY 1) q ON one = s_id', 'SELECT count(*) FROM (SELECT 1, sum(price) FROM sales WHERE id < 0 GROUP BY 1) q'
]) AS q;
-- a constant in grouping sets is NULL where a set leaves it out, which is PostgreSQL's; 18 computes it below the grouping
SELECT q, CASE WHEN current_setting('server_version_num')::int >= 180000 THEN check_same(q) ~ '^(ok|not offloaded)' ELSE check_aggregated(q) ~ '^ok.* pieces$' END AS answered, difference(rows_of(q, 'forbid'), rows_of(q, 'prefer')) IS NULL AS same FROM unnest(ARRAY[
	'SELECT ''x'', shop, count(*), sum(price) FROM sales GROUP BY ROLLUP (1, 2)', 'SELECT 5, shop, date ''2020-02-02'', NULL::int, GROUPING(5, shop), count(*) FROM sales GROUP BY CUBE (1, 2, 3, 4)',
	'SELECT 5, shop, count(DISTINCT customer), GROUPING(5) FROM sales GROUP BY GROUPING SETS ((1), (2), (), (1, 2)) ORDER BY 3 DESC, 2, 4 LIMIT 4', 'SELECT 5, ''a'', shop, count(DISTINCT price) FROM sales WHERE id < 0 GROUP BY CUBE (1, 2, 3)',
	'SELECT ''x''::text AS c, ''x''::text AS d, count(*) FROM sales GROUP BY ROLLUP (1, 2)', 'SELECT DISTINCT 5, shop, count(*) > 3 FROM sales GROUP BY ROLLUP (1, 2)', 'SELECT shop, count(*) FROM sales GROUP BY CUBE (shop, 1 + 1)'
]) AS q;
-- PostgreSQL takes it for the same in all rows where its query is a SELECT of a set operation, but for UNION ALL of equal types
SELECT q, check_same(q) FROM unnest(ARRAY[
	'SELECT shop, 5 AS c, count(*) FROM sales GROUP BY GROUPING SETS ((1), (2), ()) EXCEPT ALL SELECT id, 6, 1 FROM sales ORDER BY 2, 1, 3', 'SELECT 6, shop, count(*) FROM sales GROUP BY GROUPING SETS ((1), (2)) EXCEPT SELECT 1, shop, id FROM sales',
	'SELECT c, count(*) > 0 FROM (SELECT 5 AS c, shop, count(*) FROM sales GROUP BY CUBE (1, 2) INTERSECT ALL SELECT 5, shop, count(*) FROM sales GROUP BY ROLLUP (1, 2)) q WHERE c = 5 GROUP BY c',
	'SELECT shop, 5 AS c, count(*) FROM sales GROUP BY GROUPING SETS ((1), (2), ()) UNION ALL SELECT shop, 5, count(*) FROM sales GROUP BY shop'
]) AS q;
-- Of a UNION that PostgreSQL keeps, it depends on the plan: nothing of it is offloaded up to 17.
SET gpuconc.debug_offload = prefer;
\set several 'SELECT ''x'' AS x, shop, count(*) FROM sales GROUP BY CUBE (1, 2) UNION SELECT ''x'', shop, count(*) FROM sales GROUP BY shop'
\set ordered '(SELECT shop, 5 AS c, count(*) FROM sales GROUP BY CUBE (1, 2) ORDER BY 2, 1, 3 LIMIT 30) UNION SELECT shop, 5, count(*) FROM sales GROUP BY shop'
\set mixed 'SELECT shop, 5 AS c, count(*) FROM sales GROUP BY CUBE (1, 2) UNION ALL SELECT id, 5::int8, 1 FROM sales'
\set taken 'SELECT * FROM (SELECT shop, 5 AS c, count(*) FROM sales GROUP BY CUBE (1, 2) UNION SELECT s_id, 5, 1 FROM shop EXCEPT SELECT 1, 5, 2) q'
CREATE TEMP TABLE ours AS SELECT 's' AS q, s::text AS r FROM (:several) s UNION ALL SELECT 'o', s::text FROM (:ordered) s UNION ALL SELECT 'm', s::text FROM (:mixed) s UNION ALL SELECT 't', s::text FROM (:taken) s;
SET gpuconc.debug_offload = forbid;
CREATE TEMP TABLE own AS SELECT 's' AS q, s::text AS r FROM (:several) s UNION ALL SELECT 'o', s::text FROM (:ordered) s UNION ALL SELECT 'm', s::text FROM (:mixed) s UNION ALL SELECT 't', s::text FROM (:taken) s;
SELECT (SELECT count(*) > 20000 FROM own) AS many, (SELECT count(*) FROM (TABLE ours EXCEPT ALL TABLE own) x) AS ours, (SELECT count(*) FROM (TABLE own EXCEPT ALL TABLE ours) x) AS own;
RESET gpuconc.debug_offload;
-- an expression without columns that is computed at execution is NULL wherever it stands
SELECT q, check_same(q) ~ '^(ok|not offloaded)' AS answered, difference(rows_of(q, 'forbid'), rows_of(q, 'prefer')) IS NULL AS same FROM unnest(ARRAY[
	'SELECT concat(''a'', ''b'') AS c, concat(''a'', ''b'') AS d, count(*) FROM sales GROUP BY CUBE (1)', 'SELECT concat(''a'', ''b'') || ''x'', shop, count(*) FROM sales GROUP BY CUBE (concat(''a'', ''b''), shop)',
	'SELECT concat(''a'', ''b'') AS c, shop, count(*) FROM sales GROUP BY CUBE (1, 2) HAVING concat(''a'', ''b'') IS NULL'
]) AS q;
-- of an argument that is refused, no groups are estimated
SELECT check_same('SELECT count(DISTINCT (SELECT r.quantity)) FROM sales r GROUP BY CUBE (r.shop) HAVING r.shop = 3');
-- a primary key determines columns where every set has it
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT id, shop % 3, quantity % 2, count(*), sum(shop % 3) OVER (ORDER BY shop % 3) FROM sales WHERE id < 50 GROUP BY GROUPING SETS ((id, shop % 3, quantity % 2), ())',
	'SELECT id, shop % 3, count(*), rank() OVER (ORDER BY shop % 3) FROM sales WHERE id < 50 GROUP BY CUBE (id, shop % 3)'
]) AS q;
-- 18 marks a part of a key in another way than the column by itself
SELECT check_same('SELECT id, shop, shop % 3, count(*) FROM sales WHERE id < 50 GROUP BY GROUPING SETS ((id, shop % 3), (id))') ~ '^(ok|not offloaded)' AS right;
-- a volatile function has another value in each row
SELECT q, check_same(q) ~ '^(ok|not offloaded)' FROM unnest(ARRAY[
	'SELECT count(*) > 99 FROM (SELECT DISTINCT random() FROM sales) q', 'SELECT count(*) > 99 FROM (SELECT DISTINCT shop, random() FROM sales) q', 'SELECT count(*) > 99 FROM (SELECT random() FROM sales GROUP BY 1) q',
	'SELECT count(*) > 99, max(c) FROM (SELECT shop, random(), count(DISTINCT city) AS c FROM sales GROUP BY 1, 2) q', 'SELECT max(c) FROM (SELECT random(), count(*) AS c FROM sales GROUP BY 1) q'
]) AS q;
