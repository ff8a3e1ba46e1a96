-- EXPLAIN's lines: the pipelines always, the fallback plan under VERBOSE, what
-- happened under ANALYZE.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- EXPLAIN with numbers and the device's name masked.
CREATE FUNCTION public.explain_masked(query text, options text DEFAULT 'ANALYZE, COSTS OFF, SUMMARY OFF, TIMING OFF') RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		-- requests of others, and what ran before, decide whether there are these
		CONTINUE WHEN line ~ '^ *Requests: ';
		line := regexp_replace(line, ' (compiled|copied|loaded|looked at|skipped)=\d+(kB)?', '', 'g');
		line := regexp_replace(line, 'builds (run|shared)=\d+', 'builds=N');
		line := regexp_replace(line, '(served|launched|read)=\d+', '\1=N');
		line := regexp_replace(line, 'Device: .*', 'Device: N');
		line := regexp_replace(line, '\d+\.\d+ ms', 'N ms');
		line := regexp_replace(line, 'Memory Usage: \d+', 'Memory Usage: N');
		RETURN NEXT line;
	END LOOP;
END $$;

SET gpuconc.debug_offload = require;
EXPLAIN (COSTS OFF) SELECT count(*) FROM sales;
EXPLAIN (COSTS OFF) SELECT shop, sum(price) FROM sales WHERE quantity < 25 AND discount BETWEEN 0.01 AND 0.03 GROUP BY shop HAVING count(*) > 10 ORDER BY 2 DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT y, p_brand, sum(price) FROM sales s, calendar c, product, customer WHERE s.day = c.day AND product = p_id AND customer = c_id AND c_region = 2 AND p_brand < 'brand 5' GROUP BY y, p_brand;
EXPLAIN (COSTS OFF, VERBOSE) SELECT r_name, sum(price) AS total FROM sales, shop, region WHERE shop = s_id AND s_region = r_id AND s_name LIKE '%1' AND price > 5 GROUP BY r_name;
EXPLAIN (COSTS OFF) SELECT id, c_name FROM sales JOIN customer ON customer = c_id WHERE quantity > 48;
EXPLAIN (COSTS OFF) SELECT x, count(*) FROM sales JOIN generate_series(1, 20) AS x ON shop = x GROUP BY x;
EXPLAIN (COSTS OFF) SELECT a.id FROM sales a JOIN sales b ON a.id = b.product AND a.customer = b.customer AND a.price > b.price;
SET gpuconc.debug_rewrite = never;
EXPLAIN (COSTS OFF) SELECT s_id, (SELECT count(*) FROM sales WHERE shop = s_id) FROM shop;
RESET gpuconc.debug_rewrite;
EXPLAIN (COSTS OFF) SELECT s_id, (SELECT count(*) FROM sales WHERE shop = s_id) FROM shop;
PREPARE p(int, text) AS SELECT count(*) FROM sales WHERE shop = $1 AND city LIKE $2 AND quantity = ANY ('{1,2,3}');
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE p(3, 'city 2%');
EXPLAIN (COSTS OFF, VERBOSE) EXECUTE p(3, 'city 2%');
RESET plan_cache_mode;
EXPLAIN (COSTS OFF, FORMAT JSON) SELECT sum(price) FROM sales JOIN shop ON shop = s_id WHERE quantity < 25;
-- names that need quotes, aliases, two uses of one table
CREATE TABLE public."Select ""x"" from" ("Group By" int, "a b" text);
INSERT INTO public."Select ""x"" from" SELECT i, 'v' || i % 3 FROM generate_series(1, 100) AS i;
VACUUM (FREEZE, ANALYZE) public."Select ""x"" from";
EXPLAIN (COSTS OFF) SELECT t."a b", count(*) FROM "Select ""x"" from" t JOIN "Select ""x"" from" u USING ("Group By") WHERE u."a b" <> 'v1' GROUP BY 1;

-- after execution
SELECT count(*) FROM sales WHERE quantity < 25 AND shop < 9 AND price > 1;
SELECT explain_masked('SELECT count(*) FROM sales WHERE quantity < 25 AND shop < 9 AND price > 1');
SELECT explain_masked('SELECT y, sum(price) FROM sales s JOIN calendar c ON s.day = c.day WHERE m = 3 GROUP BY y', 'ANALYZE, VERBOSE, COSTS OFF, SUMMARY OFF, TIMING OFF');
SELECT explain_masked('SELECT x, count(*) FROM sales JOIN generate_series(1, 20) AS x ON shop = x GROUP BY x', 'ANALYZE, VERBOSE, COSTS OFF, SUMMARY OFF, TIMING OFF');
SELECT explain_masked('SELECT x, q.c FROM generate_series(1, 3) AS x, LATERAL (SELECT count(*) AS c FROM sales WHERE shop = x) q');
-- another test may have asked for the table without versions
SELECT gpuconc_evict('delta.shop') >= 0 AS evicted;
SELECT explain_masked('SELECT count(*) FROM delta.shop');
SET gpuconc.debug_versioned_pages = off;
SELECT explain_masked('SELECT count(*) FROM delta.shop');
RESET gpuconc.debug_versioned_pages;
SELECT explain_masked('SELECT id FROM sales WHERE quantity = 7 LIMIT 2');
SELECT explain_masked('SELECT (SELECT count(*) FROM sales WHERE generate_series > 100) FROM generate_series(1, 2) WHERE generate_series > 100');
-- fallbacks and their reasons
RESET gpuconc.debug_offload;
SELECT explain_masked('SELECT sum(nw) FROM extremes');
SELECT explain_masked('SELECT sum(nw) FROM extremes GROUP BY i4 HAVING i4 > 1', 'ANALYZE, VERBOSE, COSTS OFF, SUMMARY OFF, TIMING OFF');
-- JSON always has the same keys, whether zero or not
CREATE FUNCTION public.json_keys(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	j jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, FORMAT JSON) ' || query INTO j;
	j := jsonb_path_query_first(j, '$.** ? (@."Custom Plan Provider" starts with "Gpuconc")');
	RETURN (SELECT string_agg(key, ', ' ORDER BY key) FROM jsonb_object_keys(j) AS key WHERE key NOT LIKE 'Actual %');
END $$;
SET gpuconc.debug_offload = require;
SELECT regexp_split_to_table(json_keys('SELECT count(*) FROM sales'), ', ') AS key;
SELECT json_keys('SELECT count(*) FROM sales') = json_keys('SELECT count(*) FROM delta.sales') AS same;
-- settings that matter are shown
CREATE FUNCTION public.settings_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	j jsonb;
BEGIN
	EXECUTE 'EXPLAIN (SETTINGS, FORMAT JSON) ' || query INTO j;
	RETURN QUERY SELECT key || '=' || value FROM jsonb_each_text(j -> 0 -> 'Settings') WHERE key LIKE 'gpuconc.%' ORDER BY key;
END $$;
SELECT settings_of('SELECT max(price) FROM sales');
DROP FUNCTION public.settings_of;
DROP FUNCTION public.explain_masked, public.json_keys;
DROP TABLE public."Select ""x"" from";
