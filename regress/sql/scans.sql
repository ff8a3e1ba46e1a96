-- Plain scans: filters and projections, ordered and limited above, and where the
-- cost model decides.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- whole tables, and columns in another order
SELECT check_same('SELECT * FROM types');
SELECT check_same('SELECT * FROM sales WHERE quantity < 3');
SELECT check_same('SELECT nt, id, tx, b FROM types WHERE nn > 3');
SELECT check_same('SELECT id, id AS again, i4 + 1, tx || ''!'' FROM types WHERE i4 > 0');
SELECT check_same('SELECT 1 FROM types WHERE i4 > 0');
SELECT check_same('SELECT FROM types WHERE i4 > 0');
SELECT check_same('SELECT nw FROM types');
SELECT check_same('SELECT * FROM extremes');
SELECT check_same('SELECT id, tx FROM extremes WHERE tx IS NOT NULL');

-- filters: none, one, several columns; nothing, everything passes
SELECT f, check_same('SELECT id, price FROM sales WHERE ' || f) FROM unnest(ARRAY[
	'true', 'id > 0', 'id = 777', 'id < 0', 'customer IS NULL', 'customer IS NULL OR note IS NULL', 'customer IS NOT NULL AND note IS NOT NULL',
	'quantity BETWEEN 10 AND 20 AND discount > 0.05 AND city LIKE ''%2_''', 'quantity = 1 OR quantity = 3 OR (price > 900 AND shop < 4)',
	'day >= ''1995-03-01'' AND day < date ''1995-03-01'' + interval ''1 month''', 'price BETWEEN 100 AND 100.99', 'price * quantity > 40000', 'at = day', 'at > timestamp ''1996-05-05'' AND weight < 10',
	'note IN (''note 1'', ''note 2'')', 'note = ''note 1'' AND id > 100', 'note <> ''note 1''', 'NOT (note = ''note 1'')', 'note IS NULL', 'length(note) = 6', '(customer % 10 = 3) IS NOT FALSE', 'city > ''city 2'' AND city < ''city 21'''
]) AS f;
-- chunks are skipped by their least and greatest values
SELECT f, check_same('SELECT count(*), sum(id) FROM sales WHERE ' || f) FROM unnest(ARRAY[
	'id = 20000', 'id = 20001', 'id < 1', 'id <= 1', 'id BETWEEN 5 AND 6', 'id > 19999 AND price > 0', 'id IN (1, 20000)', 'price < 0', 'day < ''1994-01-01''', 'day > ''2020-01-01''', 'quantity > 49', 'quantity >= 49', 'id = 5 AND NULL', 'id::int8 = 3000000000', 'id > -3000000000'
]) AS f;

-- above the scan: order, limit, windows, set operations, subqueries
SELECT check_same('SELECT id, price FROM sales WHERE shop = 3 ORDER BY price DESC, id LIMIT 10');
SELECT check_same('SELECT id FROM sales WHERE shop = 3 ORDER BY id OFFSET 100');
SELECT check_same('SELECT id, rank() OVER (PARTITION BY shop ORDER BY price, id), sum(price) OVER (PARTITION BY shop) FROM sales WHERE quantity = 5');
SELECT check_same('SELECT DISTINCT city FROM sales WHERE shop < 10');
SELECT check_same('SELECT DISTINCT ON (shop) shop, id, price FROM sales WHERE quantity > 10 ORDER BY shop, price, id');
SELECT check_same('SELECT id FROM sales WHERE shop = 1 UNION ALL SELECT id FROM types WHERE nn = 2');
SELECT check_same('SELECT city FROM sales WHERE shop = 1 UNION SELECT c_city FROM customer WHERE c_region = 2');
SELECT check_same('SELECT city FROM sales WHERE shop = 1 EXCEPT SELECT c_city FROM customer WHERE c_region = 2');
SELECT check_same('SELECT q.id FROM (SELECT id, price * quantity AS total FROM sales WHERE shop < 5) q WHERE q.total > 100');
SELECT check_same('WITH big AS MATERIALIZED (SELECT id, customer FROM sales WHERE price > 990) SELECT a.id, b.id FROM big a, big b WHERE a.customer = b.customer AND a.id < b.id');
SELECT check_same('SELECT id, (SELECT max(p_price) FROM product) FROM sales WHERE quantity = 49');
SELECT check_same('SELECT id FROM sales WHERE price > (SELECT avg(price) * 1.9 FROM sales)');
SELECT check_same('SELECT id, generate_series(1, 2) FROM (SELECT id FROM sales WHERE quantity = 49 OFFSET 0) q');

-- outer and semi joins stay above, over scans and joins that are offloaded
SELECT check_same('SELECT s_id, count(id) FROM shop LEFT JOIN (SELECT * FROM sales WHERE price > 900) q ON s_id = shop GROUP BY s_id');
SELECT check_same('SELECT id, c_name FROM sales LEFT JOIN customer ON customer = c_id WHERE quantity = 4');
SELECT check_same('SELECT id FROM sales WHERE quantity = 4 AND EXISTS (SELECT FROM customer WHERE c_id = customer AND c_city < ''city 2'')');
SELECT check_same('SELECT id FROM sales WHERE quantity = 4 AND NOT EXISTS (SELECT FROM customer WHERE c_id = customer)');
SELECT check_same('SELECT id FROM sales WHERE quantity = 4 AND customer IN (SELECT c_id FROM customer WHERE c_city < ''city 2'')');
SELECT check_same('SELECT id FROM sales WHERE quantity = 4 AND customer NOT IN (SELECT c_id FROM customer WHERE c_city < ''city 2'')');
SELECT check_same('SELECT a.id, b.id FROM (SELECT * FROM sales WHERE quantity = 4) a FULL JOIN (SELECT * FROM sales WHERE quantity = 5) b ON a.customer = b.customer');

-- costs decide: selective index lookups and small tables stay PostgreSQL's
RESET gpuconc.offload_cost;
SET gpuconc.debug_offload = allow;
EXPLAIN (COSTS OFF) SELECT price FROM sales WHERE id = 5;
EXPLAIN (COSTS OFF, VERBOSE) SELECT r_name FROM region;
EXPLAIN (COSTS OFF) SELECT * FROM sales;
EXPLAIN (COSTS OFF) SELECT sum(price) FROM sales WHERE quantity < 10;
EXPLAIN (COSTS OFF) SELECT id FROM sales WHERE price * quantity * discount > 1000000;
SET gpuconc.offload_cost = 1e9;
EXPLAIN (COSTS OFF, VERBOSE) SELECT sum(price) FROM sales WHERE quantity < 10;
SET gpuconc.offload_cost = 0;
SET gpuconc.debug_tuple_cost = 1;
EXPLAIN (COSTS OFF) SELECT sum(price) FROM sales WHERE quantity < 10;
RESET gpuconc.debug_tuple_cost;
SET gpuconc.enabled = off;
EXPLAIN (COSTS OFF) SELECT sum(price) FROM sales WHERE quantity < 10;
