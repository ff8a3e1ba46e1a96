-- Semi and anti joins (EXISTS, IN, NOT EXISTS), in one node with what is around them:
-- sets, duplicates, NULLs, conditions on the match, nested and below aggregates.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- plans
SELECT plan_of('SELECT count(*) FROM shop WHERE EXISTS (SELECT FROM sales WHERE shop = s_id AND quantity > s_region)');
SELECT plan_of('SELECT count(*) FROM customer WHERE NOT EXISTS (SELECT FROM sales WHERE customer = c_id AND day < ''1994-02-01'')');

-- sets: of unique keys, of repeated ones
SELECT check_whole('SELECT count(*), sum(price) FROM sales WHERE EXISTS (SELECT FROM city WHERE city.city = sales.city AND people > 1500)');
SELECT check_whole('SELECT count(*), sum(price) FROM sales WHERE NOT EXISTS (SELECT FROM city WHERE city.city = sales.city AND people > 1500)');
SELECT check_whole('SELECT c_id, c_name FROM customer WHERE EXISTS (SELECT FROM sales WHERE customer = c_id AND quantity = 7)');
SELECT check_whole('SELECT c_id, c_name FROM customer WHERE NOT EXISTS (SELECT FROM sales WHERE customer = c_id AND quantity = 7)');
SELECT check_whole('SELECT count(*) FROM sales WHERE NOT EXISTS (SELECT FROM customer WHERE customer = c_id)');
SELECT check_whole('SELECT count(*) FROM sales WHERE customer IN (SELECT c_id FROM customer WHERE c_region = 2)');
SELECT check_whole('SELECT count(*) FROM sales WHERE customer IN (SELECT c_id + c_region FROM customer)');
SELECT check_whole('SELECT s_region, count(*) FROM shop WHERE s_id IN (SELECT shop FROM sales WHERE quantity > 48) GROUP BY 1');
SELECT check_whole('SELECT count(*) FROM sales LEFT JOIN customer ON customer = c_id WHERE c_id IS NULL');
SELECT check_whole('SELECT id, c_name, c_region IS NULL FROM sales LEFT JOIN customer ON customer = c_id WHERE c_id IS NULL AND quantity < 5');
-- keys of every type, on both sides NULL and repeated
SELECT c, check_whole(format('SELECT count(*), sum(a.id) FROM types a WHERE EXISTS (SELECT FROM types b WHERE a.%1$I = b.%1$I AND b.id %% 5 = 0)', c)) AS semi,
	check_whole(format('SELECT count(*), sum(a.id) FROM types a WHERE NOT EXISTS (SELECT FROM types b WHERE a.%1$I = b.%1$I AND b.id %% 5 = 0)', c)) AS anti
FROM unnest('{b,i2,i4,i8,n,nw,n0,d,ts,tz,tx,vc,bc,di,dn,dt,dd,nn,nt}'::text[]) AS c;
SELECT c, check_whole(format('SELECT a.id FROM extremes a WHERE EXISTS (SELECT FROM extremes b WHERE a.%1$I = b.%1$I AND b.id < 7)', c)) AS semi,
	check_whole(format('SELECT a.id FROM extremes a WHERE NOT EXISTS (SELECT FROM extremes b WHERE a.%1$I = b.%1$I AND b.id < 7)', c)) AS anti
FROM unnest('{i2,i4,i8,n,d,ts,tz,tx,bc,one}'::text[]) AS c;
SELECT check_whole('SELECT count(*) FROM sales s WHERE EXISTS (SELECT FROM calendar c WHERE s.at = c.day AND weekend)');
SELECT check_whole('SELECT count(*) FROM sales WHERE NOT EXISTS (SELECT FROM product WHERE price = p_price)');
SELECT check_whole('SELECT count(*) FROM customer WHERE EXISTS (SELECT FROM product WHERE c_code = p_code AND p_price < 30)');
SELECT check_whole('SELECT count(*) FROM sales WHERE EXISTS (SELECT FROM city WHERE upper(sales.city) = upper(city.city))');
SELECT check_whole('SELECT count(*) FROM sales WHERE NOT EXISTS (SELECT FROM product WHERE product + 1 = p_id - 1)');
-- several columns
SELECT check_whole('SELECT count(*) FROM sales a WHERE EXISTS (SELECT FROM sales b WHERE a.customer = b.customer AND a.product = b.product AND b.quantity < 10)');
SELECT check_whole('SELECT count(*) FROM sales a WHERE NOT EXISTS (SELECT FROM sales b WHERE a.customer = b.customer AND a.city = b.city AND b.quantity < 10)');
SELECT check_whole('SELECT count(*) FROM sales WHERE (customer, city) IN (SELECT c_id, c_city FROM customer)');

-- conditions on the match
SELECT check_whole('SELECT count(*) FROM sales WHERE EXISTS (SELECT FROM customer WHERE customer = c_id AND c_region * 10 > quantity)');
SELECT check_whole('SELECT count(*) FROM sales WHERE NOT EXISTS (SELECT FROM customer WHERE customer = c_id AND c_region * 10 > quantity)');
SELECT check_whole('SELECT count(*), sum(a.id) FROM sales a WHERE EXISTS (SELECT FROM sales b WHERE a.customer = b.customer AND a.shop = b.shop AND a.id <> b.id)');
SELECT check_whole('SELECT count(*), sum(a.id) FROM sales a WHERE NOT EXISTS (SELECT FROM sales b WHERE a.customer = b.customer AND a.shop = b.shop AND a.id <> b.id)');
SELECT check_whole('SELECT count(*) FROM sales a WHERE EXISTS (SELECT FROM sales b WHERE a.customer = b.customer AND b.price > a.price AND b.note <> a.note AND b.quantity < 10)');
SELECT check_whole('SELECT count(*) FROM types a WHERE NOT EXISTS (SELECT FROM types b WHERE a.nn = b.nn AND (a.i4 < b.i2 OR a.tx = b.tx AND b.id < 30))');
SELECT check_whole('SELECT id FROM sales WHERE NOT EXISTS (SELECT FROM city WHERE city.city = sales.city AND quantity > 20) AND id < 500');
SELECT check_whole('SELECT id FROM sales WHERE id < 500 AND NOT EXISTS (SELECT FROM city WHERE city.city = sales.city AND (people > quantity * 100 OR note IS NULL))');

-- ... that is one difference: of each key the greatest and the least value are kept
SELECT c, check_whole(format('SELECT count(*), sum(a.id) FROM types a WHERE EXISTS (SELECT FROM types b WHERE a.dt = b.dt AND a.%1$I <> b.%1$I AND b.id < 80)', c)) AS semi,
	check_whole(format('SELECT count(*), sum(a.id) FROM types a WHERE NOT EXISTS (SELECT FROM types b WHERE b.id %% 300 = a.id %% 500 AND b.%1$I <> a.%1$I)', c)) AS anti
FROM unnest('{i2,i4,i8,d,tx,vc,bc,di,dd,n,b}'::text[]) AS c;
SELECT c, check_whole(format('SELECT a.id FROM extremes a WHERE EXISTS (SELECT FROM extremes b WHERE a.one = b.one AND a.%1$I <> b.%1$I)', c)) AS semi,
	check_whole(format('SELECT a.id FROM extremes a WHERE NOT EXISTS (SELECT FROM extremes b WHERE a.id / 2 = b.id / 2 AND b.%1$I <> a.%1$I)', c)) AS anti
FROM unnest('{i2,i4,i8,d,tx,bc}'::text[]) AS c;
SELECT check_whole('SELECT count(*), sum(a.id) FROM sales a WHERE EXISTS (SELECT FROM sales b WHERE a.city = b.city AND b.id <> a.id AND b.quantity = 3)');
SELECT check_whole('SELECT count(*), sum(a.id) FROM sales a WHERE EXISTS (SELECT FROM sales b WHERE a.product = b.product AND b.shop % 3 <> a.shop) AND NOT EXISTS (SELECT FROM sales b WHERE a.product = b.product AND b.shop % 3 <> a.shop % 5 AND b.quantity > 40)');
SELECT check_whole('SELECT count(*) FROM shop WHERE EXISTS (SELECT FROM sales, customer WHERE customer = c_id AND c_region = s_id AND customer <> s_region)');

-- the planner has conditions above read the inner column that is equal to an outer one
CREATE TABLE public.many AS SELECT i AS id, i % 500 AS x, i % 50 AS w, i % 91 AS k FROM generate_series(1, 10000) AS i;
CREATE TABLE public.some_x AS SELECT i * 3 % 700 AS y FROM generate_series(1, 400) AS i;
CREATE TABLE public.few AS SELECT i % 91 AS k, i % 470 AS z FROM generate_series(1, 2000) AS i;
VACUUM ANALYZE public.many, public.some_x, public.few;
SELECT plan_of('SELECT count(*) FROM (SELECT * FROM many WHERE EXISTS (SELECT FROM some_x WHERE y = x)) AS m JOIN few ON x = z');
SELECT check_here('SELECT count(*), sum(id) FROM (SELECT * FROM many WHERE EXISTS (SELECT FROM some_x WHERE y = x)) AS m JOIN few ON x = z');
SELECT check_here('SELECT count(*), sum(id) FROM (SELECT * FROM many WHERE EXISTS (SELECT FROM some_x WHERE y = x)) AS m JOIN few USING (k) WHERE x = z + w');
DROP TABLE public.many, public.some_x, public.few;

-- with other joins below, above and beside; nested
SELECT check_whole('SELECT r_name, count(*) FROM sales JOIN shop ON shop = s_id JOIN region ON s_region = r_id WHERE EXISTS (SELECT FROM customer WHERE customer = c_id AND c_region = r_id) GROUP BY 1');
SELECT check_whole('SELECT c_region, count(*) FROM customer WHERE EXISTS (SELECT FROM sales JOIN shop ON shop = s_id WHERE customer = c_id AND s_region = 3 AND quantity > 40) GROUP BY 1');
SELECT check_whole('SELECT c_region, count(*) FROM customer WHERE NOT EXISTS (SELECT FROM sales JOIN shop ON shop = s_id WHERE customer = c_id AND s_region = 3 AND quantity > 40) GROUP BY 1');
SELECT check_whole('SELECT s_name FROM shop, region WHERE s_region = r_id AND r_name <> ''region 1'' AND s_id IN (SELECT shop FROM sales WHERE product IN (SELECT p_id FROM product WHERE p_brand = ''brand 3'') AND quantity > 47)');
SELECT check_whole('SELECT s_name FROM shop WHERE s_id IN (SELECT shop FROM sales WHERE NOT EXISTS (SELECT FROM product WHERE p_id = product) AND EXISTS (SELECT FROM customer WHERE c_id = customer AND c_region = quantity))');
SELECT check_whole('SELECT count(*) FROM customer WHERE EXISTS (SELECT FROM sales LEFT JOIN shop ON shop = s_id AND s_region = 2 WHERE customer = c_id AND coalesce(s_region, 9) = 9 AND quantity > 48)');
SELECT check_whole('SELECT count(*), count(c_name) FROM sales LEFT JOIN customer ON customer = c_id WHERE EXISTS (SELECT FROM city WHERE city.city = c_city AND people < 1000)');
SELECT check_whole('SELECT count(*), count(c_name) FROM sales LEFT JOIN customer ON customer = c_id WHERE NOT EXISTS (SELECT FROM city WHERE city.city = c_city AND people < 1000)');
SELECT check_whole('SELECT count(*), count(c_id) FROM sales LEFT JOIN (SELECT * FROM customer WHERE EXISTS (SELECT FROM city WHERE city.city = c_city AND people < 1000)) c ON customer = c_id');
SELECT check_whole('SELECT count(*) FROM sales, customer, region WHERE customer = c_id AND c_region = r_id AND r_id IN (SELECT s_region FROM shop) AND NOT EXISTS (SELECT FROM product WHERE p_id = product)');
SELECT check_whole('SELECT count(*) FROM sales a JOIN sales b ON a.id = b.id WHERE b.customer IN (SELECT c_region FROM customer) AND a.customer = b.customer');
SELECT check_whole('SELECT count(*) FROM shop a WHERE a.s_region IN (SELECT r_id FROM region WHERE r_name IN (SELECT ''region '' || s_id FROM shop b WHERE b.s_region = 3))');
-- a column of the inner side stands for the outer one
SELECT check_same('SELECT count(*) FROM sales, customer WHERE sales.customer IN (SELECT s_id FROM shop) AND c_id = sales.customer');
SELECT check_same('SELECT count(*) FROM shop, sales s WHERE s_id IN (SELECT quantity FROM sales) AND s.quantity = s_id AND s.shop = 5');
-- many keys and few; a constant key
SELECT check_whole('SELECT count(*) FROM sales WHERE shop = 3 AND EXISTS (SELECT FROM shop s WHERE s_id = shop AND s_region = 3)');
SELECT check_same('SELECT count(*) FROM sales WHERE EXISTS (SELECT FROM shop WHERE s_id = 3)');
SELECT check_same('SELECT count(*) FROM sales WHERE EXISTS (SELECT FROM customer WHERE c_id < sales.id)');

-- aggregates below and above
SELECT check_whole('SELECT c_region, count(*) FROM customer WHERE c_id IN (SELECT customer FROM sales GROUP BY customer HAVING sum(quantity) > 1000) GROUP BY c_region');
SELECT check_whole('SELECT n, count(*) FROM (SELECT shop, count(*) AS n FROM sales WHERE NOT EXISTS (SELECT FROM customer WHERE c_id = customer AND c_region < 4) GROUP BY shop) x GROUP BY n');

-- nothing on one side
CREATE TABLE public.empty_dim (k int8, t text) WITH (autovacuum_enabled = off);
CREATE TABLE public.null_dim (k int4, t text) WITH (autovacuum_enabled = off);
INSERT INTO public.null_dim VALUES (NULL, 'a'), (NULL, 'b');
VACUUM ANALYZE public.empty_dim, public.null_dim;
SELECT n, check_whole(format('SELECT count(*) FROM sales WHERE %s EXISTS (SELECT FROM public.empty_dim WHERE customer = k)', n)) AS none,
	check_whole(format('SELECT count(*) FROM sales WHERE %s EXISTS (SELECT FROM public.null_dim WHERE customer = k)', n)) AS "null",
	check_whole(format('SELECT count(*) FROM sales WHERE %s EXISTS (SELECT FROM public.null_dim WHERE note = t AND k <> quantity)', n)) AS condition
FROM unnest('{"",NOT}'::text[]) AS n;
DROP TABLE public.empty_dim, public.null_dim;
-- numbers of rows around every boundary
SELECT format('CREATE TABLE public.semi_%s WITH (autovacuum_enabled = off) AS SELECT i AS k, i %% 7 AS v FROM generate_series(1, %s) AS i', n, n)
FROM unnest('{0,1,31,32,33,1023,1024,1025,8193}'::int[]) AS n \gexec
SELECT format('VACUUM (FREEZE, ANALYZE) public.semi_%s', n) FROM unnest('{0,1,31,32,33,1023,1024,1025,8193}'::int[]) AS n \gexec
SELECT n, check_same(format('SELECT count(*), sum(v) FROM semi_%s a WHERE EXISTS (SELECT FROM semi_1024 b WHERE a.k = b.k)', n), '{public}') AS semi,
	check_same(format('SELECT count(*), sum(v) FROM semi_8193 a WHERE NOT EXISTS (SELECT FROM semi_%s b WHERE a.k = b.k)', n), '{public}') AS anti,
	check_same(format('SELECT count(*), sum(v) FROM semi_33 a WHERE NOT EXISTS (SELECT FROM semi_%s b WHERE a.k = b.v AND a.v <> b.k)', n), '{public}') AS condition
FROM unnest('{0,1,31,32,33,1023,1024,1025,8193}'::int[]) AS n;
SELECT format('DROP TABLE public.semi_%s', n) FROM unnest('{0,1,31,32,33,1023,1024,1025,8193}'::int[]) AS n \gexec

-- row sources
SELECT check_whole('SELECT count(*) FROM sales WHERE shop IN (SELECT x FROM generate_series(1, 20) AS x)');
SELECT check_whole('SELECT count(*) FROM sales WHERE NOT EXISTS (SELECT FROM (VALUES (1, 2), (2, 3), (2, 4), (NULL, 5)) AS v(a, b) WHERE shop = v.a AND quantity > v.b)');
SELECT check_whole('SELECT count(*) FROM sales WHERE EXISTS (SELECT FROM customer WHERE customer = c_id AND c_name ~ (c_region || ''$''))');
-- NOT IN, where NULLs count
SELECT check_whole('SELECT count(*) FROM sales WHERE customer NOT IN (SELECT c_id FROM customer WHERE c_region = 2)');
SELECT check_whole('SELECT count(*) FROM sales WHERE quantity NOT IN (SELECT s_region FROM shop)');

-- TPC-H's shapes, small
CREATE SCHEMA tiny;
SET search_path = tiny, public;
CREATE TABLE orders (o_orderkey int8 PRIMARY KEY, o_custkey int8 NOT NULL, o_orderstatus char(1) NOT NULL, o_orderdate date NOT NULL, o_orderpriority char(15) NOT NULL, o_comment varchar(79) NOT NULL) WITH (autovacuum_enabled = off);
CREATE TABLE lineitem (l_orderkey int8 NOT NULL, l_partkey int8 NOT NULL, l_suppkey int8 NOT NULL, l_quantity numeric(15,2) NOT NULL, l_shipdate date NOT NULL, l_commitdate date NOT NULL, l_receiptdate date NOT NULL) WITH (autovacuum_enabled = off);
CREATE TABLE nation (n_nationkey int4 PRIMARY KEY, n_name char(25) NOT NULL) WITH (autovacuum_enabled = off);
CREATE TABLE supplier (s_suppkey int8 PRIMARY KEY, s_name char(25) NOT NULL, s_nationkey int4 NOT NULL) WITH (autovacuum_enabled = off);
CREATE TABLE customer (c_custkey int8 PRIMARY KEY, c_phone char(15) NOT NULL, c_acctbal numeric(15,2) NOT NULL) WITH (autovacuum_enabled = off);
CREATE TABLE partsupp (ps_partkey int8 NOT NULL, ps_suppkey int8 NOT NULL, ps_availqty int4 NOT NULL) WITH (autovacuum_enabled = off);
CREATE TABLE part (p_partkey int8 PRIMARY KEY, p_name varchar(55) NOT NULL) WITH (autovacuum_enabled = off);
INSERT INTO orders SELECT i * 4, i * 31 % 300 / 3 * 3 + 1, substr('FOPFF', 1 + i % 5, 1), date '1993-01-01' + i * 7 % 900, i % 5 || '-PRIORITY', CASE WHEN i % 13 = 0 THEN 'special ' || i % 7 || ' requests' ELSE 'comment ' || i % 40 END FROM generate_series(1, 3000) AS i;
INSERT INTO lineitem SELECT (i * 17 % 3000 + 1) * 4, i % 400 + 1, i / 7 % 50 + 1, i % 50 + 1, date '1993-01-01' + i % 900, date '1993-01-01' + i * 3 % 950, date '1993-01-01' + i * 5 % 980 FROM generate_series(1, 9000) AS i;
INSERT INTO nation SELECT i, 'NATION ' || i FROM generate_series(0, 24) AS i;
INSERT INTO supplier SELECT i, 'Supplier#' || i, i % 25 FROM generate_series(1, 50) AS i;
INSERT INTO customer SELECT i, 10 + i % 25 || '-' || i, i * 37 % 1000 - 100 FROM generate_series(1, 450) AS i;
INSERT INTO partsupp SELECT i % 400 + 1, i * 7 % 50 + 1, i * 13 % 1000 FROM generate_series(1, 1600) AS i;
INSERT INTO part SELECT i, (ARRAY['forest', 'green', 'azure'])[1 + i % 3] || ' ' || i % 20 FROM generate_series(1, 400) AS i;
VACUUM (FREEZE, ANALYZE) orders, lineitem, nation, supplier, customer, partsupp, part;
\set q4 'SELECT o_orderpriority, count(*) FROM orders WHERE o_orderdate >= ''1993-07-01'' AND o_orderdate < ''1993-10-01'' AND EXISTS (SELECT FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate) GROUP BY 1'
\set q13 'SELECT c_count, count(*) FROM (SELECT c_custkey, count(o_orderkey) FROM customer LEFT JOIN orders ON c_custkey = o_custkey AND o_comment NOT LIKE ''%special%requests%'' GROUP BY c_custkey) AS c (c_custkey, c_count) GROUP BY c_count'
\set q20 'SELECT s_name FROM supplier, nation WHERE s_suppkey IN (SELECT ps_suppkey FROM partsupp WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE ''forest%'') AND ps_availqty > 500) AND s_nationkey = n_nationkey AND n_name = ''NATION 3'''
\set q21 'SELECT s_name, count(*) FROM supplier, lineitem l1, orders, nation WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = ''F'' AND l1.l_receiptdate > l1.l_commitdate AND EXISTS (SELECT FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey) AND NOT EXISTS (SELECT FROM lineitem l3 WHERE l3.l_orderkey = l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey AND l3.l_receiptdate > l3.l_commitdate) AND s_nationkey = n_nationkey AND n_name < ''NATION 2'' GROUP BY s_name'
\set q22 'SELECT substring(c_phone FROM 1 FOR 2), count(*), sum(c_acctbal) FROM customer WHERE substring(c_phone FROM 1 FOR 2) IN (''13'', ''31'', ''23'', ''29'') AND c_acctbal > (SELECT avg(c_acctbal) FROM customer WHERE c_acctbal > 0) AND NOT EXISTS (SELECT FROM orders WHERE o_custkey = c_custkey) GROUP BY 1'
SELECT q, check_whole(sql, '{tiny}') FROM (VALUES ('Q4', :'q4'), ('Q13', :'q13'), ('Q20', :'q20'), ('Q21', :'q21'), ('Q22', :'q22')) AS v(q, sql);
SELECT plan_of(:'q21');
SET client_min_messages = warning;
DROP SCHEMA tiny CASCADE;
