-- Inner equi-joins: stars, snowflakes, chains, bushy trees; keys of every type,
-- composite, repeated, NULL; over the three states of each table.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- one dimension: dense key, sparse key, key missing on either side, NULL keys
SELECT check_same('SELECT count(*), sum(quantity), min(c_name), max(c_city) FROM sales JOIN customer ON customer = c_id');
SELECT check_same('SELECT p_brand, count(*), sum(price * quantity), min(p_price), max(p_price) FROM sales JOIN product ON product = p_id GROUP BY p_brand');
SELECT check_same('SELECT s_name, count(*), avg(discount) FROM sales JOIN shop ON shop = s_id GROUP BY s_name');
SELECT check_same('SELECT y, m, weekend, sum(price) FROM sales s JOIN calendar c ON s.day = c.day GROUP BY 1, 2, 3');
SELECT check_same('SELECT y, count(*) FROM sales s, calendar c WHERE s.at = c.day GROUP BY y');
SELECT check_same('SELECT count(*) FROM sales JOIN shop ON shop = s_region');
SELECT check_same('SELECT s_region, count(*) FROM sales JOIN shop ON shop = s_region GROUP BY s_region');

-- keys: text across dictionaries, varchar, char, numeric, expressions of columns
SELECT check_same('SELECT city.city, count(*), sum(people) FROM sales JOIN city ON sales.city = city.city GROUP BY city.city');
SELECT check_same('SELECT people, count(*) FROM sales JOIN city USING (city) GROUP BY people');
SELECT check_same('SELECT c_city, count(*) FROM sales JOIN customer ON city = c_city GROUP BY c_city');
SELECT check_same('SELECT c_region, count(*), min(p_brand), max(c_name) FROM customer JOIN product ON c_code = p_code GROUP BY c_region');
SELECT check_same('SELECT count(*), sum(p_weight) FROM customer JOIN product ON c_code::text = p_code::text');
SELECT check_same('SELECT count(*) FROM sales JOIN city ON upper(sales.city) = upper(city.city)');
SELECT check_same('SELECT count(*) FROM sales JOIN city ON substr(sales.city, 6) = substr(city.city, 6)');
SELECT check_same('SELECT count(*), sum(p_id) FROM sales JOIN product ON price = p_price');
SELECT check_same('SELECT count(*), sum(p_id) FROM sales JOIN product ON quantity = p_price');
SELECT check_same('SELECT count(*), min(p_brand) FROM sales JOIN product ON product % 100 = p_id');
SELECT check_same('SELECT count(*), min(p_brand) FROM sales JOIN product ON product + 1 = p_id - 1');
SELECT check_same('SELECT count(*), sum(m) FROM sales s JOIN calendar c ON s.day + 7 = c.day');
SELECT check_same('SELECT count(*) FROM sales s JOIN calendar c ON extract(year FROM s.day) = c.y AND extract(month FROM s.day) = c.m');
SELECT check_same('SELECT count(*), sum(s.id) FROM sales s JOIN types t ON s.quantity = t.n0');
SELECT check_same('SELECT count(*) FROM sales s JOIN types t ON s.weight = t.f8');

-- every pair of integer widths, on both sides
SELECT l, r, check_same(format('SELECT count(*), sum(a.id), sum(b.id::int8) FROM types a JOIN types b ON a.%I = b.%I', l, r))
FROM unnest('{i2,i4,i8,di,nn}'::text[]) AS l, unnest('{i2,i4,i8,di,nn}'::text[]) AS r;
-- each type with itself: duplicates on the build side, NULLs on both
SELECT c, check_same(format('SELECT count(*), sum(a.id), sum(b.id::int8) FROM types a JOIN types b ON a.%1$I = b.%1$I', c)),
	check_same(format('SELECT a.id, b.id FROM extremes a JOIN extremes b ON a.%1$I = b.%1$I', CASE c WHEN 'i4' THEN 'i4' WHEN 'n' THEN 'n' WHEN 'd' THEN 'd' WHEN 'ts' THEN 'ts' WHEN 'tx' THEN 'tx' ELSE 'bc' END)) AS extremes
FROM unnest('{b,i4,n,nw,n0,d,ts,tz,tx,vc,bc,dn,dt,dd}'::text[]) AS c;
SELECT check_same('SELECT a.id, b.id FROM extremes a JOIN extremes b ON a.i8 = b.i8');
SELECT check_same('SELECT a.id, b.id FROM extremes a JOIN extremes b ON a.i8 = b.i4');
SELECT check_same('SELECT a.id, b.id FROM extremes a JOIN extremes b ON a.d = b.ts');
SELECT check_same('SELECT count(*) FROM types a JOIN types b ON a.n = b.n0');
SELECT check_same('SELECT count(*) FROM types a JOIN types b ON a.tx = b.vc');
SELECT check_same('SELECT count(*) FROM types a JOIN types b ON a.bc = b.bc AND a.vc = b.vc');

-- composite keys; equalities that follow from others; one that does not
SELECT check_same('SELECT count(*), sum(b.id) FROM sales a JOIN sales b ON a.customer = b.customer AND a.product = b.product');
SELECT check_same('SELECT count(*) FROM sales a JOIN sales b ON a.customer = b.customer AND a.city = b.city AND a.day = b.day AND a.shop = b.shop');
SELECT check_same('SELECT count(*), min(note) FROM sales JOIN types t ON quantity = nn AND shop = i2 AND sales.day > t.d');
SELECT check_same('SELECT count(*) FROM sales s JOIN shop a ON s.shop = a.s_id JOIN shop b ON a.s_id = b.s_id AND s.shop = b.s_id');
SELECT check_same('SELECT count(*) FROM sales, shop, region WHERE shop = s_id AND s_region = r_id AND r_id = quantity');
SELECT check_same('SELECT count(*), sum(price) FROM sales JOIN customer ON customer = c_id AND city = c_city');
SELECT check_same('SELECT count(*) FROM sales JOIN customer ON customer = c_id JOIN shop ON shop = s_id AND c_region = s_region');
-- other conditions between tables are filters
SELECT check_same('SELECT count(*), sum(quantity) FROM sales JOIN product ON product = p_id AND price > p_price');
SELECT check_same('SELECT count(*) FROM sales JOIN customer ON customer = c_id JOIN shop ON shop = s_id WHERE c_region < s_region OR c_city = ''city 1''');
SELECT check_same('SELECT count(*) FROM sales s JOIN calendar c ON s.day = c.day JOIN shop ON shop = s_id AND s_open < c.day');
SELECT check_same('SELECT count(*) FROM sales JOIN city ON sales.city = city.city AND sales.quantity BETWEEN people / 100 - 5 AND people / 100');

-- shapes of trees
SELECT check_same('SELECT r_name, count(*), sum(price) FROM sales JOIN shop ON shop = s_id JOIN region ON s_region = r_id GROUP BY r_name');
SELECT check_same('SELECT r.r_name, q.r_name, count(*) FROM sales JOIN shop ON shop = s_id JOIN region r ON s_region = r.r_id JOIN customer ON customer = c_id JOIN region q ON c_region = q.r_id GROUP BY 1, 2');
SELECT check_same('SELECT y, p_brand, c_city, r_name, s_name, count(*), sum(price * (1 - discount)), avg(quantity)
	FROM sales s, customer, product, calendar c, shop, region
	WHERE customer = c_id AND product = p_id AND s.day = c.day AND shop = s_id AND s_region = r_id
		AND m IN (1, 2, 12) AND p_price > 50 AND c_region IN (1, 3) AND r_name <> ''region 2'' GROUP BY 1, 2, 3, 4, 5');
SELECT check_same('SELECT count(*), sum(q.cnt) FROM sales JOIN (SELECT c_region, count(*) AS cnt FROM customer GROUP BY c_region) q ON shop = q.c_region');
SELECT check_same('SELECT a.r_name, count(*) FROM region a JOIN shop ON a.r_id = s_region JOIN sales ON s_id = shop JOIN product ON p_id = product JOIN customer ON c_code = p_code AND c_region = a.r_id GROUP BY 1');
SELECT check_same('SELECT count(*) FROM (sales JOIN customer ON customer = c_id) JOIN (shop JOIN region ON s_region = r_id) ON shop = s_id');
SELECT check_same('SELECT a.city, count(*) FROM sales a JOIN city b ON a.city = b.city JOIN city c ON b.city = c.city JOIN city d ON c.people = d.people GROUP BY 1');
SELECT check_same('SELECT count(*) FROM region a, region b, region c, region d, region e, region f, region g, shop, sales
	WHERE s_id = shop AND s_region = a.r_id AND a.r_id = b.r_id AND b.r_id = c.r_id AND c.r_id = d.r_id AND d.r_id = e.r_id AND e.r_id = f.r_id AND f.r_id = g.r_id');
-- self-joins, with duplicates
SELECT check_same('SELECT count(*), sum(a.id), max(b.note) FROM sales a JOIN sales b ON a.id = b.id');
SELECT check_same('SELECT a.shop, count(*) FROM sales a JOIN sales b ON a.shop = b.shop WHERE b.id % 100 = 1 GROUP BY a.shop');

-- no row on one side
SELECT check_same('SELECT count(*), sum(price), min(c_name) FROM sales JOIN customer ON customer = c_id WHERE c_region = 77');
SELECT check_same('SELECT c_city, count(*) FROM sales JOIN customer ON customer = c_id WHERE c_region = 77 GROUP BY c_city');
SELECT check_same('SELECT count(*), sum(price) FROM sales JOIN customer ON customer = c_id WHERE id < 0');
SELECT check_same('SELECT count(*), sum(price) FROM sales JOIN city ON sales.city = city.city WHERE people > 100000000');
CREATE TABLE public.empty_dim (k int8 PRIMARY KEY, t text);
CREATE TABLE public.null_dim (k int4, t text);
INSERT INTO public.null_dim VALUES (NULL, 'a'), (NULL, 'b');
VACUUM ANALYZE public.empty_dim, public.null_dim;
SELECT check_same('SELECT count(*), min(t) FROM sales JOIN public.empty_dim ON customer = k');
SELECT check_same('SELECT count(*), min(t) FROM sales JOIN public.null_dim ON customer = k');
SELECT check_same('SELECT count(*), min(k) FROM sales JOIN public.null_dim ON note = t');

-- rows without aggregation
SELECT check_same('SELECT id, c_name, price FROM sales JOIN customer ON customer = c_id WHERE c_region = 2');
SELECT check_same('SELECT id, r_name, s_open, p_weight, c_code FROM sales, shop, region, product, customer
	WHERE shop = s_id AND s_region = r_id AND product = p_id AND customer = c_id AND p_price < 100');
SELECT check_same('SELECT a.id, b.people, a.note || b.city FROM sales a JOIN city b ON a.city = b.city WHERE a.quantity = 7');
-- a build side that holds every type
SELECT check_same('SELECT a.id, b.b, b.i2, b.i4, b.i8, b.n, b.n0, b.d, b.ts, b.tz, b.tx, b.vc, b.bc, b.di, b.dn, b.dt, b.dd FROM sales a JOIN types b ON a.id = b.id WHERE a.id % 3 = 0');
SELECT check_same('SELECT b.b, b.bc, count(*), sum(b.i2), avg(b.i8), min(b.n), max(b.d), min(b.tz), max(b.tx), sum(b.n0) FROM sales a JOIN types b ON a.customer = b.id GROUP BY 1, 2');
SELECT check_near('SELECT sum(p_weight * s.weight) AS a, avg(p_weight) AS b, max(p_weight) AS c FROM sales s JOIN product ON product = p_id');
SELECT check_near('SELECT sum(b.f8) AS a, avg(b.f4) AS b, count(b.f8) AS c FROM sales a JOIN types b ON a.customer = b.id');
SELECT check_same('SELECT count(b.f8), min(b.f8), max(b.f4) FROM sales a JOIN types b ON a.customer = b.id');

-- the key is a constant: PostgreSQL sees two filters then, and no condition of the join
SELECT check_same('SELECT count(*), sum(price) FROM sales JOIN shop ON shop = s_id WHERE s_id = 3');
SELECT check_same('SELECT s_name, sum(price) FROM sales JOIN shop ON shop = s_id WHERE shop = 3 GROUP BY s_name');
SELECT check_same('SELECT count(*) FROM sales, shop, region WHERE shop = s_id AND s_region = r_id AND r_id = 2 AND s_id > 5');
SELECT check_same('SELECT count(*) FROM sales a JOIN sales b ON a.customer = b.customer AND a.shop = b.shop WHERE a.shop = 3');
SELECT check_same('SELECT count(*) FROM sales s JOIN product ON p_id = s.product WHERE s.product = s.id');
SELECT check_same('SELECT count(*) FROM types a JOIN types b ON a.id = b.id AND a.i4 = b.i4 AND a.i4 = a.i2');
SELECT check_same('SELECT count(*) FROM sales NATURAL JOIN city');
SELECT check_same('SELECT s1.s_name, s2.s_name, count(*) FROM sales a JOIN shop s1 ON a.shop = s1.s_id JOIN sales b ON a.id = b.id + 1 JOIN shop s2 ON b.shop = s2.s_id GROUP BY 1, 2');

-- more tables than PostgreSQL plans exhaustively
SELECT check_same('SELECT count(*), sum(price) FROM region a, region b, region c, region d, region e, region f, region g, region h, region i, region j, region k, shop, sales
	WHERE s_id = shop AND s_region = a.r_id AND quantity % 5 = b.r_id AND quantity % 6 = c.r_id AND a.r_id = d.r_id AND b.r_id = e.r_id AND c.r_id = f.r_id AND d.r_id = g.r_id AND e.r_id = h.r_id AND f.r_id = i.r_id AND s_region = j.r_id AND j.r_id = k.r_id');
SET geqo_threshold = 2;
SELECT check_same('SELECT r_name, count(*), sum(price) FROM sales JOIN shop ON shop = s_id JOIN region ON s_region = r_id GROUP BY r_name');
SELECT check_same('SELECT y, p_brand, count(*), sum(price) FROM sales s, customer, product, calendar c, shop WHERE customer = c_id AND product = p_id AND s.day = c.day AND shop = s_id AND m < 3 GROUP BY 1, 2');
SELECT check_same('SELECT id, c_name, s_name FROM sales JOIN customer ON customer = c_id JOIN shop ON shop = s_id WHERE quantity > 47');
SELECT check_same('SELECT count(*) FROM sales JOIN shop ON shop = s_id LEFT JOIN region ON s_region = r_id JOIN customer ON customer = c_id');
RESET geqo_threshold;
SELECT refusal(format('SELECT count(*) FROM sales, %s WHERE %s', string_agg('region r' || i, ', '), string_agg(format('quantity %% %s = r%s.r_id', i + 1, i), ' AND '))) FROM generate_series(1, 30) AS i;

-- joins to other things than tables: row sources
SELECT check_same('SELECT x, count(*) FROM sales JOIN generate_series(1, 20) AS x ON shop = x GROUP BY x');
SELECT check_same('SELECT v.b, count(*) FROM sales JOIN (VALUES (1, ''one''), (2, ''two''), (2, ''again''), (NULL, ''none'')) AS v(a, b) ON shop = v.a GROUP BY v.b');
SELECT check_same('SELECT count(*), sum(m) FROM sales JOIN (SELECT DISTINCT y, m FROM calendar) AS c ON quantity = m');
SELECT check_same('WITH top AS MATERIALIZED (SELECT c_id, c_name FROM customer ORDER BY c_name LIMIT 50) SELECT c_name, count(*) FROM sales JOIN top ON customer = c_id GROUP BY c_name');
SELECT check_same('SELECT l.t, count(*) FROM sales JOIN (SELECT c_id, string_agg(c_city, '','') AS t FROM customer GROUP BY c_id) l ON customer = l.c_id GROUP BY l.t');
SELECT check_same('SELECT count(*) FROM sales JOIN customer ON customer = c_id AND c_name ~ (c_region || ''$'')');
SELECT check_same('SELECT relname, count(*) FROM sales JOIN (SELECT relname::text, row_number() OVER (ORDER BY relname) AS n FROM pg_class WHERE relname LIKE ''pg_stat_%'') c ON customer = n AND n <= 40 GROUP BY relname');
DROP TABLE public.empty_dim, public.null_dim;
