-- Aggregates and groups: each function over each type, FILTER, HAVING, no key, one,
-- many, thousands of groups; what stands above them.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- without GROUP BY there is one row, whatever the input
SELECT check_same('SELECT count(*) FROM sales');
SELECT check_same('SELECT count(*), count(customer), count(note), count(1) FROM sales');
SELECT check_same('SELECT count(*), count(note), sum(price), avg(price), min(note), max(day), sum(customer), avg(shop), sum(product) FROM sales WHERE id < 0');
SELECT check_same('SELECT shop, count(*), sum(price) FROM sales WHERE id < 0 GROUP BY shop');
SELECT check_same('SELECT sum(customer), avg(customer), min(customer), max(customer), count(customer) FROM sales WHERE customer IS NULL');
SELECT check_same('SELECT 1 FROM sales HAVING count(*) > 0');
SELECT check_same('SELECT 1 FROM sales HAVING count(*) < 0');
SELECT check_same('SELECT count(*) FROM sales HAVING min(price) > 1000000');

-- a counted expression is computed, and raises its errors, even where it cannot be NULL
SELECT q, check_error(q) FROM unnest(ARRAY[
	'SELECT count(id * 1000000) FROM sales', 'SELECT count(*), count(id * 1000000), sum(id) FROM sales WHERE id > 10', 'SELECT shop, count(id * 1000000) FROM sales GROUP BY shop', 'SELECT count(1 / (id - 7)) FROM sales WHERE id < 9',
	'SELECT count(sales.id * c_id::int4 * 10000) FROM sales JOIN customer ON customer = c_id'
]) AS q;
SELECT check_same('SELECT count(id * 1000000), count(1 / (id - 2000)) FROM sales WHERE id < 1000');
-- sums: result types and scales; beyond int8; products; cancelling out
SELECT check_same('SELECT sum(i2), pg_typeof(sum(i2)), sum(i4), pg_typeof(sum(i4)), sum(i8), pg_typeof(sum(i8)), sum(n), pg_typeof(avg(i2)) FROM types');
SELECT check_same('SELECT sum(i8 * 1000000) FROM types');
SELECT check_same('SELECT nn, sum(i8 * 900000) FROM types GROUP BY nn');
SELECT check_same('SELECT sum(a.i8) FROM extremes a JOIN types b ON a.one = b.nn WHERE a.id <> 1');
SELECT check_same('SELECT sum(n * n * n), sum(n * n0), avg(n * n), sum(nw), avg(nw), sum(nw * 2) FROM types');
SELECT check_same('SELECT sum(price * quantity), avg(price * (1 - discount)), sum(price * (1 - discount) * (1 + discount)) FROM sales');
SELECT check_same('SELECT sum(i4 - i4), sum(n - n), avg(n - n), sum(n * 0), avg(0.00 * i4) FROM types');
SELECT check_same('SELECT sum(1), sum(1.50), avg(2), sum(quantity * 0 + 1.25), min(7), max(7.10) FROM sales');
SELECT check_same('SELECT avg(i4), avg(i4) * 3, avg(i2), avg(i8), avg(id), avg(n0) FROM types');
SELECT check_same('SELECT shop, avg(quantity), avg(price), avg(customer) FROM sales GROUP BY shop');
SELECT check_same('SELECT id, avg(n), avg(i8), sum(n0) FROM types GROUP BY id');
SELECT check_same('SELECT sum(CASE WHEN b THEN n ELSE 0 END), sum(CASE WHEN b THEN n ELSE nw END), avg(COALESCE(n, 0.000)) FROM types');
SELECT check_same('SELECT sum(GREATEST(n, 1.5)), sum(LEAST(n, nw)) FROM types');
SELECT check_same('SELECT nn, sum(CASE WHEN b THEN n ELSE 0 END), sum(COALESCE(n, 0)), sum(CASE WHEN i4 > 0 THEN n END) FROM types GROUP BY nn');
SELECT check_same('SELECT id, sum(CASE WHEN b THEN n ELSE 0 END), sum(COALESCE(n, 0.0000)) FROM types GROUP BY id');
SELECT check_near('SELECT sum(f8) AS a, avg(f4) AS b, sum(f4 * f8) AS c, avg(f8) FILTER (WHERE b) AS d FROM types');
SELECT check_near('SELECT shop, sum(weight) AS a, avg(weight * quantity) AS b FROM sales GROUP BY shop ORDER BY shop');
-- floats that are not numbers
SELECT check_same('SELECT sum(f8), avg(f8), min(f8), max(f8), sum(f4), avg(f4), min(f4), max(f4) FROM extremes WHERE id IN (3, 5)');
SELECT check_same('SELECT sum(f8), avg(f8), min(f8), max(f8), sum(f4), avg(f4) FROM extremes WHERE id IN (2, 5)');
SELECT check_same('SELECT sum(f8), avg(f8), min(f8), max(f8), sum(f4), avg(f4) FROM extremes WHERE id IN (1, 2)');
SELECT check_same('SELECT id, sum(f8), avg(f8), min(f8), max(f4) FROM extremes GROUP BY id');
SELECT check_error('SELECT sum(abs(f8)) FROM extremes WHERE id IN (7, 9)');
SELECT check_error('SELECT sum(f8 * 2) FROM extremes WHERE id = 7');
SELECT check_error('SELECT sum(i4 + 1) FROM extremes');
SELECT check_error('SELECT sum(i8 * 2) FROM extremes');
SELECT check_error('SELECT min(-i2) FROM extremes');
SELECT check_error('SELECT max(abs(i4)) FROM extremes');
SELECT check_error('SELECT sum(id / (id - 3)) FROM types');
SELECT check_error('SELECT sum(id % nn) FROM types');
SELECT check_error('SELECT sum(i4::int2) FROM extremes');
SELECT check_error('SELECT sum(f8::int4) FROM extremes WHERE id = 7');
SELECT check_error('SELECT count(*) FROM extremes WHERE f8::int8 = 1');
SELECT check_error('SELECT min(substring(vc FROM 2)::int4 / nn) FROM types WHERE vc IS NOT NULL');
-- an error where no row comes is none
SELECT check_same('SELECT sum(id / (id - id)) FROM types WHERE id < 0');
SELECT check_same('SELECT sum(CASE WHEN nn <> 0 THEN id / nn END) FROM types');
SELECT check_same('SELECT count(*) FROM types WHERE nn <> 0 AND id / nullif(nn, 0) > 5');

-- extremes of text follow the collation; both in one query; of expressions
SELECT check_same('SELECT min(tx), max(tx), min(vc), max(vc), min(bc), max(bc), min(nt), max(dt) FROM types');
SELECT check_same('SELECT nn, min(tx COLLATE "C"), max(tx), min(upper(tx)), max(tx || ''x'') FROM types GROUP BY nn');
SELECT check_same('SELECT min(length(tx)), max(i4 + i2), min(-i4), max(n * n0), min(d + 1), max(extract(year FROM d)) FROM types');
SELECT check_same('SELECT city, min(note), max(note) FROM sales WHERE note > ''note 2'' GROUP BY city');

-- booleans and bits
SELECT check_same('SELECT bool_and(b), bool_or(b), every(i4 > 0), bool_and(b) FILTER (WHERE b), bool_or(i8 > 0) FILTER (WHERE false), bit_and(i2), bit_or(i4), bit_and(i8), bit_or(i8), bit_or(i2) FROM types');
SELECT check_same('SELECT nn, bool_and(b), bool_or(b), every(i4 > 0), bit_and(i2), bit_or(i4), bit_and(i8), bit_or(i8), bit_or(i2) FILTER (WHERE b) FROM types GROUP BY nn');
SELECT check_same('SELECT id, bool_and(b), bool_or(NOT b), bit_and(i2), bit_or(i4), bit_and(i8), bit_or(i8) FROM types GROUP BY id');
SELECT check_same('SELECT bool_and(b), every(b), bool_or(b), bit_and(i4), bit_or(i8) FROM types WHERE id < 0');
SELECT check_same('SELECT bool_and(b), bool_or(b), bit_and(i4), bit_or(i8) FROM types WHERE b IS NULL AND i4 IS NULL');
SELECT check_same('SELECT bit_and(i8), bit_or(i8), bit_and(i4), bit_or(i4), bit_and(i2), bit_or(i2), bool_and(i4 > 0), bool_or(i8 < 0) FROM extremes');
SELECT check_same('SELECT id, bit_and(i8), bit_or(i8), bit_and(i2), bit_or(i4) FROM extremes GROUP BY id');
SELECT check_same('SELECT price, bit_or(quantity), bool_or(note IS NULL) FROM sales GROUP BY price');
SELECT check_same('SELECT nn FROM types GROUP BY nn HAVING bool_or(b) AND bit_or(i2) <> 0');
SELECT check_same('SELECT nn, count(*) FROM types GROUP BY nn HAVING NOT bool_and(b) OR bool_or(b) IS NULL');
SELECT check_same('SELECT count(*), count(o) FROM (SELECT nn, bool_and(b) AS a, bool_or(i4 > 5) AS o FROM types GROUP BY nn) q WHERE a OR o');
SELECT check_same('SELECT count(*), sum(q.c) FROM types t JOIN (SELECT nn, bool_or(b) AS o, count(*) AS c FROM types GROUP BY nn) q ON t.nn = q.nn WHERE q.o');
SELECT check_error('SELECT bit_or(i4 + 1) FROM extremes');
SELECT check_error('SELECT bool_or(1 / (id - 3) > 0) FROM types');

-- variances: no value, one, many; scales; integers whose squares are not of their type
SELECT check_same('SELECT var_pop(i2), var_samp(i4), variance(i8), stddev_pop(n), stddev_samp(n0), stddev(i4), pg_typeof(stddev(i2)) FROM types');
SELECT check_same('SELECT nn, var_pop(i2), var_samp(i4), variance(i8), stddev_pop(n), stddev_samp(n0), stddev(i4), avg(n), sum(i4) FROM types GROUP BY nn');
SELECT check_same('SELECT id, var_pop(i2), var_samp(i4), variance(i8), stddev_pop(n), stddev_samp(n0), stddev(i4) FROM types GROUP BY id');
SELECT check_same('SELECT var_pop(i2), var_samp(i4), variance(i8), stddev_pop(n), stddev_samp(n0), stddev(i4) FROM types WHERE id < 0');
SELECT check_same('SELECT var_pop(i2), var_samp(i4), variance(n), stddev_pop(n), stddev_samp(n0) FROM types WHERE i2 IS NULL');
SELECT check_same('SELECT var_pop(i2), var_samp(i2), variance(i2), stddev_pop(i2), stddev_samp(i2), stddev(n) FROM types WHERE id = 7');
SELECT check_same('SELECT var_pop(7), var_samp(7.10), stddev(quantity * 0), stddev_pop(0.000 * price) FROM sales');
SELECT check_same('SELECT shop, stddev(price), variance(quantity), stddev_pop(price * quantity), var_samp(customer) FILTER (WHERE quantity > 25) FROM sales GROUP BY shop HAVING stddev(price) > 280');
SELECT check_same('SELECT price, stddev(quantity), var_pop(customer) FROM sales GROUP BY price');
SELECT check_same('SELECT var_pop(CASE WHEN b THEN n ELSE 0 END), var_samp(COALESCE(n, 0.000)) FROM types');
SELECT check_same('SELECT id, var_pop(CASE WHEN b THEN n ELSE 0 END), stddev(COALESCE(n, 0.000)) FROM types GROUP BY id');
SELECT check_same('SELECT stddev_samp(x), sqrt(var_samp(x)) FROM (SELECT CASE WHEN id = 1 THEN 1 ELSE 3000000 END AS x FROM sales WHERE id < 3) q');
SELECT check_same('SELECT variance(i4), stddev(i4), var_pop(i2) FROM extremes');
SELECT check_same('SELECT variance(i8) FROM extremes');
SELECT check_same('SELECT id, variance(i8), stddev_pop(i8) FROM extremes WHERE id IN (3, 4, 5) GROUP BY id');
SELECT check_same('SELECT stddev(nw) FROM types');
SELECT check_same('SELECT count(*), sum(v) FROM (SELECT nn, variance(i4) AS v FROM types GROUP BY nn) q');
SELECT check_error('SELECT stddev(i4 * 2) FROM extremes');

-- many aggregates in one query
SELECT check_same(format('SELECT %s FROM sales', string_agg(format('sum(quantity * %s)', i), ', '))) FROM generate_series(1, 100) AS i;
SELECT check_same(format('SELECT shop, %s FROM sales GROUP BY shop', string_agg(format('avg(customer + %s)', i), ', '))) FROM generate_series(1, 100) AS i;
SELECT check_same(format('SELECT id %% 700, %s FROM sales GROUP BY 1', string_agg(format('stddev(customer + %s)', i), ', '))) FROM generate_series(1, 60) AS i;

-- FILTER
SELECT check_same('SELECT count(*) FILTER (WHERE b), count(i4) FILTER (WHERE b), sum(n) FILTER (WHERE i4 > 0), avg(n) FILTER (WHERE NOT b), min(d) FILTER (WHERE b), max(tx) FILTER (WHERE nn = 3) FROM types');
SELECT check_same('SELECT nn, count(*) FILTER (WHERE b), sum(i8) FILTER (WHERE i4 > i2), avg(i2) FILTER (WHERE false), count(*) FILTER (WHERE NULL) FROM types GROUP BY nn');
SELECT check_same('SELECT city, count(*) FILTER (WHERE note IS NULL), sum(price) FILTER (WHERE note LIKE ''%1'') FROM sales GROUP BY city');

-- keys: one, many, NULL, expressions, constants, dependent columns
SELECT check_same('SELECT customer, count(*) FROM sales GROUP BY customer');
SELECT check_same('SELECT shop, city, quantity, count(*), sum(price) FROM sales GROUP BY shop, city, quantity');
SELECT check_same('SELECT b, i2, bc, dt, dd, count(*), min(id) FROM types GROUP BY 1, 2, 3, 4, 5');
SELECT check_same('SELECT b, i2, i4, i8, n, d, ts, tz, tx, vc, bc, di, dn, dt, dd, nn, count(*) FROM types GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16');
SELECT check_same('SELECT b, b IS NULL, b AND nn > 3, count(*) FROM types GROUP BY 1, 2, 3');
SELECT check_same('SELECT i4 % 10, abs(i2), d - dd, n * 2, count(*) FROM types GROUP BY 1, 2, 3, 4');
SELECT check_same('SELECT upper(tx), length(vc), nt || ''-'', count(*) FROM types GROUP BY 1, 2, 3');
SELECT check_same('SELECT extract(year FROM day), date_trunc(''month'', day), CASE WHEN shop < 9 THEN ''small'' ELSE ''big'' END, count(*) FROM sales GROUP BY 1, 2, 3');
SELECT check_same('SELECT ''constant'', 5, count(*) FROM sales GROUP BY 1, 2');
SELECT check_same('SELECT 5 AS five FROM sales GROUP BY five');
SELECT check_same('SELECT shop FROM sales GROUP BY shop');
SELECT check_same('SELECT id, i4, tx, n, count(*) FROM types GROUP BY id');
SELECT check_same('SELECT s_id, s_name, s_open, count(*) FROM sales JOIN shop ON shop = s_id GROUP BY s_id');
SELECT check_same('SELECT quantity % 2 = 0, bool_column, count(*) FROM (SELECT quantity, price > 500 AS bool_column FROM sales) q GROUP BY 1, 2');
SELECT check_same('SELECT shop, shop + 1, shop * 2, count(*) FROM sales GROUP BY shop');
-- groups: few to many; more than estimated
SELECT check_same('SELECT id, count(*), sum(price) FROM sales GROUP BY id');
SELECT check_same('SELECT id % 20000, customer, count(*) FROM sales GROUP BY 1, 2');
SELECT check_same('SELECT id::text, count(*) FROM sales WHERE id < 700 GROUP BY 1');
SELECT check_same('SELECT price, at, count(*) FROM sales GROUP BY 1, 2');
SELECT check_same('SELECT id * 7919 % 1000003, quantity * id, count(*), min(city) FROM sales GROUP BY 1, 2');
CREATE TABLE public.many AS SELECT i AS id, (i * 7919::int8) % 300007 AS k, (i * 104729::int8 % 1000003) * 9000000000000 AS wide FROM generate_series(1, 400000) AS i;
VACUUM (FREEZE, ANALYZE) public.many;
SELECT check_same('SELECT count(*), sum(c), min(m), max(m), sum(k) FROM (SELECT k, count(*) AS c, min(id) AS m FROM public.many GROUP BY k OFFSET 0) q', '{public}');
SELECT check_same('SELECT count(*), sum(c), min(m), sum(wide) FROM (SELECT wide, count(*) AS c, max(id) AS m FROM public.many GROUP BY wide OFFSET 0) q', '{public}');
SELECT check_same('SELECT sum(wide), avg(wide), count(*), sum(wide * 1.5) FROM public.many', '{public}');
SELECT check_same('SELECT id % 3, sum(wide), avg(wide) FROM public.many GROUP BY 1', '{public}');
SELECT check_error('SELECT id % 3, sum(wide * 2) FROM public.many GROUP BY 1', '{public}');
DROP TABLE public.many;

-- HAVING, projections, order, limit, windows, set operations above
SELECT check_same('SELECT shop FROM sales GROUP BY shop HAVING count(*) > 444 AND sum(price) < 230000');
SELECT check_same('SELECT shop FROM sales GROUP BY shop HAVING min(note) > ''note 1'' OR upper(max(note)) = ''X''');
SELECT check_same('SELECT shop, max(price) - min(price) AS spread FROM sales GROUP BY shop HAVING avg(quantity) > 24 OR shop IS NULL');
SELECT check_same('SELECT city, sum(price) / count(*) + 1, upper(city) || count(*), round(avg(price), 2) FROM sales GROUP BY city');
SELECT check_same('SELECT shop, sum(price) AS total FROM sales GROUP BY shop ORDER BY total DESC, shop LIMIT 5');
SELECT check_same('SELECT shop, rank() OVER (ORDER BY sum(price)), sum(sum(price)) OVER () FROM sales GROUP BY shop');
SELECT check_same('SELECT DISTINCT count(*) FROM sales GROUP BY customer');
SELECT check_same('SELECT shop, count(*) FROM sales GROUP BY shop UNION ALL SELECT -1, count(*) FROM sales');
SELECT check_same('SELECT avg(c) FROM (SELECT customer, count(*) AS c FROM sales GROUP BY customer) q');
SELECT check_same('SELECT s_name, (SELECT count(*) FROM types) FROM shop GROUP BY s_name');
SELECT check_same('SELECT q.shop, q.total, shop.s_name FROM (SELECT shop, sum(price) AS total FROM sales GROUP BY shop) q JOIN shop ON s_id = q.shop');
SELECT check_same('SELECT x, sum(y) FROM (SELECT shop AS x, price AS y FROM sales UNION ALL SELECT quantity, price FROM sales) q GROUP BY x');
CREATE TEMP TABLE into_table AS SELECT shop, sum(price) AS total FROM sales GROUP BY shop;
SELECT count(*), sum(total) FROM into_table;
SELECT check_same('SELECT shop, total FROM (SELECT shop, sum(price) AS total FROM sales GROUP BY shop EXCEPT ALL SELECT * FROM into_table) q');

-- aggregates that PostgreSQL computes itself, over rows from the device
SELECT q, check_same(q) FROM unnest(ARRAY[
	'SELECT count(DISTINCT shop) FROM sales', 'SELECT sum(DISTINCT quantity), count(*) FROM sales', 'SELECT string_agg(city, '','' ORDER BY id) FROM sales', 'SELECT array_agg(i4 ORDER BY id) FROM types', 'SELECT bit_and(i4::bit(32)) FROM types',
	'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price) FROM sales', 'SELECT shop, city, count(*) FROM sales GROUP BY ROLLUP (1, 2), (''x''::text)', 'SELECT regr_count(quantity, shop) FROM sales'
]) AS q;
-- (these depend on the order of rows)
SELECT refusal('SELECT stddev(f8) FROM types'), refusal('SELECT corr(f8, f4) FROM types');
-- aggregates that are PostgreSQL's altogether
SELECT q, refusal(q) FROM unnest(ARRAY[
	'SELECT max(ARRAY[i4]) FROM types', 'SELECT count(NULL) FROM types', 'SELECT sum(f8::numeric) FROM types'
]) AS q;
SET gpuconc.enable_float_aggs = off;
SELECT refusal('SELECT sum(f8) FROM types'), refusal('SELECT max(f4) FROM types'), refusal('SELECT avg(f8) FILTER (WHERE b) FROM types');
SELECT check_same('SELECT count(f8), sum(i4) FROM types WHERE f8 > 0');
-- sums beyond 64 bits, at each place of the decimal point among a numeric's digits
SELECT check_aggregated('SELECT id, ' || string_agg(format('sum(i8 * 987654321%s)', CASE WHEN s > 0 THEN rpad('.', s + 1, '1') END), ', ') || ' FROM types GROUP BY id') FROM generate_series(0, 9) AS s;
