-- Edges of kind refill: survivors are gathered across a block before a step; the answers stay PostgreSQL's.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- The edge that a query had, without its times; and whether its answer, over each state of the tables, is PostgreSQL's.
CREATE FUNCTION public.edge_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan text;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
	RETURN substring(plan FROM '"Edges": "([a-z]+ before step \d+|fuse)');
END $$;
-- keys that are far apart are hashed: probes of them are steps row by row
CREATE TABLE public.far_shop AS SELECT s_id * 1000003::bigint AS id, s_name, s_region FROM cached.shop UNION ALL SELECT NULL, 'none', 99;
CREATE TABLE public.far_customer AS SELECT c_id * 1000003::bigint AS id, c_id, c_region FROM cached.customer;
CREATE TABLE public.several AS SELECT c_id * 1000003::bigint AS id, g AS number FROM cached.customer, generate_series(1, 3) g WHERE c_id % 5 = 0;
CREATE UNIQUE INDEX ON public.far_shop (id);
CREATE UNIQUE INDEX ON public.far_customer (id);
VACUUM ANALYZE public.far_shop;
VACUUM ANALYZE public.far_customer;
VACUUM ANALYZE public.several;
SET gpuconc.debug_pipeline_edge = refill;
CREATE TABLE public.queries (n int, q text);
INSERT INTO public.queries VALUES
	(1, 'SELECT s_name, c_region, count(*), sum(price), min(quantity) FROM sales, far_shop s, far_customer c WHERE shop * 1000003::bigint = s.id AND customer * 1000003::bigint = c.id AND quantity < 20 GROUP BY 1, 2'),
	(2, 'SELECT count(*), sum(weight), max(s_name) FROM sales, far_shop s, far_customer c WHERE shop * 1000003::bigint = s.id AND customer * 1000003::bigint = c.id AND c_region = 3'),
	(3, 'SELECT sales.id, s_name, c_id FROM sales, far_shop s, far_customer c WHERE shop * 1000003::bigint = s.id AND customer * 1000003::bigint = c.id AND quantity = 7 AND price > 100'),
	(4, 'SELECT s_name, count(*), count(c_id), sum(c_region) FROM sales LEFT JOIN far_shop s ON shop * 1000003::bigint = s.id LEFT JOIN far_customer c ON customer * 1000003::bigint = c.id AND c_region <> 2 GROUP BY 1'),
	(5, 'SELECT shop, count(*), sum(price) FROM sales WHERE EXISTS (SELECT FROM several v WHERE v.id = customer * 1000003::bigint AND v.number + quantity > 5) AND NOT EXISTS (SELECT FROM far_shop s WHERE s.id = shop * 1000003::bigint AND s_region = 1) GROUP BY 1'),
	(6, 'SELECT s_name, count(*), sum(v.number * quantity) FROM sales, far_shop s, several v WHERE shop * 1000003::bigint = s.id AND customer * 1000003::bigint = v.id GROUP BY 1'),
	(7, 'SELECT s.s_name || c_id::text AS k, sum(quantity + s_region) FROM sales, far_shop s, far_customer c WHERE shop * 1000003::bigint = s.id AND customer * 1000003::bigint = c.id AND s_region + c_region > 3 GROUP BY s_name, c_id'),
	(8, 'SELECT count(*) FROM sales, far_shop s WHERE shop * 1000003::bigint = s.id AND quantity < 0');
SELECT n, check_same(q) FROM queries ORDER BY n;
SELECT n, edge_of(q) FROM queries ORDER BY n;
-- the model's prediction is told beside the time taken, with times only
CREATE FUNCTION public.told(options text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE' || options || ') ' || (SELECT q FROM queries WHERE n = 1) LOOP
		IF line LIKE '%Edges:%' THEN
			RETURN NEXT regexp_replace(trim(line), '\d+\.\d+', 'N', 'g');
		END IF;
	END LOOP;
END $$;
SELECT told(''), told(', TIMING OFF');
DROP FUNCTION public.told(text);
-- before each step that it can lie before, and one that it cannot
SELECT step, set_config('gpuconc.debug_edge_step', step::text, false) IS NOT NULL AS set, check_same(q, '{cached,mixed}'), edge_of(q) FROM queries, generate_series(0, 4) AS step WHERE n = 1 ORDER BY step;
RESET gpuconc.debug_edge_step;
-- a scan alone, before its sink; pairs can only be fused
SELECT check_same('SELECT count(*) FROM sales WHERE quantity = 3', '{cached}'), edge_of('SELECT count(*) FROM sales WHERE quantity = 3');
SELECT check_same('SELECT count(*) FROM shop a, customer b WHERE a.s_region < b.c_region', '{cached}'), edge_of('SELECT count(*) FROM shop a, customer b WHERE a.s_region < b.c_region');
-- PostgreSQL's error, raised behind the edge
SELECT check_error('SELECT sum(1 / (quantity - 7)) FROM cached.sales, far_shop s WHERE shop * 1000003::bigint = s.id AND s_region > 0');
RESET gpuconc.debug_pipeline_edge;
DROP TABLE public.queries, public.far_shop, public.far_customer, public.several;
DROP FUNCTION public.edge_of(text);
