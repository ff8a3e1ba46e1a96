-- Aggregates with DISTINCT: of one expression, of several, with FILTER, beside others, in subqueries; texts in these.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- one expression
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT count(DISTINCT shop) FROM sales', 'SELECT sum(DISTINCT quantity), count(*) FROM sales', 'SELECT shop, count(DISTINCT customer), avg(DISTINCT customer), sum(price), avg(price), min(city), max(note) FROM sales GROUP BY shop', 'SELECT count(DISTINCT shop) FROM sales WHERE id < 0', 'SELECT shop, count(DISTINCT city) FROM sales WHERE id < 0 GROUP BY shop',
	'SELECT nn, count(DISTINCT tx), count(*), count(tx), bool_or(b), every(b), bit_and(i4), bit_or(i8), stddev(n), variance(i4), var_pop(i8) FROM types GROUP BY nn', 'SELECT count(DISTINCT customer), count(*), sum(customer), max(customer), stddev(quantity) FROM sales WHERE customer IS NULL', 'SELECT count(DISTINCT 5), sum(DISTINCT 2), count(*) FROM sales', 'SELECT shop, count(DISTINCT 5) FROM sales GROUP BY shop', 'SELECT count(DISTINCT 5) FROM sales WHERE id < 0'
]) AS q;
-- several expressions: types, NULLs, keys among them, no key, no row
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT count(DISTINCT shop), count(DISTINCT customer) FROM sales', 'SELECT count(DISTINCT shop), sum(DISTINCT quantity), avg(DISTINCT price), count(*), sum(price) FROM sales', 'SELECT shop, count(DISTINCT city), count(DISTINCT customer), sum(price), count(note), min(day), max(city) FROM sales GROUP BY shop', 'SELECT b, count(DISTINCT i2), count(DISTINCT i4), count(DISTINCT i8), count(DISTINCT n), count(DISTINCT d), count(DISTINCT ts), count(DISTINCT tz), count(DISTINCT tx), count(DISTINCT vc), count(DISTINCT bc), count(DISTINCT b), count(*) FROM types GROUP BY b', 'SELECT nn, sum(DISTINCT i4), avg(DISTINCT n), count(DISTINCT tx), stddev(DISTINCT i2), variance(DISTINCT n0), min(DISTINCT vc), bool_and(DISTINCT b) FROM types GROUP BY nn',
	'SELECT shop, count(DISTINCT shop), count(DISTINCT city), count(*) FROM sales GROUP BY shop', 'SELECT customer, count(DISTINCT customer), count(DISTINCT quantity), sum(quantity) FROM sales GROUP BY customer', 'SELECT customer, shop, count(DISTINCT customer + shop), count(DISTINCT customer), sum(DISTINCT quantity) FROM sales GROUP BY customer, shop', 'SELECT count(DISTINCT shop), count(DISTINCT city), count(*), sum(price), max(price) FROM sales WHERE id < 0', 'SELECT shop, count(DISTINCT quantity), count(DISTINCT city) FROM sales WHERE id < 0 GROUP BY shop',
	'SELECT count(DISTINCT id), count(DISTINCT customer), count(DISTINCT note) FROM sales', 'SELECT shop, count(DISTINCT id), count(DISTINCT price), count(DISTINCT product), count(DISTINCT day), count(DISTINCT city) FROM sales GROUP BY shop', 'SELECT id, count(DISTINCT tx), count(DISTINCT n) FROM types GROUP BY id', 'SELECT count(DISTINCT customer), count(DISTINCT shop), count(DISTINCT 7) FROM sales WHERE customer IS NULL', 'SELECT s_name, count(DISTINCT customer), count(DISTINCT c_name), sum(price) FROM sales JOIN shop ON shop = s_id LEFT JOIN customer ON customer = c_id GROUP BY s_name',
	'SELECT min(DISTINCT i4), max(DISTINCT tx), bool_or(DISTINCT b), bit_and(DISTINCT i4), count(*) FROM types', 'SELECT count(DISTINCT CASE WHEN b THEN tx ELSE vc END), count(DISTINCT COALESCE(n, nw)), count(DISTINCT upper(tx)) FROM types'
]) AS q;
-- FILTER: of one, of the same expression with others, of aggregates beside them; groups that no row passes
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT count(DISTINCT shop) FILTER (WHERE quantity > 5) FROM sales', 'SELECT shop, count(DISTINCT city) FILTER (WHERE quantity > 5), count(*) FROM sales GROUP BY shop', 'SELECT shop, count(DISTINCT city) FILTER (WHERE shop < 3), count(DISTINCT city), count(DISTINCT city) FILTER (WHERE customer IS NULL), sum(price) FILTER (WHERE price > 100) FROM sales GROUP BY shop', 'SELECT nn, count(DISTINCT i4) FILTER (WHERE b), count(DISTINCT i4) FILTER (WHERE NOT b), count(*) FILTER (WHERE b IS NULL), max(tx) FILTER (WHERE i2 > 0) FROM types GROUP BY nn', 'SELECT shop, sum(DISTINCT quantity) FILTER (WHERE id < 0), avg(DISTINCT price) FILTER (WHERE false), count(DISTINCT city) FILTER (WHERE NULL) FROM sales GROUP BY shop',
	'SELECT count(DISTINCT 5) FILTER (WHERE id < 0), count(DISTINCT 5) FILTER (WHERE id > 0), count(DISTINCT shop) FROM sales', 'SELECT count(DISTINCT tx) FILTER (WHERE i4 > 0), count(DISTINCT ''x'' || tx) FROM types', 'SELECT count(DISTINCT 10 / nn) FILTER (WHERE nn <> 0), count(DISTINCT i4) FROM types'
]) AS q;
-- HAVING, ORDER BY with LIMIT, expressions, what stands above
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT shop, count(DISTINCT city), sum(price) FROM sales GROUP BY shop HAVING count(DISTINCT customer) > 40 AND sum(price) > 1000', 'SELECT * FROM (SELECT shop, count(DISTINCT city) c, count(DISTINCT customer) d, sum(price) FROM sales GROUP BY shop ORDER BY 3 DESC, 1 LIMIT 5) q', 'SELECT * FROM (SELECT customer, count(DISTINCT shop), sum(price) s, avg(price) FROM sales GROUP BY customer ORDER BY 3 DESC, 1 LIMIT 7) q', 'SELECT shop % 3, count(DISTINCT city) * 10 + count(DISTINCT customer), rank() OVER (ORDER BY count(DISTINCT city)) FROM sales GROUP BY 1', 'SELECT shop FROM sales GROUP BY shop HAVING avg(DISTINCT quantity) > 2 AND avg(price) > 3 AND min(price) < max(price) AND count(*) > 4'
]) AS q;
-- in subqueries that are joined, or aggregated again
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT s_name, x.c, x.d FROM shop, (SELECT shop, count(DISTINCT city) c, count(DISTINCT customer) d FROM sales GROUP BY shop) x WHERE x.shop = s_id', 'SELECT c, count(*), sum(d) FROM (SELECT customer, count(DISTINCT shop) c, sum(DISTINCT quantity) d FROM sales GROUP BY customer) x GROUP BY c', 'SELECT count(*), sum(c), sum(n) FROM (SELECT shop, count(DISTINCT city) c, count(*) n, count(note) FROM sales GROUP BY shop HAVING count(DISTINCT customer) > 3) x', 'SELECT max(c), max(n), max(b), max(a) FROM shop, (SELECT count(DISTINCT city) c, count(*) n, bit_or(quantity) b, bit_and(quantity) a FROM sales) x', 'SELECT s_name, x.c, x.n FROM shop, (SELECT count(DISTINCT city) c, count(*) n FROM sales WHERE id < 0) x', 'SELECT b, max(o), min(a) FROM (SELECT nn, bool_and(b) b, bit_or(i4) o, bit_and(i2) a FROM types GROUP BY nn) x GROUP BY b'
]) AS q;
-- errors in what is distinct, or is left out of it
SELECT q, check_error(q) FROM unnest(ARRAY['SELECT count(DISTINCT 1 / (id - 7)), count(DISTINCT shop) FROM sales', 'SELECT shop, count(DISTINCT shop), sum(DISTINCT id * 1000000) FROM sales GROUP BY shop', 'SELECT count(DISTINCT city), count(DISTINCT shop), sum(1 / (id - 7)) FROM sales']) AS q;
SELECT check_aggregated('SELECT count(DISTINCT 1 / (id - 7)) FILTER (WHERE id <> 7), count(DISTINCT shop) FROM sales');
-- aggregates left to PostgreSQL
SELECT q, refusal(q) FROM unnest(ARRAY['SELECT count(DISTINCT (i4, i2)) FROM types', 'SELECT string_agg(DISTINCT tx, '','') FROM types']) AS q;
EXPLAIN (COSTS OFF) SELECT shop, count(DISTINCT city), count(DISTINCT customer), sum(price) FROM sales GROUP BY shop;
-- minima and maxima of texts in subqueries
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT s_name, x.a, x.b FROM shop, (SELECT shop, min(city) a, max(note) b FROM sales GROUP BY shop) x WHERE x.shop = s_id', 'SELECT x.a, count(*), sum(x.n) FROM (SELECT customer, max(city) a, count(*) n FROM sales GROUP BY customer) x GROUP BY x.a', 'SELECT count(*), max(a), min(b) FROM (SELECT nn, min(tx) a, max(vc) b FROM types GROUP BY nn) x WHERE a <> ''b'' AND b <> ''v3''', 'SELECT nn, a, b FROM shop, (SELECT nn, min(tx) FILTER (WHERE id < 100) a, max(upper(vc)) b, min(bc) FROM types GROUP BY nn) x WHERE nn = s_id', 'SELECT x.a, s.id FROM sales s, (SELECT shop, max(city) a FROM sales GROUP BY shop) x WHERE s.city = x.a AND s.shop = x.shop AND s.id < 2000',
	'SELECT a, n FROM (SELECT b, max(m) a, sum(n) n FROM (SELECT nn, bool_or(b) b, max(tx) m, count(DISTINCT tx) n FROM types GROUP BY nn) x GROUP BY b) y, shop WHERE s_id = n', 'SELECT x.m FROM shop, (SELECT nn, max(tx) m FROM types WHERE tx IS NULL GROUP BY nn) x WHERE nn = s_id', 'SELECT min(tx COLLATE "C"), min(tx COLLATE "POSIX"), max(tx) FROM types', 'SELECT shop FROM sales GROUP BY shop HAVING min(city) = ''Berlin'' OR max(city) <> min(city)'
]) AS q;
-- a key beyond its type's range, among groups that are counted again: it is no place in their table
CREATE TABLE void_keys AS SELECT CASE WHEN i % 9 > 0 THEN -1078325500752065 + i * 17 END a, CASE WHEN i % 12 > 0 THEN 'same' END::varchar t, CASE WHEN i % 14 > 0 THEN i % 41 - 20 END::int2 s FROM generate_series(1, 300) i;
VACUUM ANALYZE void_keys;
SELECT date 'infinity' - s AS day, t, count(*), min(t), count(DISTINCT a) FROM void_keys WHERE t IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2;
SELECT s + 2147483640, count(DISTINCT a) FROM void_keys GROUP BY 1;
SELECT state FROM gpuconc_devices;
DROP TABLE void_keys;
