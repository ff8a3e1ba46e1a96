-- Edges between the steps of a pipeline: rows that go on as packets, through a channel or through memory, give
-- the same answer as rows that stay in registers.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- The answer by each edge, before each of the steps that are named; and where the edges were.
CREATE FUNCTION by_edges(query text, steps int[] DEFAULT '{-1}', schemas text[] DEFAULT '{mixed}') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	edge text;
	step int;
	verdict text;
	first_verdict text;
	shown text;
	edges text[] := '{}';
BEGIN
	FOREACH edge IN ARRAY '{fuse,channel,materialize}'::text[] LOOP
		PERFORM set_config('gpuconc.debug_pipeline_edge', edge, true);
		FOREACH step IN ARRAY steps LOOP
			CONTINUE WHEN edge = 'fuse' AND step <> steps[1];
			PERFORM set_config('gpuconc.debug_edge_step', step::text, true);
			verdict := check_whole(query, schemas);
			IF verdict <> first_verdict THEN
				RETURN format('%s before step %s: %s, not %s', edge, step, verdict, first_verdict);
			END IF;
			first_verdict := verdict;
			PERFORM set_config('search_path', 'mixed, public', true);
			-- those below, where the main pipeline scans groups and has none
			SELECT substring(line FROM 'Edges[A-Za-z ]*: (.*)$') INTO shown
			FROM plan_of(query, 'ANALYZE, VERBOSE, COSTS OFF, TIMING OFF') AS line WHERE line ~ 'Edges' ORDER BY line ~ 'Below' LIMIT 1;
			edges := edges || coalesce(shown, 'fuse');
		END LOOP;
	END LOOP;
	PERFORM set_config('gpuconc.debug_pipeline_edge', 'auto', true);
	PERFORM set_config('gpuconc.debug_edge_step', '-1', true);
	RETURN verdict || ': ' || array_to_string(edges, ', ');
END $$;

-- sinks: one group, few groups, groups by hash, rows, the first rows, a build
SELECT by_edges('SELECT count(*), sum(quantity), min(price), max(c_region) FROM sales, customer WHERE customer = c_id AND quantity < 20');
SELECT by_edges('SELECT p_brand, c_city, count(*), sum(price * discount) FROM sales, customer, product WHERE customer = c_id AND product = p_id GROUP BY 1, 2', '{0,1,2}');
SELECT by_edges('SELECT p_weight, count(*), sum(price), min(note) FROM sales JOIN product ON product = p_id GROUP BY 1');
SELECT by_edges('SELECT id, price, note, p_weight, s_name FROM sales, product, shop WHERE product = p_id AND shop = s_id AND quantity = 7', '{2,3}');
SELECT by_edges('SELECT id, price FROM sales JOIN product ON product = p_id AND discount < 0.05 ORDER BY price DESC, id LIMIT 7');
SELECT by_edges('SELECT count(*), sum(a.quantity) FROM sales a WHERE a.customer IN (SELECT c_id FROM customer JOIN shop ON c_region = s_id WHERE s_region < 4)');
SELECT by_edges('SELECT s_region, p_brand, grouping(s_region), count(*), avg(price) FROM sales, product, shop WHERE product = p_id AND shop = s_id GROUP BY ROLLUP (1, 2)');

-- filters alone; everything passes
SELECT by_edges('SELECT city, count(*), sum(price) FROM sales WHERE quantity < 10 AND note IS NOT NULL GROUP BY 1');
SELECT by_edges('SELECT count(*), count(note), sum(weight) FROM sales JOIN calendar USING (day)');

-- joins of other kinds before and behind the edge; keys that are NULL; several rows for a key
SELECT by_edges('SELECT c_region, count(*), sum(p_price) FROM sales LEFT JOIN customer ON customer = c_id AND c_region > 2 LEFT JOIN product ON product = p_id WHERE quantity < 30 GROUP BY 1', '{2,3}', '{mixed,delta}');
SELECT by_edges('SELECT count(*), sum(price) FROM sales WHERE EXISTS (SELECT FROM product WHERE p_id = product AND p_price > quantity) AND NOT EXISTS (SELECT FROM shop WHERE s_id = shop AND s_region < 3)', '{1,2}');
SELECT by_edges('SELECT people, count(*), sum(quantity), min(s_name) FROM sales JOIN shop ON shop = s_id JOIN city ON city.city = sales.city GROUP BY 1', '{1}');
SELECT by_edges('SELECT count(*), count(s_id), count(id), sum(price), sum(s_region) FROM sales FULL JOIN shop ON shop = s_id');

-- a primary key of two columns finds one row, so an edge may lie behind its probe
CREATE TABLE mixed.stock (st_shop int4, st_product int4, st_n int4, PRIMARY KEY (st_product, st_shop)) WITH (autovacuum_enabled = off);
INSERT INTO mixed.stock SELECT s_id, p_id, s_id * 31 + p_id FROM cached.shop, cached.product;
VACUUM ANALYZE mixed.stock;
SELECT by_edges('SELECT c_region, count(*), sum(st_n) FROM sales JOIN stock ON shop = st_shop AND product = st_product JOIN customer ON customer = c_id GROUP BY 1', '{0,1,2}');
DROP TABLE mixed.stock;

-- arms of a union; groups that are scanned again
SELECT by_edges('SELECT k, count(*), sum(v) FROM (SELECT c_region AS k, price AS v FROM sales JOIN customer ON customer = c_id UNION ALL SELECT s_region, quantity FROM sales JOIN shop ON shop = s_id) AS u GROUP BY 1');
SELECT by_edges('SELECT count(*), sum(n) FROM (SELECT customer, count(*) AS n FROM sales JOIN product ON product = p_id GROUP BY 1) AS g JOIN customer ON customer = c_id WHERE n > 2');

-- no such edge: pairs
SELECT by_edges('SELECT count(*) FROM shop a, shop b WHERE a.s_region < b.s_region');

-- a failure behind the edge is PostgreSQL's error, by each edge
SET gpuconc.debug_pipeline_edge = channel;
SELECT check_error('SELECT sum(price / (c_region - 3)) FROM sales JOIN customer ON customer = c_id', '{cached}');
SELECT check_error('SELECT sum(quantity * 2000000000) FROM sales JOIN customer ON customer = c_id', '{cached}');
SET gpuconc.debug_pipeline_edge = materialize;
SELECT check_error('SELECT sum(price / (c_region - 3)) FROM sales JOIN customer ON customer = c_id', '{cached}');
SELECT check_error('SELECT count(*) FROM sales JOIN customer ON customer = c_id AND c_region / quantity > 0', '{cached}');
-- and what does not come there does not fail
SELECT by_edges('SELECT sum(price / (c_region - 3)) FROM sales JOIN customer ON customer = c_id WHERE c_region <> 3');

RESET gpuconc.debug_pipeline_edge;
DROP FUNCTION by_edges;
