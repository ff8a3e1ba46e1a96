-- Joins without an equality: each row of one relation is tried for each row of the other, in inner,
-- left, semi and anti joins; and the only row of an aggregated subquery.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- plans
SELECT plan_of('SELECT count(*) FROM customer, shop WHERE c_region < s_region AND s_id < 10');
SELECT plan_of('SELECT count(*) FROM customer WHERE EXISTS (SELECT FROM shop WHERE s_region BETWEEN c_region AND c_id)');
SELECT plan_of('SELECT c_name FROM customer LEFT JOIN shop ON c_id < s_id AND s_region > 3');
SELECT plan_of('SELECT count(*) FROM sales, (SELECT avg(quantity) AS a FROM sales) s WHERE quantity > a');

-- inner: ranges, no condition at all, nothing in one of them
SELECT check_whole('SELECT count(*), sum(c_id + s_id) FROM customer, shop WHERE c_region < s_region');
SELECT check_whole('SELECT count(*), sum(c_id), min(s_name) FROM customer, shop');
SELECT check_whole('SELECT count(*) FROM customer, shop WHERE s_id < 0');
SELECT check_whole('SELECT count(*) FROM customer, shop WHERE c_id < 0 AND c_region > s_region');
SELECT check_whole('SELECT c_id, s_id, s_region FROM customer, shop WHERE s_region BETWEEN c_region AND c_region + 1 AND c_id < 100');
SELECT check_whole('SELECT c_id, s_id FROM customer JOIN shop ON c_region IS DISTINCT FROM s_region WHERE c_id < 50 AND s_id < 50');
SELECT check_whole('SELECT c_region, s_region, count(*), avg(c_id) FROM customer, shop WHERE c_id % 50 > s_id AND (c_region IS NULL OR s_region <> 2) GROUP BY 1, 2');
SELECT check_whole('SELECT count(*), sum(a.quantity * b.quantity) FROM sales a, sales b WHERE a.id < b.id AND a.id < 700 AND b.id < 900');
SELECT check_whole('SELECT count(*), sum(price) FROM sales, product WHERE price BETWEEN p_price - 1 AND p_price + 1');
SELECT check_whole('SELECT weekend, count(*), max(price) FROM sales, calendar c WHERE at >= c.day AND at < c.day + interval ''1 day'' AND quantity < 5 GROUP BY 1');
SELECT c, check_whole(format('SELECT count(*), sum(a.id * b.id) FROM types a, types b WHERE a.%1$I < b.%1$I AND a.id < 300 AND b.id %% 5 = 0', c)) AS pairs
FROM unnest('{i2,i4,i8,n,nw,n0,d,ts,tz,di,dn,dd,nn}'::text[]) AS c;
SELECT c, check_whole(format('SELECT a.id, b.id, b.%1$I FROM extremes a, extremes b WHERE a.%1$I >= b.%1$I', c)) AS pairs
FROM unnest('{i2,i4,i8,n,d,ts,tz,one}'::text[]) AS c;

-- several, with equalities besides, on either side of them
SELECT check_whole('SELECT count(*) FROM customer, shop a, shop b WHERE c_region < a.s_region AND a.s_id < b.s_region AND c_id < 200');
SELECT check_whole('SELECT count(*), sum(quantity) FROM sales, customer, shop WHERE customer = c_id AND s_region > c_region AND quantity < 10');
SELECT check_whole('SELECT s_region, count(*) FROM sales, shop, city WHERE quantity > s_id AND city.city = sales.city AND people > s_region * 500 GROUP BY 1');
SELECT check_whole('SELECT count(*) FROM product, shop, customer WHERE p_price > s_id AND c_id = s_region AND c_name <> p_code');
SELECT check_whole('SELECT c_id, count(*) FROM sales JOIN customer ON c_id = customer LEFT JOIN shop ON s_id < c_region AND s_region > quantity % 5 WHERE c_id < 40 GROUP BY 1');

-- left joins
SELECT check_whole('SELECT count(*), count(s_id), sum(s_region) FROM customer LEFT JOIN shop ON c_region < s_region');
SELECT check_whole('SELECT c_id, s_id, s_name FROM customer LEFT JOIN shop ON c_id BETWEEN s_id AND s_id + 2');
SELECT check_whole('SELECT count(*), count(s_id) FROM customer LEFT JOIN shop ON true');
SELECT check_whole('SELECT count(*), count(s_id) FROM customer LEFT JOIN shop ON s_id < 0');
SELECT check_whole('SELECT count(*), count(s_id) FROM customer LEFT JOIN shop ON c_id > 100 AND c_region > 1');
SELECT check_whole('SELECT count(*), sum(s_id) FROM customer LEFT JOIN shop ON c_region < s_region WHERE coalesce(s_id, 0) < 20');
SELECT check_whole('SELECT count(*), sum(x.s_id) FROM customer LEFT JOIN (shop x LEFT JOIN shop y ON x.s_id < y.s_region) ON c_region < x.s_region');

-- semi and anti joins
SELECT check_whole('SELECT count(*), sum(c_id) FROM customer WHERE EXISTS (SELECT FROM shop WHERE s_region > c_region)');
SELECT check_whole('SELECT count(*), sum(c_id) FROM customer WHERE NOT EXISTS (SELECT FROM shop WHERE s_region > c_region)');
SELECT check_whole('SELECT c_id FROM customer WHERE EXISTS (SELECT FROM shop WHERE c_id BETWEEN s_id * 3 AND s_id * 3 + 1)');
SELECT check_whole('SELECT c_id FROM customer WHERE NOT EXISTS (SELECT FROM shop WHERE c_id BETWEEN s_id * 3 AND s_id * 3 + 1)');
SELECT check_whole('SELECT count(*) FROM customer WHERE EXISTS (SELECT FROM shop WHERE s_region = c_region OR s_id = c_id)');
SELECT check_whole('SELECT count(*) FROM customer WHERE NOT EXISTS (SELECT FROM shop WHERE s_region = c_region OR s_id > c_id * 7)');
SELECT check_whole('SELECT count(*) FROM customer WHERE NOT EXISTS (SELECT FROM shop WHERE s_region > c_region AND s_id < 0)');
SELECT check_whole('SELECT count(*) FROM customer LEFT JOIN shop ON s_id > c_id * 2 WHERE s_id IS NULL');
SELECT check_whole('SELECT count(*) FROM sales WHERE EXISTS (SELECT FROM customer WHERE customer = c_id AND EXISTS (SELECT FROM shop WHERE s_region > c_region))');
SELECT check_whole('SELECT count(*) FROM sales, customer WHERE customer = c_id AND NOT EXISTS (SELECT FROM shop WHERE s_region > quantity AND s_id > c_region)');
SELECT check_whole('SELECT count(*) FROM sales a WHERE NOT EXISTS (SELECT FROM sales b WHERE b.price > a.price AND b.id < 500) AND EXISTS (SELECT FROM shop WHERE s_id > quantity)');

-- the only row of an aggregate
SELECT check_whole('SELECT count(*), sum(price) FROM sales, (SELECT avg(quantity) AS a FROM sales) s WHERE quantity > a');
SELECT check_whole('SELECT id, price - m FROM sales, (SELECT max(price) AS m, min(quantity) AS q FROM sales WHERE shop = 3) s WHERE price > m - 20 AND quantity > q');
SELECT check_whole('SELECT count(*), max(m) FROM sales, (SELECT max(price) AS m FROM sales WHERE shop = -3) s WHERE price > m');
SELECT check_whole('SELECT count(*), sum(c) FROM sales LEFT JOIN (SELECT count(*) AS c, avg(s_id) AS a FROM shop) s ON quantity > a');
SELECT check_whole('SELECT count(*), sum(c) FROM sales, (SELECT count(*) AS c FROM shop HAVING count(*) > 10000) s');
SELECT check_whole('SELECT count(*) FROM sales, (SELECT avg(c_region) AS a FROM customer) c, (SELECT avg(s_region) AS b FROM shop) s WHERE quantity > a AND quantity > b * 2');
SELECT check_whole('SELECT shop, sum(price), max(t) FROM sales, (SELECT sum(price) AS t FROM sales) s GROUP BY shop, t HAVING sum(price) > t * 0.02');
SELECT check_whole('SELECT count(*) FROM (SELECT customer, sum(price) AS p FROM sales GROUP BY 1) x, (SELECT avg(price) * 20 AS a FROM sales) y WHERE p > a');

-- a row source, and groups, are tried, too
SELECT check_whole('SELECT count(*), sum(price) FROM sales, (VALUES (1, 5), (20, 22), (NULL, 3)) v(lo, hi) WHERE quantity BETWEEN lo AND hi');
SELECT check_whole('SELECT count(*) FROM sales, generate_series(1, 77) g WHERE quantity > g * 3');
SELECT check_whole('SELECT count(*) FROM sales, (SELECT shop AS s, avg(quantity) AS a FROM sales GROUP BY 1) x WHERE quantity > a AND shop <> s AND s < 9');
SELECT check_whole('SELECT count(*) FROM sales WHERE EXISTS (SELECT FROM (SELECT shop AS s, max(quantity) AS m, min(quantity) AS n FROM sales WHERE id < 200 GROUP BY 1) x WHERE m - n < quantity AND s > shop)');

-- prepared, with parameters: a generic plan
PREPARE pairs(int, int) AS SELECT count(*), sum(c_id) FROM customer, shop WHERE c_region + $1 < s_region AND s_id > $2;
SET plan_cache_mode = force_generic_plan;
SET gpuconc.debug_offload = require;
EXECUTE pairs(1, 3);
EXECUTE pairs(-2, 10);
SET gpuconc.debug_offload = forbid;
EXECUTE pairs(1, 3);
EXECUTE pairs(-2, 10);
RESET plan_cache_mode;
SET gpuconc.debug_offload = allow;

-- pieces: more pairs than one launch tries (t/schedule.pl: one that is cancelled)
CREATE TABLE many AS SELECT g AS id, g * 37 % 1001 AS v FROM generate_series(1, 15000) g;
VACUUM ANALYZE many;
SELECT check_here('SELECT count(*), sum(a.v + b.v) FROM many a, many b WHERE a.v < b.v');
SELECT check_here('SELECT count(*) FROM many a WHERE NOT EXISTS (SELECT FROM many b WHERE a.v + b.v = 2000 AND b.id > a.id * 2)');
-- of several lists: each is cut, and searched for a match in all of its slices
CREATE TABLE few AS SELECT g AS id, g * 17 % 501 AS v FROM generate_series(1, 500) g;
CREATE TABLE others AS SELECT g AS id, g * 11 % 701 AS v FROM generate_series(1, 700) g;
VACUUM ANALYZE few, others;
SELECT check_here('SELECT count(*), sum(a.v + b.id + c.v) FROM others a, few b, few c WHERE a.v < b.v AND c.v BETWEEN a.v AND b.v AND a.id % 4 = 1');
SELECT check_here('SELECT count(*), sum(a.v + b.id + c.v) FROM many a, few b, few c WHERE a.v = b.v + c.v AND a.id < b.id + c.id AND a.v + b.v < 40');
SELECT check_here('SELECT count(*), count(b.id), sum(b.v), sum(a.id) FROM many a LEFT JOIN others b ON a.v < b.v AND a.id + b.id < 900');
SELECT check_here('SELECT count(*), count(b.id), sum(b.v), sum(c.id), sum(a.id) FROM others a LEFT JOIN few b ON a.v < b.v AND b.id % 50 = 3 LEFT JOIN few c ON c.v < b.v AND c.id > a.id');
SELECT check_here('SELECT count(*), count(b.id), sum(b.v), sum(c.id), sum(a.id) FROM others a LEFT JOIN few b ON a.v < b.v AND b.id % 50 = 3 JOIN few c ON c.v < a.v AND c.id > a.id');
SELECT check_here('SELECT count(*), sum(b.v) FROM others a LEFT JOIN few b ON a.v < b.v AND b.id % 5 = 3 WHERE NOT EXISTS (SELECT FROM few c WHERE c.v > a.v AND c.id > 400)');
DROP TABLE few, others;
-- an overflow of some pair is PostgreSQL's error
SET gpuconc.debug_offload = require;
SELECT count(*) FROM many a, many b WHERE a.id * 200000 + b.id > 7;
RESET gpuconc.debug_offload;

-- the cost of pairs: few are tried, many are not
SET gpuconc.debug_offload = allow;
SET gpuconc.debug_pair_cost = 1000;
EXPLAIN (COSTS OFF) SELECT count(*) FROM many a, many b WHERE a.id < b.id;
SET gpuconc.debug_pair_cost = 0;
SET gpuconc.offload_cost = 0;
SET gpuconc.debug_tuple_cost = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM many a, many b WHERE a.id < b.id;
DROP TABLE many;
