-- Division of numerics: quotients have digits of their own in each row.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- compared, computed with, summed up; the largest display scale is shown
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT count(*) FROM types WHERE n / 7 > n0', 'SELECT count(*) FROM types WHERE n / NULLIF(n0, 0) = 1', 'SELECT count(*) FROM types WHERE (n * 1.3) / (n0 * n0 + 0.01) > 0.5', 'SELECT sum(n / n0), avg(n / (n0 + 1000)), count(n / 3) FROM types WHERE n0 <> 0', 'SELECT nn, sum(n / 7), sum(n / 7 * 1.2), avg(n / 3 + n0), sum(CASE WHEN b THEN n / 7 ELSE n0 END), sum(-(n / 7)), sum(abs(n / 7) - n) FROM types GROUP BY nn', 'SELECT nn, sum(i8::numeric / i4) FROM types WHERE i4 <> 0 GROUP BY nn', 'SELECT sum(price / quantity), avg(price / customer), count(*) FROM sales WHERE quantity > 0 AND customer > 0', 'SELECT shop, sum(price / quantity) FROM sales WHERE quantity > 0 GROUP BY ROLLUP (shop)', 'SELECT shop, sum(price / 3) FILTER (WHERE price > 990), sum(0 / price) FROM sales GROUP BY shop',
	'SELECT (price / 3)::numeric(12,2), count(*), max((price / quantity)::numeric(10,3)) FROM sales WHERE quantity > 0 GROUP BY 1', 'SELECT sum(CASE WHEN n0 <> 0 THEN n / n0 END) FROM types', 'SELECT nn, sum(n) / sum(n0) FROM types GROUP BY nn HAVING CASE WHEN sum(n0) > 0 THEN sum(n) / sum(n0) ELSE 0 END > 0.1', 'SELECT shop FROM sales GROUP BY shop ORDER BY sum(price) / sum(quantity) DESC LIMIT 5'
]) AS q;
-- averages and quotients of subqueries
SELECT q, check_aggregated(q) FROM unnest(ARRAY[
	'SELECT avg(a), sum(a), count(a), sum(a * 1.2), avg(a + 1) FROM (SELECT shop, avg(price) a FROM sales GROUP BY shop) x', 'SELECT quantity, sum(x.a), avg(x.a * price) FROM sales s, (SELECT shop, avg(price) a FROM sales GROUP BY shop) x WHERE s.shop = x.shop GROUP BY quantity', 'SELECT s_region, sum(x.a / x.b), sum(x.c) FROM shop, (SELECT shop, sum(price) a, sum(quantity) b, sum(price) / sum(quantity) c FROM sales GROUP BY shop) x WHERE s_id = x.shop GROUP BY s_region', 'SELECT s_id, x.c, x.d FROM shop, (SELECT shop, sum(price) / sum(quantity) c, avg(price) d FROM sales GROUP BY shop) x WHERE s_id = x.shop AND x.c > 0.5',
	'SELECT count(*) FROM (SELECT shop, sum(price) a FROM sales WHERE quantity < 5 GROUP BY shop) x, (SELECT shop, sum(price) a FROM sales WHERE quantity > 5 GROUP BY shop) y WHERE x.shop = y.shop AND CASE WHEN x.a > 0 THEN y.a / x.a ELSE NULL END > CASE WHEN y.a > 0 THEN x.a / y.a * 1.1 END'
]) AS q;
-- zero divides nothing: not in a row, nor in a group that no join needs
SELECT q, check_error(q) FROM unnest(ARRAY[
	'SELECT sum(n / n0) FROM types', 'SELECT sum(n / 0) FROM types', 'SELECT count(*) FROM types WHERE 1.5 / n0 > 1', 'SELECT count(*), sum(x.t) FROM shop, (SELECT shop, 1 / (min(shop) - 1.0) t FROM sales GROUP BY shop) x WHERE x.shop = s_id AND s_id > 5 AND x.t > 0', 'SELECT s_id, x.s FROM shop, (SELECT shop, 10.0 / (min(shop) - 1) s FROM sales GROUP BY shop) x WHERE x.shop = s_id AND s_id > 5'
]) AS q;
-- more than 128 bits; what is PostgreSQL's
SELECT q, check_same(q), refusal(q) FROM unnest(ARRAY['SELECT variance(price / 3) FROM sales', 'SELECT sum((i4 / 3.0) * (i2 / 7.0)) FROM types', 'SELECT min(price / 3) FROM sales', 'SELECT price / 3, count(*) FROM sales GROUP BY 1', 'SELECT sum(price / 3 / 7) FROM sales']) AS q;
