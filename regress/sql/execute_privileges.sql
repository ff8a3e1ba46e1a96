-- EXECUTE of functions, of operators' functions and of aggregates: whoever computes them, the user must be permitted to call
-- them.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE ROLE regress_gpuconc_caller;
GRANT USAGE ON SCHEMA cached TO regress_gpuconc_caller;
GRANT SELECT ON ALL TABLES IN SCHEMA cached TO regress_gpuconc_caller;
CREATE FUNCTION doubled(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT i * 2';

-- One execution as the role, offloaded or not, without EXECUTE on a function.
CREATE FUNCTION public.without(function text, query text, mode text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', function);
	PERFORM set_config('role', 'regress_gpuconc_caller', true);
	RAISE EXCEPTION '% rows', cardinality(rows_of(query, mode));
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END $$;

-- PostgreSQL's error without the privilege, if the device's answer with it is right and the device
-- raises the error, too.
CREATE FUNCTION public.check_without(function text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	verdict text := check_here(query);
	got text := without(function, query, 'require');
	expected text := without(function, query, 'forbid');
BEGIN
	RETURN CASE WHEN verdict !~ '^ok, \d+ rows$' THEN verdict WHEN got = expected THEN got ELSE 'DIFFERENT: ' || got || ', not ' || expected END;
END $$;

SELECT f, q, check_without(f, q) FROM (VALUES
	('sum(int4)', 'SELECT sum(quantity) FROM sales'), ('count()', 'SELECT count(*) FROM sales'), ('avg(numeric)', 'SELECT shop, avg(price) FROM sales GROUP BY shop'), ('stddev(numeric)', 'SELECT stddev(price) FROM sales'), ('count("any")', 'SELECT count(DISTINCT customer) FROM sales'), ('max(date)', 'SELECT max(day) FROM sales'),
	('int4gt(int4, int4)', 'SELECT count(*) FROM sales WHERE quantity > 7'), ('textlike(text, text)', 'SELECT count(*) FROM sales WHERE city LIKE ''%1%'''), ('int4eq(int4, int4)', 'SELECT count(*) FROM sales WHERE quantity IN (1, 2, 5)'), ('numeric_mul(numeric, numeric)', 'SELECT sum(price * discount) FROM sales'),
	('date_trunc(text, timestamp)', 'SELECT date_trunc(''year'', at), count(*) FROM sales GROUP BY 1'), ('upper(text)', 'SELECT upper(city), count(*) FROM sales GROUP BY 1'), ('length(text)', 'SELECT sum(length(note)) FROM sales'), ('texteq(text, text)', 'SELECT city, count(*) FROM sales GROUP BY city'), ('texteq(text, text)', 'SELECT DISTINCT city FROM sales'),
	('int24eq(int2, int4)', 'SELECT count(*) FROM sales JOIN shop ON shop = s_id'), ('int24eq(int2, int4)', 'SELECT count(*) FROM sales LEFT JOIN shop ON shop = s_id'), ('int4lt(int4, int4)', 'SELECT count(s_id) FROM sales LEFT JOIN shop ON shop = s_id AND s_id < 9'), ('textregexeq(text, text)', 'SELECT count(*) FROM sales WHERE EXISTS (SELECT FROM shop WHERE s_id = shop AND s_name ~ ''1'')'),
	('abs(int4)', 'SELECT id FROM sales ORDER BY abs(quantity) DESC, id LIMIT 5'), ('int84gt(int8, int4)', 'SELECT shop FROM sales GROUP BY shop HAVING count(*) > 444'), ('sum(int8)', 'SELECT sum(c) FROM (SELECT count(*) AS c FROM sales GROUP BY shop) q'), ('int4mi(int4, int4)', 'SELECT max(x) FROM (SELECT sum(quantity - 3) AS x FROM sales GROUP BY shop) q'), ('int4mul(int4, int4)', 'SELECT x, count(*) FROM (SELECT quantity * 3 AS x FROM sales UNION ALL SELECT s_id FROM shop) u GROUP BY x'),
	('int4mul(int4, int4)', 'SELECT sum(doubled(quantity)) FROM sales'), ('doubled(int4)', 'SELECT sum(doubled(quantity)) FROM sales'), ('sum(int4)', 'SELECT id FROM sales WHERE quantity = (SELECT sum(s_id) - 819 FROM shop) AND id < 999'), ('sum(int4)', 'SELECT s_id, (SELECT sum(quantity) FROM sales WHERE shop = s_id) FROM shop'), ('int4gt(int4, int4)', 'SELECT count(*) FILTER (WHERE quantity > 3) FROM sales'), ('int4_sum(int8, int4)', 'SELECT sum(quantity) FROM sales')
) AS v(f, q);

-- of a query that is rewritten, only what the original calls
SELECT f, q, check_without(f, q) FROM (VALUES
	('count()', 'SELECT sum(s_id) FROM shop WHERE s_id NOT IN (SELECT customer FROM sales WHERE quantity > 3)'), ('int48eq(int4, int8)', 'SELECT sum(quantity) FROM sales WHERE customer NOT IN (SELECT c_id FROM customer WHERE c_region = 2)'), ('sum(int4)', 'SELECT sum(s_id) FROM shop WHERE s_id NOT IN (SELECT customer FROM sales WHERE quantity > 3)')
) AS v(f, q);

-- of such a query, what it does not call any more; prepared before
SET gpuconc.debug_rewrite = always;
SELECT f, q, check_without(f, q) FROM (VALUES
	('percentile_disc(float8, anyelement)', 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY quantity) FROM sales'), ('percentile_cont(float8, float8)', 'SELECT shop, percentile_cont(0.5) WITHIN GROUP (ORDER BY quantity) FROM sales GROUP BY shop'), ('mode(anyelement)', 'SELECT mode() WITHIN GROUP (ORDER BY quantity) FROM sales'), ('avg(int4)', 'SELECT mode() WITHIN GROUP (ORDER BY quantity), avg(quantity) FROM sales')
) AS v(f, q);
SET plan_cache_mode = force_generic_plan;
PREPARE p AS SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY quantity) FROM sales;
EXECUTE p;
BEGIN;
REVOKE EXECUTE ON FUNCTION percentile_disc(float8, anyelement) FROM PUBLIC;
SET LOCAL ROLE regress_gpuconc_caller;
SET LOCAL gpuconc.debug_offload = prefer;
EXECUTE p;
ROLLBACK;
DEALLOCATE p;
RESET plan_cache_mode;
RESET gpuconc.debug_rewrite;

-- windows of the executor's, windows over kept rows, and CTEs that are kept, of the rows that their readers ask for
SET gpuconc.debug_rewrite = always;
SELECT f, q, check_without(f, q) FROM (VALUES
	('row_number()', 'SELECT id, row_number() OVER (ORDER BY id) FROM sales'), ('sum(int4)', 'SELECT id, sum(quantity) OVER (PARTITION BY shop ORDER BY id) FROM sales'), ('int2eq(int2, int2)', 'SELECT id, rank() OVER (PARTITION BY shop ORDER BY id) FROM sales'), ('date_eq(date, date)', 'SELECT id, rank() OVER (ORDER BY day) FROM sales'), ('lag(anyelement)', 'SELECT id, lag(quantity * 2) OVER (ORDER BY id) FROM sales'),
	('rank()', 'SELECT x.*, s_name FROM (SELECT id, shop, rank() OVER (PARTITION BY shop ORDER BY id) AS r FROM sales) AS x JOIN shop ON s_id = shop WHERE r < 3'), ('sum(int4)', 'SELECT s_name, max(v) FROM (SELECT id, shop, sum(quantity) OVER (PARTITION BY shop ORDER BY id) AS v FROM sales) AS x JOIN shop ON s_id = shop GROUP BY s_name'), ('int4mul(int4, int4)', 'SELECT s_name, max(v) FROM (SELECT id, shop, lag(quantity * 2) OVER (PARTITION BY shop ORDER BY id) AS v FROM sales) AS x JOIN shop ON s_id = shop GROUP BY s_name'), ('int2eq(int2, int2)', 'SELECT s_name, max(r) FROM (SELECT shop, rank() OVER (PARTITION BY shop ORDER BY id) AS r FROM sales) AS x JOIN shop ON s_id = x.r GROUP BY s_name'), ('date_eq(date, date)', 'SELECT s_name, max(r) FROM (SELECT shop, rank() OVER (ORDER BY day) AS r FROM sales) AS x JOIN shop ON s_id = shop GROUP BY s_name'),
	('rank()', 'WITH w AS (SELECT shop, city, sum(quantity) AS s, rank() OVER (PARTITION BY shop ORDER BY city) AS r FROM sales GROUP BY shop, city) SELECT a.shop, a.s, b.s FROM w AS a JOIN w AS b ON a.shop = b.shop AND a.r = b.r + 1'), ('sum(int4)', 'WITH w AS (SELECT shop, city, sum(quantity) AS s, rank() OVER (PARTITION BY shop ORDER BY city) AS r FROM sales GROUP BY shop, city) SELECT a.shop, a.s, b.s FROM w AS a JOIN w AS b ON a.shop = b.shop AND a.r = b.r + 1'),
	('max(int4)', 'WITH w AS MATERIALIZED (SELECT shop, city, day, max(quantity) AS m FROM sales GROUP BY shop, city, day) SELECT a.city, sum(a.m - b.m) FROM w AS a JOIN w AS b ON a.shop = b.shop AND a.day = b.day + 1 WHERE a.shop = 3 AND b.shop = 3 GROUP BY a.city'), ('texteq(text, text)', 'WITH w AS MATERIALIZED (SELECT shop, city, day, max(quantity) AS m FROM sales GROUP BY shop, city, day) SELECT a.shop, sum(a.m - b.m) FROM w AS a JOIN w AS b ON a.shop = b.shop AND a.day = b.day + 1 WHERE a.shop = 3 AND b.shop = 3 GROUP BY a.shop')
) AS v(f, q);
RESET gpuconc.debug_rewrite;

-- granted to the role; EXPLAIN
BEGIN;
REVOKE EXECUTE ON FUNCTION sum(int4), upper(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sum(int4) TO regress_gpuconc_caller;
SET LOCAL ROLE regress_gpuconc_caller;
SELECT check_here('SELECT shop, sum(quantity) FROM sales GROUP BY shop');
EXPLAIN (COSTS OFF) SELECT upper(city), count(*) FROM sales GROUP BY 1;
ROLLBACK;
-- whoever plans: who executes counts
SET gpuconc.debug_offload = require;
PREPARE total AS SELECT sum(quantity) FROM sales;
CREATE FUNCTION total() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = cached AS 'SELECT sum(quantity) FROM sales';
CREATE FUNCTION denied() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = cached AS 'SELECT sum(quantity) FROM sales';
ALTER FUNCTION denied OWNER TO regress_gpuconc_caller;
EXECUTE total;
BEGIN;
REVOKE EXECUTE ON FUNCTION sum(int4) FROM PUBLIC;
EXECUTE total;
SET LOCAL ROLE regress_gpuconc_caller;
SAVEPOINT s;
EXECUTE total;
ROLLBACK TO s;
SELECT total();
RESET ROLE;
EXECUTE total;
SELECT denied();
ROLLBACK;
EXECUTE total;
SELECT denied();
-- an aggregate of another owner, who may not call what it is made of
BEGIN;
ALTER AGGREGATE sum(int4) OWNER TO regress_gpuconc_caller;
EXECUTE total;
REVOKE EXECUTE ON FUNCTION int4_sum(int8, int4) FROM PUBLIC;
EXECUTE total;
ROLLBACK;
RESET gpuconc.debug_offload;

DROP FUNCTION public.check_without(text, text), public.without(text, text, text), doubled(int), total(), denied();
DROP OWNED BY regress_gpuconc_caller;
DROP ROLE regress_gpuconc_caller;
