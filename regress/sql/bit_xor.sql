-- bit_xor(): the one accumulator in which a value that comes twice is not the value that comes once.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- All types; negative values and extremes; NULLs; no row, and only NULLs; what is computed.
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT bit_xor(i2), bit_xor(i4), bit_xor(i8), bit_xor(nn), bit_xor(id) FROM types',
	'SELECT bit_xor(i2), bit_xor(i4), bit_xor(i8), bit_xor(-i4) FROM types WHERE i4 < 0',
	'SELECT id, bit_xor(i2), bit_xor(i4), bit_xor(i8) FROM extremes GROUP BY id',
	'SELECT bit_xor(i2), bit_xor(i4), bit_xor(i8) FROM extremes',
	'SELECT bit_xor(i2), bit_xor(i8), count(*) FROM types WHERE id < 0',
	'SELECT bit_xor(i4), count(i4), count(*) FROM types WHERE i4 IS NULL',
	'SELECT bit_xor(CASE WHEN b THEN i4 END), bit_xor(id % 7), bit_xor(length(tx)) FROM types',
	'SELECT bit_xor(i4), bit_and(i4), bit_or(i4), sum(i4), min(i4), avg(i4) FROM types'
]) AS q;
SELECT check_error('SELECT bit_xor(i4 + 1) FROM extremes');

-- Groups: few, many, by a key that is hashed; FILTER; HAVING, and the first few in an order.
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT shop, bit_xor(quantity), bit_xor(id) FROM sales GROUP BY shop',
	'SELECT id, bit_xor(customer) FROM sales GROUP BY id',
	'SELECT price, bit_xor(id), count(*) FROM sales GROUP BY price',
	'SELECT nn, bit_xor(i2), bit_xor(i4), bit_xor(i8) FROM types GROUP BY nn',
	'SELECT nn, bit_xor(i4) FILTER (WHERE b), bit_xor(i8) FILTER (WHERE false), bit_xor(i2) FILTER (WHERE i4 > 0) FROM types GROUP BY nn',
	'SELECT bit_xor(quantity) FILTER (WHERE shop > 3), bit_xor(id) FROM sales',
	'SELECT shop, city, count(*) FROM sales GROUP BY shop, city HAVING bit_xor(quantity) > 20',
	'SELECT shop FROM sales GROUP BY shop HAVING bit_xor(id) IS NOT NULL AND bit_xor(id) % 2 = 0',
	'SELECT city, bit_xor(id) AS x FROM sales GROUP BY city ORDER BY x DESC NULLS LAST, city LIMIT 3',
	'SELECT p_brand, bit_xor(s.id) FROM sales s JOIN product ON p_id = product GROUP BY p_brand'
]) AS q;

-- DISTINCT counts: it must not be left out, alone, beside others, in parts of groups.
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT bit_xor(DISTINCT quantity), bit_xor(quantity), bit_or(DISTINCT quantity) FROM sales',
	'SELECT shop, bit_xor(DISTINCT quantity), count(*), sum(price), bit_xor(id) FROM sales GROUP BY shop',
	'SELECT nn, bit_xor(DISTINCT i4), bit_xor(DISTINCT i2), count(DISTINCT i8), bit_xor(i8), bit_and(i4) FROM types GROUP BY nn',
	'SELECT shop, bit_xor(DISTINCT quantity) FILTER (WHERE price > 20), bit_xor(quantity) FILTER (WHERE price > 20) FROM sales GROUP BY shop',
	'SELECT shop FROM sales GROUP BY shop HAVING bit_xor(DISTINCT quantity) <> bit_xor(quantity)'
]) AS q;

-- Grouping sets put together what finer groups have; with DISTINCT, a row comes for each set.
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT shop, city, bit_xor(quantity), bit_xor(id), count(*) FROM sales GROUP BY ROLLUP (shop, city)',
	'SELECT shop, city, bit_xor(id) FROM sales GROUP BY CUBE (shop, city) HAVING bit_xor(id) > 5',
	'SELECT shop, city, bit_xor(DISTINCT quantity), bit_xor(quantity) FROM sales GROUP BY GROUPING SETS ((shop), (city), ())',
	'SELECT shop, bit_xor(id) FROM sales WHERE id < 0 GROUP BY ROLLUP (shop)'
]) AS q;

-- Groups that a later pipeline reads: joined, aggregated again, in a condition.
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT bit_xor(x), max(x), min(x), sum(x) FROM (SELECT customer, bit_xor(quantity) AS x FROM sales GROUP BY customer) q',
	'SELECT s_name, q.x FROM shop JOIN (SELECT shop, bit_xor(id) AS x FROM sales GROUP BY shop) q ON q.shop = s_id WHERE q.x % 3 <> 0',
	'SELECT count(*) FROM sales s JOIN (SELECT bit_xor(quantity) AS x FROM sales) q ON s.quantity < q.x',
	'SELECT t.id FROM types t JOIN (SELECT nn, bit_xor(i4) AS x FROM types GROUP BY nn) u ON u.nn = t.nn WHERE t.i4 < u.x',
	'SELECT bit_xor(quantity) FROM (SELECT quantity FROM sales UNION ALL SELECT quantity FROM sales WHERE shop = 2) q'
]) AS q;

-- Window functions are PostgreSQL's, above rows or groups of the device; so are bit strings.
SELECT q, check_same(q) FROM unnest(ARRAY[
	'SELECT id, bit_xor(quantity) OVER (PARTITION BY shop ORDER BY id) FROM sales WHERE shop < 4',
	'SELECT shop, bit_xor(x) OVER (ORDER BY shop) FROM (SELECT shop, bit_xor(id) AS x FROM sales GROUP BY shop) q',
	'SELECT bit_xor(i4::bit(32)) FROM types'
]) AS q;

-- Numbers of rows around each boundary.
SELECT format('CREATE TABLE public.xored_%1$s WITH (autovacuum_enabled = off) AS SELECT i AS k, CASE WHEN i %% 5 <> 0 THEN i * 7919 %% 1000 - 300 END AS v FROM generate_series(1, %1$s) AS i', rows)
FROM unnest(ARRAY[0, 1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097]) AS rows \gexec
SELECT format('VACUUM (FREEZE, ANALYZE) public.%I', relname) FROM pg_class WHERE relname ~ '^xored_' ORDER BY 1 \gexec
SELECT relname, check_aggregated(format('SELECT bit_xor(k), bit_xor(v), bit_xor(v) FILTER (WHERE k %% 2 = 0), bit_xor(DISTINCT v), count(*) FROM %I', relname), '{public}') AS one,
	check_aggregated(format('SELECT v %% 7, bit_xor(k), bit_xor(v) FROM %I GROUP BY 1', relname), '{public}') AS few,
	check_aggregated(format('SELECT k, bit_xor(v), bit_xor(k + 1) FROM %I GROUP BY k', relname), '{public}') AS many
FROM pg_class WHERE relname ~ '^xored_' ORDER BY length(relname), relname;

-- Partitions, of which one was changed since it was loaded.
CREATE TABLE public.parted (k int, g int, v bigint) PARTITION BY RANGE (k);
CREATE TABLE public.parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (3000) WITH (autovacuum_enabled = off);
CREATE TABLE public.parted_2 PARTITION OF parted FOR VALUES FROM (3000) TO (9000) WITH (autovacuum_enabled = off);
CREATE TABLE public.parted_3 PARTITION OF parted DEFAULT WITH (autovacuum_enabled = off);
INSERT INTO parted SELECT i, i % 13, i * 1000003::bigint FROM generate_series(1, 10000) AS i;
INSERT INTO parted SELECT NULL, NULL, -i FROM generate_series(1, 100) AS i;
VACUUM (FREEZE, ANALYZE) parted;
SELECT settle();
SELECT check_aggregated('SELECT bit_xor(k), bit_xor(v), bit_xor(DISTINCT g) FROM parted', '{public}') AS one,
	check_aggregated('SELECT g, bit_xor(k), bit_xor(v) FROM parted GROUP BY g', '{public}') AS groups;
UPDATE parted SET v = v + 1 WHERE k % 100 = 0;
DELETE FROM parted WHERE k % 77 = 0;
SELECT check_aggregated('SELECT bit_xor(k), bit_xor(v), bit_xor(DISTINCT g) FROM parted', '{public}') AS one,
	check_aggregated('SELECT g, bit_xor(k), bit_xor(v) FROM parted GROUP BY g', '{public}') AS groups;
DROP TABLE parted;
