-- Rows in order: what the device returns is sorted above it, by every type, both ways,
-- NULLs at either end, with and without LIMIT.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- As check_same(), but the order of rows counts.
CREATE FUNCTION public.check_order(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	s text;
	got text[];
	expected text[];
BEGIN
	FOREACH s IN ARRAY '{cached,delta,mixed}'::text[] LOOP
		PERFORM set_config('search_path', s || ', public', true);
		got := rows_of(query, 'require');
		expected := rows_of(query, 'forbid');
		IF got <> expected THEN
			FOR i IN 1 .. greatest(cardinality(got), cardinality(expected)) LOOP
				IF got[i] IS DISTINCT FROM expected[i] THEN
					RETURN format('%s: DIFFERENT: row %s is %s, not %s', s, i, got[i], expected[i]);
				END IF;
			END LOOP;
		END IF;
	END LOOP;
	RETURN format('ok, %s rows', cardinality(got));
END $$;

SELECT c, check_order(format('SELECT id, %1$I FROM types ORDER BY %1$I, id', c)) AS "asc", check_order(format('SELECT %1$I, id FROM types ORDER BY %1$I DESC, id DESC', c)) AS "desc",
	check_order(format('SELECT id FROM types WHERE nn > 2 ORDER BY %1$I NULLS FIRST, id', c)) AS first, check_order(format('SELECT nn, id FROM types ORDER BY %1$I DESC NULLS LAST, id LIMIT 20', c)) AS "limit"
FROM unnest('{b,i2,i4,i8,f4,f8,n,nw,n0,d,ts,tz,tx,vc,bc,di,dn,dt,dd,nn,nt}'::text[]) AS c;
SELECT c, check_order(format('SELECT id, %1$I FROM extremes ORDER BY %1$I, id', c)) AS "asc", check_order(format('SELECT id, %1$I FROM extremes ORDER BY %1$I DESC NULLS LAST, id', c)) AS "desc"
FROM unnest('{i2,i4,i8,f4,f8,n,d,ts,tz,tx,bc}'::text[]) AS c;
SELECT c, check_order(format('SELECT %1$I, count(*), sum(id) FROM types GROUP BY %1$I ORDER BY %1$I', c)) AS key, check_order(format('SELECT nn, min(%1$I), max(%1$I) AS m FROM types GROUP BY nn ORDER BY m DESC, nn', c)) AS value
FROM unnest('{i2,i4,i8,n,nw,n0,d,ts,tz,tx,vc,bc,di,dn,dt,dd,nn,nt}'::text[]) AS c;

-- several keys, expressions, aggregates, columns that are not shown
SELECT q, check_order(q) FROM unnest(ARRAY[
	'SELECT b, tx, n, id FROM types ORDER BY b DESC NULLS LAST, tx COLLATE "C" DESC, n, id', 'SELECT id FROM types ORDER BY nn, tx NULLS FIRST, d DESC, i2, i4, id', 'SELECT b, bc, vc, nn, count(*) FROM types GROUP BY 1, 2, 3, 4 ORDER BY 2, 1, 3 DESC, 4',
	'SELECT id, i4 + i2 FROM types ORDER BY i4 + i2, id', 'SELECT id FROM types ORDER BY abs(i4), id DESC', 'SELECT upper(tx), count(*) FROM types GROUP BY 1 ORDER BY 1', 'SELECT length(vc), nt, count(*) FROM types GROUP BY 1, 2 ORDER BY 1 DESC, 2',
	'SELECT nn, avg(n) FROM types GROUP BY nn ORDER BY avg(n)', 'SELECT nn, sum(i8) FROM types GROUP BY nn ORDER BY sum(i8) DESC', 'SELECT nn FROM types GROUP BY nn ORDER BY sum(n) - min(n)', 'SELECT nn, count(*) FROM types GROUP BY nn ORDER BY count(*) DESC, nn', 'SELECT tx, count(*) FROM types GROUP BY tx ORDER BY count(*) DESC, tx DESC NULLS LAST',
	'SELECT nn, sum(n) FROM types GROUP BY nn HAVING sum(n) > 0 ORDER BY 2', 'SELECT shop, sum(price) FROM sales GROUP BY shop ORDER BY sum(price) DESC LIMIT 7', 'SELECT c_city, p_brand, sum(price) FROM sales, customer, product WHERE customer = c_id AND product = p_id GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2',
	'SELECT id, c_name FROM sales JOIN customer ON customer = c_id WHERE quantity = 9 ORDER BY c_name DESC, id', 'SELECT id, city FROM sales WHERE quantity < 3 ORDER BY city, price, id OFFSET 100 LIMIT 30', 'SELECT DISTINCT city FROM sales ORDER BY city DESC', 'SELECT DISTINCT ON (shop) shop, price, id FROM sales ORDER BY shop, price DESC, id',
	'SELECT id, row_number() OVER (ORDER BY price, id) FROM sales WHERE shop = 7 ORDER BY 2', 'SELECT shop, sum(sum(price)) OVER (ORDER BY shop) FROM sales GROUP BY shop ORDER BY shop DESC', 'SELECT id FROM sales WHERE quantity = 1 UNION ALL SELECT id FROM types WHERE nn = 1 ORDER BY id', 'SELECT * FROM (SELECT shop, count(*) AS n FROM sales GROUP BY shop ORDER BY shop LIMIT 5) q ORDER BY shop DESC',
	'SELECT id % 7, sum(i8) AS s, count(*), avg(f4) AS a FROM extremes GROUP BY 1 ORDER BY s, 1', 'SELECT id % 7, sum(i8) AS s, avg(f4) AS a FROM extremes GROUP BY 1 ORDER BY s DESC, a, 1', 'SELECT tx, sum(i8), max(f8) FROM types GROUP BY tx ORDER BY 2 DESC NULLS LAST, max(f8), tx', 'SELECT id, n FROM types ORDER BY n DESC, i2 NULLS FIRST, id LIMIT 200', 'SELECT id FROM types ORDER BY nn LIMIT 0', 'SELECT id, CASE id % 5 WHEN 0 THEN ''-0''::float8 WHEN 1 THEN 0 WHEN 2 THEN ''NaN'' WHEN 3 THEN ''-Infinity'' END AS f FROM sales ORDER BY f DESC, id',
	'SELECT id, CASE id % 5 WHEN 0 THEN ''-0''::float4 WHEN 1 THEN 0 WHEN 2 THEN ''NaN'' WHEN 3 THEN 2 END AS f FROM sales ORDER BY f NULLS FIRST, id DESC LIMIT 4100',
	'SELECT NULLIF(nt, ''C''), count(*) FROM types GROUP BY 1 ORDER BY 1 NULLS FIRST', 'SELECT 1, id FROM types ORDER BY 1, id', 'SELECT id FROM types WHERE nn = 3 ORDER BY nn, id', 'SELECT id FROM sales ORDER BY customer % 7, product % 11 DESC, shop, day, id'
]) AS q;
-- text in an order of its own
SELECT check_order('SELECT tx COLLATE "C", count(*) FROM types GROUP BY 1 ORDER BY 1'), check_order('SELECT id, tx FROM types ORDER BY tx COLLATE "C", id');
-- types that are binary coercible, but have another order
CREATE TABLE public.blanks AS SELECT i AS id, CASE WHEN i % 7 > 0 THEN rpad(chr(97 + i % 3), 1 + i % 4) END AS tx, rpad(chr(97 + i % 5), 1 + i % 3)::varchar AS vc FROM generate_series(1, 3000) AS i;
SELECT q, check_order(q) FROM unnest(ARRAY['SELECT id, i4 FROM types ORDER BY i4::oid, id', 'SELECT i4, count(*) FROM types GROUP BY i4 ORDER BY i4::oid DESC LIMIT 9', 'SELECT id, tx FROM blanks ORDER BY tx::bpchar, id', 'SELECT id, vc FROM blanks ORDER BY vc::bpchar DESC NULLS LAST, id LIMIT 50', 'SELECT tx, count(*) FROM blanks GROUP BY tx ORDER BY tx::bpchar, tx']) AS q;
SELECT 'en-x-icu' AS icu FROM pg_collation WHERE collname = 'en-x-icu' UNION ALL SELECT 'C' ORDER BY 1 DESC LIMIT 1 \gset
SELECT check_order(format('SELECT tx COLLATE %1$I, nt, count(*) FROM types GROUP BY 1, 2 ORDER BY 1 DESC, 2', :'icu')), check_order(format('SELECT id, tx FROM types ORDER BY tx COLLATE %1$I, id', :'icu')), check_order(format('SELECT min(tx COLLATE %1$I), max(tx COLLATE %1$I) FROM types', :'icu'));
-- merge joins and sorted groups above
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_hashagg = off;
SELECT check_order('SELECT a.id, b.c FROM (SELECT id, shop FROM sales WHERE quantity = 5) a LEFT JOIN (SELECT quantity, count(*) AS c FROM sales GROUP BY quantity) b ON a.shop = b.quantity ORDER BY a.id');
SELECT check_order('SELECT id FROM sales WHERE quantity < 9 AND customer IN (SELECT c_id FROM customer WHERE c_region = 2) ORDER BY id');
SELECT check_order('SELECT shop, count(DISTINCT city), string_agg(city, '','' ORDER BY id) FROM (SELECT * FROM sales WHERE quantity = 8 OFFSET 0) q GROUP BY shop ORDER BY shop');
RESET enable_hashjoin;
RESET enable_nestloop;
RESET enable_hashagg;
-- aggregates that sort their rows: PostgreSQL's GroupAggregate makes them of rows that the node has sorted
SELECT q, check_order(q) FROM unnest(ARRAY[
	'SELECT nn, string_agg(tx, '','' ORDER BY i4, id), count(*) FROM types GROUP BY nn ORDER BY nn', 'SELECT nn, array_agg(i4 ORDER BY tx DESC NULLS LAST, id), sum(n) FROM types GROUP BY nn ORDER BY nn DESC', 'SELECT nt, json_agg(d ORDER BY d NULLS FIRST, id DESC) FROM types GROUP BY nt ORDER BY nt',
	'SELECT nn, jsonb_agg(n ORDER BY n, id), jsonb_object_agg(id, tx ORDER BY id DESC) FROM types GROUP BY nn ORDER BY nn', 'SELECT nn, array_agg(DISTINCT i4 ORDER BY i4 DESC), array_agg(DISTINCT tx), count(DISTINCT i2) FROM types GROUP BY nn ORDER BY nn', 'SELECT b, nn, string_agg(DISTINCT vc, ''/'') FILTER (WHERE id % 3 > 0) FROM types GROUP BY b, nn HAVING count(*) > 3 ORDER BY nn, b',
	'SELECT nn, array_agg(id ORDER BY abs(i4), id) FROM types GROUP BY nn ORDER BY nn', 'SELECT nn, array_agg(id ORDER BY nn, f8, id), array_agg(id ORDER BY f4 DESC, id) FROM types WHERE id % 5 < 4 GROUP BY nn ORDER BY nn', 'SELECT array_agg(id ORDER BY i8, id) FROM types', 'SELECT i8, array_agg(id ORDER BY n, id) FROM extremes GROUP BY i8 ORDER BY i8',
	'SELECT p_brand, string_agg(city, '','' ORDER BY price, id) FROM sales JOIN product ON product = p_id WHERE quantity = 2 GROUP BY p_brand ORDER BY p_brand', 'SELECT nn, nt, array_agg(id ORDER BY id) FROM types GROUP BY ROLLUP (nn, nt) ORDER BY nn, nt, count(*)', 'SELECT nn, string_agg(tx, '','' ORDER BY id) FROM types WHERE id < 0 GROUP BY nn',
	'SELECT nn, percentile_cont(0.3) WITHIN GROUP (ORDER BY f8), percentile_cont(ARRAY[0.9, NULL, nn / 20.0]) WITHIN GROUP (ORDER BY f8 DESC), mode() WITHIN GROUP (ORDER BY i4) FROM types GROUP BY nn ORDER BY nn', 'SELECT nn, percentile_cont(nn / 16.0) WITHIN GROUP (ORDER BY make_interval(secs => f4)), rank(3) WITHIN GROUP (ORDER BY i2) FROM types GROUP BY nn ORDER BY nn'
]) AS q;
EXPLAIN (COSTS OFF) SELECT shop, string_agg(city, ',' ORDER BY day, id) FROM cached.sales GROUP BY shop;
-- the order of a subquery, where the query above it shows it
SELECT q, check_order(q) FROM unnest(ARRAY[
	'SELECT string_agg(shop::text, '' '') FROM (SELECT shop, count(*) FROM sales GROUP BY shop ORDER BY shop DESC) q', 'SELECT n % 2, array_agg(shop) FROM (SELECT shop, count(*) AS n FROM sales GROUP BY shop ORDER BY n, shop) q GROUP BY 1 ORDER BY 1',
	'SELECT * FROM (SELECT shop, sum(price) AS s FROM sales GROUP BY shop ORDER BY s DESC, shop) q', 'SELECT * FROM (SELECT shop, sum(price) AS s FROM sales GROUP BY shop ORDER BY s, shop) q LIMIT 5', 'SELECT shop FROM (SELECT shop, count(*) AS n FROM sales GROUP BY shop ORDER BY shop DESC) q WHERE n % 3 <> 0 OFFSET 2',
	'SELECT shop, row_number() OVER () FROM (SELECT shop, sum(price) AS s FROM sales GROUP BY shop ORDER BY s DESC, shop) q', 'SELECT DISTINCT ON (n) n, shop FROM (SELECT shop % 4 AS n, shop, count(*) FROM sales GROUP BY shop ORDER BY 1, 2 DESC) q',
	'WITH q AS (SELECT shop, count(*) FROM sales GROUP BY shop ORDER BY shop DESC) SELECT json_agg(shop) FROM q', 'WITH q AS MATERIALIZED (SELECT shop, count(*) FROM sales GROUP BY shop ORDER BY shop DESC) SELECT array_agg(shop) FROM q',
	'SELECT array_agg(i) FROM (SELECT id AS i FROM sales WHERE quantity = 1 UNION ALL SELECT id + 7 FROM types WHERE nn = 1 ORDER BY i) q', 'SELECT * FROM (SELECT id, city FROM sales WHERE quantity < 2 ORDER BY city, id DESC) q WHERE id % 2 = 0'
]) AS q;
-- which costs nothing where it is not shown
SELECT check_order('SELECT count(*), sum(s) FROM (SELECT shop, sum(price) AS s FROM sales GROUP BY shop ORDER BY s) q');
EXPLAIN (COSTS OFF) SELECT count(*), sum(s) FROM (SELECT shop, sum(price) AS s FROM cached.sales GROUP BY shop ORDER BY s) q;
-- cursors through the order, both ways
SET gpuconc.debug_offload = require;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT nn, count(*) FROM types GROUP BY nn ORDER BY nn DESC;
FETCH 2 FROM c;
FETCH LAST FROM c;
FETCH PRIOR FROM c;
FETCH ABSOLUTE 4 FROM c;
COMMIT;
DROP FUNCTION public.check_order;
