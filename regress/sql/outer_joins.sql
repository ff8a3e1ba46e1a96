-- Left and right joins, in one node with what is around them: keys, NULLs, duplicates,
-- conditions beside the keys, filters above, nested and below aggregates.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- plans
SELECT plan_of('SELECT s_name, count(*), count(c_id) FROM sales JOIN shop ON shop = s_id LEFT JOIN customer ON customer = c_id AND c_region > quantity / 10 GROUP BY s_name');
SELECT plan_of('SELECT c_id, count(id) FROM customer LEFT JOIN sales ON customer = c_id AND quantity < 5 GROUP BY c_id');

-- unique keys: missing on either side, NULL
SELECT check_whole('SELECT count(*), count(c_id), count(c_name), sum(quantity), sum(c_region), min(c_name), max(c_city) FROM sales LEFT JOIN customer ON customer = c_id');
SELECT check_whole('SELECT p_brand, count(*), sum(price * quantity), min(p_price), max(p_price) FROM sales LEFT JOIN product ON product = p_id GROUP BY p_brand');
SELECT check_whole('SELECT y, m, weekend, count(*) FROM sales s LEFT JOIN calendar c ON s.day = c.day GROUP BY 1, 2, 3');
SELECT check_whole('SELECT y, count(*) FROM sales s LEFT JOIN calendar c ON s.at = c.day GROUP BY y');
SELECT check_whole('SELECT id, c_name, c_region FROM sales LEFT JOIN customer ON customer = c_id WHERE quantity = 4');
SELECT check_whole('SELECT count(c_name), max(id) FROM customer RIGHT JOIN sales ON customer = c_id');
-- a row of the outer side comes once for each match
SELECT check_whole('SELECT s_id, count(*), count(id), sum(price) FROM shop LEFT JOIN sales ON s_id = shop GROUP BY s_id');
SELECT check_whole('SELECT c_id, count(id), min(day) FROM customer LEFT JOIN sales ON c_id = customer AND quantity > 45 GROUP BY c_id');
SELECT check_whole('SELECT s.city, people, count(*) FROM sales s LEFT JOIN city USING (city) GROUP BY 1, 2');
SELECT check_whole('SELECT a.id, b.id FROM types a LEFT JOIN types b ON a.i4 = b.i4 AND a.n = b.n');
SELECT check_whole('SELECT count(*), sum(b.id) FROM sales a LEFT JOIN sales b ON a.customer = b.customer AND a.product = b.product AND a.id < b.id');
-- keys of every type
SELECT c, check_whole(format('SELECT count(*), sum(a.id), sum(b.id::int8) FROM types a LEFT JOIN types b ON a.%1$I = b.%1$I AND b.id %% 2 = 0', c)),
	check_whole(format('SELECT a.id, b.id, b.one FROM extremes a LEFT JOIN extremes b ON a.%1$I = b.%1$I AND b.id < 7', CASE c WHEN 'i4' THEN 'i4' WHEN 'n' THEN 'n' WHEN 'd' THEN 'd' WHEN 'ts' THEN 'ts' WHEN 'tx' THEN 'tx' ELSE 'bc' END)) AS extremes
FROM unnest('{b,i4,n,nw,n0,d,ts,tz,tx,vc,bc,dn,dt,dd}'::text[]) AS c;
SELECT check_whole('SELECT a.id, b.id FROM extremes a LEFT JOIN extremes b ON a.i8 = b.i8');
SELECT check_whole('SELECT a.id, b.i8, b.id FROM extremes a LEFT JOIN extremes b ON a.i4 = b.i4');
SELECT check_whole('SELECT a.id, b.i2, b.i4, b.n, b.d, b.ts, b.tz, b.tx, b.bc FROM extremes a LEFT JOIN extremes b ON a.id = b.id + 3');
SELECT check_whole('SELECT a.id, b.b, b.i2, b.i4, b.i8, b.n, b.n0, b.d, b.ts, b.tz, b.tx, b.vc, b.bc, b.di, b.dn, b.dt, b.dd FROM sales a LEFT JOIN types b ON a.id = b.id WHERE a.id % 7 = 0');
SELECT check_near('SELECT sum(b.f8) AS a, avg(b.f4) AS b, count(b.f8) AS c, max(b.f8) AS d FROM sales a LEFT JOIN types b ON a.customer = b.id');
SELECT check_whole('SELECT count(*), sum(p_id) FROM sales LEFT JOIN product ON price = p_price');
SELECT check_whole('SELECT c_region, count(*), min(p_brand), max(c_name) FROM customer LEFT JOIN product ON c_code = p_code GROUP BY c_region');
SELECT check_whole('SELECT count(*), count(people) FROM sales LEFT JOIN city ON upper(sales.city) = upper(city.city)');
SELECT check_whole('SELECT count(*), min(p_brand) FROM sales LEFT JOIN product ON product + 1 = p_id - 1');

-- conditions beside the keys: on either side, on both
SELECT check_whole('SELECT count(*), count(c_id), sum(c_region) FROM sales LEFT JOIN customer ON customer = c_id AND c_region = 3');
SELECT check_whole('SELECT count(*), count(c_id), sum(c_region) FROM sales LEFT JOIN customer ON customer = c_id AND quantity > 20');
SELECT check_whole('SELECT count(*), count(c_id), sum(c_region) FROM sales LEFT JOIN customer ON customer = c_id AND c_region * 10 > quantity');
SELECT check_whole('SELECT count(*), count(b.id), sum(b.quantity) FROM sales a LEFT JOIN sales b ON a.customer = b.customer AND a.shop = b.shop AND b.price > a.price');
SELECT check_whole('SELECT s_id, count(id) FROM shop LEFT JOIN sales ON s_id = shop AND (quantity > s_region * 9 OR note IS NULL AND s_region = 2) GROUP BY s_id');
SELECT check_whole('SELECT id, people FROM sales LEFT JOIN city ON sales.city = city.city AND people / 100 <> quantity AND note LIKE ''note 1%'' WHERE id < 3000');
SELECT check_whole('SELECT s.id, c_name FROM sales s LEFT JOIN customer ON customer = c_id AND city = c_city WHERE s.id % 11 = 0');

-- NULLs of the inner side, above the join
SELECT check_whole('SELECT coalesce(c_region, -1), count(*) FROM sales LEFT JOIN customer ON customer = c_id GROUP BY 1');
SELECT check_whole('SELECT count(*) FROM sales LEFT JOIN customer ON customer = c_id WHERE coalesce(c_region, 3) = 3');
SELECT check_whole('SELECT count(*), count(c_region) FROM sales LEFT JOIN customer ON customer = c_id AND c_region > 2 WHERE c_region IS NULL OR c_region = 4');
SELECT check_whole('SELECT sum(CASE WHEN c_name IS NULL THEN 1 ELSE 0 END), count(*) FILTER (WHERE c_city = ''city 3'' IS NOT TRUE) FROM sales LEFT JOIN customer ON customer = c_id');
SELECT check_whole('SELECT count(*) FROM sales LEFT JOIN customer ON customer = c_id AND c_region = 2 WHERE coalesce(c_name, ''none'') LIKE ''%n%e'' ');
SELECT check_whole('SELECT coalesce(c_name, ''none'') LIKE ''%n%e'', count(*) FROM sales LEFT JOIN customer ON customer = c_id AND c_region = 2 GROUP BY 1');
-- ... and expressions that are computed below it
SELECT check_whole('SELECT id, z FROM sales LEFT JOIN (SELECT c_id, coalesce(c_region, 0) + 1 AS z FROM customer) c ON customer = c_id WHERE quantity = 3');
SELECT check_whole('SELECT z, count(*) FROM sales LEFT JOIN (SELECT c_id, coalesce(c_code, ''none'') AS z FROM customer WHERE c_region = 1) c ON customer = c_id GROUP BY z');
SELECT check_whole('SELECT upper(z), count(*) FROM sales LEFT JOIN (SELECT c_id, coalesce(c_name, ''none'') AS z FROM customer WHERE c_region = 1) c ON customer = c_id WHERE id < 900 GROUP BY 1');
SELECT check_whole('SELECT one, count(*), sum(one) FROM sales LEFT JOIN (SELECT c_id, 1 AS one FROM customer WHERE c_region = 1) c ON customer = c_id GROUP BY one');
SELECT check_whole('SELECT z, count(*) FROM sales LEFT JOIN (SELECT c_id, c_region IS NULL OR s_region > 3 AS z FROM customer JOIN shop ON c_region = s_id) c ON customer = c_id GROUP BY z');

-- several; nested; with inner joins below, above and beside
SELECT check_whole('SELECT c_region, s_region, p_brand, count(*) FROM sales LEFT JOIN customer ON customer = c_id LEFT JOIN shop ON shop = s_id LEFT JOIN product ON product = p_id GROUP BY 1, 2, 3');
SELECT check_whole('SELECT r_name, count(*) FROM sales LEFT JOIN shop ON shop = s_id LEFT JOIN region ON s_region = r_id GROUP BY 1');
SELECT check_whole('SELECT r_name, count(*), count(s_id) FROM sales LEFT JOIN (shop LEFT JOIN region ON s_region = r_id AND r_id > 2) ON shop = s_id GROUP BY 1');
SELECT check_whole('SELECT r_name, count(*), count(s_id) FROM sales LEFT JOIN (shop JOIN region ON s_region = r_id AND r_id > 2) ON shop = s_id GROUP BY 1');
SELECT check_whole('SELECT r_name, s_name, c_city, count(*) FROM sales JOIN shop ON shop = s_id LEFT JOIN region ON s_region = r_id JOIN customer ON customer = c_id GROUP BY 1, 2, 3');
SELECT check_whole('SELECT q.r_name, count(*) FROM sales JOIN customer ON customer = c_id LEFT JOIN shop ON shop = s_id AND s_region = c_region LEFT JOIN region q ON q.r_id = s_region GROUP BY 1');
SELECT check_whole('SELECT count(*), sum(b.c_region) FROM sales LEFT JOIN customer a ON customer = a.c_id LEFT JOIN customer b ON a.c_region = b.c_id LEFT JOIN customer c ON b.c_id + 1 = c.c_id');
SELECT check_whole('SELECT count(*), count(r_id) FROM sales LEFT JOIN customer ON customer = c_id LEFT JOIN region ON coalesce(c_region, 5) = r_id');
SELECT check_whole('SELECT count(*), count(people) FROM (sales LEFT JOIN customer ON customer = c_id) LEFT JOIN city ON c_city = city.city AND people > quantity * 100');
SELECT check_whole('SELECT count(*), count(c_id), count(s_id) FROM sales LEFT JOIN (customer JOIN shop ON c_region = s_id) ON customer = c_id AND shop = s_id');
SELECT check_whole('SELECT s_id, c_id, count(*) FROM shop LEFT JOIN (sales JOIN customer ON customer = c_id AND c_region = 4) ON s_id = shop GROUP BY 1, 2');
SELECT check_whole('SELECT count(*) FROM sales LEFT JOIN customer ON customer = c_id JOIN region ON r_id = coalesce(c_region, 1) AND r_id = quantity');

-- aggregates below and above
SELECT check_whole('SELECT n, count(*) FROM (SELECT c_id, count(id) AS n FROM customer LEFT JOIN sales ON customer = c_id AND note NOT LIKE ''%1%'' GROUP BY c_id) x GROUP BY n');
SELECT check_whole('SELECT c_id, n, s FROM customer LEFT JOIN (SELECT customer, count(*) AS n, sum(quantity) AS s FROM sales WHERE shop < 5 GROUP BY customer) x ON c_id = customer');
SELECT check_whole('SELECT c_region, count(*), sum(n) FROM customer LEFT JOIN (SELECT customer, count(*) AS n FROM sales GROUP BY customer HAVING count(*) > 38) x ON c_id = customer GROUP BY c_region');
SELECT check_whole('SELECT c_id, n FROM customer LEFT JOIN (SELECT customer, coalesce(sum(quantity), 0) + 1 AS n FROM sales WHERE shop = 9 GROUP BY customer) x ON c_id = customer');
SELECT check_same('SELECT c_id, a FROM customer LEFT JOIN (SELECT customer, coalesce(avg(quantity), 0) AS a FROM sales WHERE shop = 9 GROUP BY customer) x ON c_id = customer');

-- nothing on one side
CREATE TABLE public.empty_dim (k int8 PRIMARY KEY, t text) WITH (autovacuum_enabled = off);
CREATE TABLE public.null_dim (k int4, t text) WITH (autovacuum_enabled = off);
INSERT INTO public.null_dim VALUES (NULL, 'a'), (NULL, 'b');
VACUUM ANALYZE public.empty_dim, public.null_dim;
SELECT check_whole('SELECT count(*), count(k), min(t) FROM sales LEFT JOIN public.empty_dim ON customer = k');
SELECT check_whole('SELECT count(*), count(t), min(t) FROM sales LEFT JOIN public.null_dim ON customer = k');
SELECT check_whole('SELECT k, count(*) FROM sales LEFT JOIN public.null_dim ON note = t GROUP BY k');
SELECT check_whole('SELECT count(*), count(id) FROM public.null_dim LEFT JOIN sales ON customer = k', '{cached}');
SELECT check_same('SELECT count(*), count(id) FROM public.empty_dim LEFT JOIN sales ON customer = k', '{cached}');
SELECT check_whole('SELECT count(*), sum(price), min(c_name) FROM sales LEFT JOIN customer ON customer = c_id AND c_region = 77');
SELECT check_whole('SELECT count(*), sum(price), min(c_name) FROM sales LEFT JOIN customer ON customer = c_id WHERE id < 0');
-- numbers of rows around every boundary, on both sides
SELECT format('CREATE TABLE public.left_%s WITH (autovacuum_enabled = off) AS SELECT i AS k, i %% 7 AS v FROM generate_series(1, %s) AS i', n, n)
FROM unnest('{0,1,31,32,33,1023,1024,1025,8193}'::int[]) AS n \gexec
SELECT format('VACUUM (FREEZE, ANALYZE) public.left_%s', n) FROM unnest('{0,1,31,32,33,1023,1024,1025,8193}'::int[]) AS n \gexec
SELECT n, check_same(format('SELECT count(*), count(b.k), sum(b.v) FROM left_%s a LEFT JOIN left_1024 b ON a.k = b.k', n), '{public}') AS probing,
	check_same(format('SELECT count(*), count(b.k), sum(b.v) FROM left_8193 a LEFT JOIN left_%s b ON a.k = b.k', n), '{public}') AS building,
	check_same(format('SELECT count(*), count(b.k), sum(b.v) FROM left_33 a LEFT JOIN left_%s b ON a.k = b.v', n), '{public}') AS repeated
FROM unnest('{0,1,31,32,33,1023,1024,1025,8193}'::int[]) AS n;
SELECT format('DROP TABLE public.left_%s', n) FROM unnest('{0,1,31,32,33,1023,1024,1025,8193}'::int[]) AS n \gexec

-- row sources on either side
SELECT check_whole('SELECT x, count(*) FROM sales LEFT JOIN generate_series(1, 20) AS x ON shop = x GROUP BY x');
SELECT check_whole('SELECT v.b, count(*) FROM sales LEFT JOIN (VALUES (1, ''one''), (2, ''two''), (2, ''again''), (NULL, ''none'')) AS v(a, b) ON shop = v.a GROUP BY v.b');
SELECT check_same('SELECT x, count(id) FROM generate_series(1, 20) AS x LEFT JOIN sales ON shop = x GROUP BY x');
SELECT check_whole('SELECT count(*), count(c_id) FROM sales LEFT JOIN customer ON customer = c_id AND c_name ~ (c_region || ''$'')');

-- joins left to PostgreSQL
SELECT check_same('SELECT count(*), count(c_id), count(id) FROM sales FULL JOIN customer ON customer = c_id');
SELECT check_same('SELECT count(*), count(r_id) FROM shop LEFT JOIN region ON s_region < r_id');
SELECT check_same('SELECT count(*) FROM sales LEFT JOIN product ON weight = p_weight');
SELECT check_same('SELECT count(*), count(c_id) FROM sales LEFT JOIN customer ON shop = 3');
SET geqo_threshold = 2;
SELECT check_whole('SELECT r_name, count(*), sum(price) FROM sales JOIN shop ON shop = s_id LEFT JOIN region ON s_region = r_id LEFT JOIN customer ON customer = c_id GROUP BY r_name');
RESET geqo_threshold;

DROP TABLE public.empty_dim, public.null_dim;
