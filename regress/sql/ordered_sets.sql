-- Percentiles and mode(): groups of equal values that windows count and number.  DISTINCT ON: the first row of a window.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- check_same(), if windows of one node choose the values or rows; else says what does.
CREATE FUNCTION public.check_chosen(query text, OUT verdict text) LANGUAGE plpgsql AS $$
DECLARE
	nodes text;
BEGIN
	verdict := check_same(query);
	SELECT string_agg(DISTINCT node, ', ') INTO nodes FROM plan_of(query) AS line, substring(line FROM 'WindowAgg|GpuconcWindow|Seq Scan|Rows: ') AS node;
	IF nodes IS DISTINCT FROM 'Rows: ' THEN
		verdict := verdict || ', ' || coalesce(nodes, 'no window');
	END IF;
END $$;

-- costs do not decide whether a query is rewritten
SET gpuconc.debug_rewrite = always;

-- values of every type; ends of the fractions; both directions; NULLs, groups of NULLs alone, no rows
SELECT c, check_chosen(format('SELECT nn, percentile_disc(0) WITHIN GROUP (ORDER BY %1$I), percentile_disc(0.5) WITHIN GROUP (ORDER BY %1$I), percentile_disc(1) WITHIN GROUP (ORDER BY %1$I), mode() WITHIN GROUP (ORDER BY %1$I) FROM types GROUP BY nn', c)) AS groups,
	check_chosen(format('SELECT percentile_disc(ARRAY[0.01, 0.3, 0.999]) WITHIN GROUP (ORDER BY %1$I DESC), mode() WITHIN GROUP (ORDER BY %1$I DESC) FROM types', c)) AS one
FROM unnest('{i2,i4,i8,f4,f8,n,nw,n0,d,ts,tz,tx,vc,bc,di,dn,dt,dd,nn,nt}'::text[]) AS c;
SELECT c, check_chosen(format('SELECT one, percentile_disc(0.4) WITHIN GROUP (ORDER BY %1$I), percentile_disc(0.75) WITHIN GROUP (ORDER BY %1$I), mode() WITHIN GROUP (ORDER BY %1$I) FROM extremes WHERE id < 4 OR id > 4 GROUP BY one', c)) AS extremes
FROM unnest('{i2,i4,i8,f4,f8,n,nw,d,ts,tz,tx,bc}'::text[]) AS c;
SELECT c, check_chosen(format('SELECT nn, percentile_cont(0.5) WITHIN GROUP (ORDER BY %1$I), percentile_cont(ARRAY[0, 0.1, 0.123456789, 0.9, 1]) WITHIN GROUP (ORDER BY %1$I) FROM types GROUP BY nn', c)) AS groups,
	check_chosen(format('SELECT percentile_cont(0.31) WITHIN GROUP (ORDER BY %1$I DESC) FROM types', c)) AS one,
	check_chosen(format('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY %1$I), percentile_cont(ARRAY[0.05, 0.2, 0.95]) WITHIN GROUP (ORDER BY %1$I) FROM extremes WHERE id <> 4', CASE WHEN c = 'n0' THEN 'n' ELSE c END)) AS extremes
FROM unnest('{i2,i4,i8,f4,n,nw,n0}'::text[]) AS c;

SELECT q, check_chosen(q) AS verdict FROM unnest(ARRAY[
	-- beside other aggregates; HAVING, ORDER BY, LIMIT, expressions, keys that are not returned; joins
	'SELECT nn, percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) AS median, count(*), count(i2), count(*) FILTER (WHERE i2 > 0), sum(i2), sum(i4), sum(i8), sum(n), avg(i2), avg(i4), avg(i8), avg(n), avg(n) FILTER (WHERE i4 < 0), min(d), max(ts), bool_or(b), every(b) FROM types GROUP BY nn',
	'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i4), count(*), count(i2), sum(i2), sum(n), avg(n), max(tx), bool_and(b) FROM types WHERE id < 0',
	'SELECT nn, mode() WITHIN GROUP (ORDER BY nt), count(*) FROM types WHERE id < 0 GROUP BY nn',
	'SELECT nn, percentile_disc(0.5) WITHIN GROUP (ORDER BY i4), percentile_cont(0.5) WITHIN GROUP (ORDER BY i4), mode() WITHIN GROUP (ORDER BY i4), count(i4) FROM types WHERE i4 IS NULL GROUP BY nn',
	'SELECT 1 + percentile_disc(0.25) WITHIN GROUP (ORDER BY n) FROM types GROUP BY nn, b HAVING mode() WITHIN GROUP (ORDER BY n) < 100 OR count(*) > 20',
	'SELECT nn % 3 AS third, percentile_cont(0.9) WITHIN GROUP (ORDER BY i2 * 2 + 1) FROM types GROUP BY nn % 3 HAVING nn % 3 > 0',
	'SELECT r_name, percentile_disc(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY price), avg(quantity) FROM sales JOIN shop ON s_id = shop JOIN region ON r_id = s_region GROUP BY r_name',
	'SELECT * FROM (SELECT nn, percentile_disc(0.5) WITHIN GROUP (ORDER BY i4) AS m FROM types GROUP BY nn) AS x JOIN region ON r_id = nn WHERE m > -1000',
	'WITH t AS (SELECT nn AS k, i4 AS v FROM types WHERE id IN (SELECT c_id FROM customer)) SELECT k, mode() WITHIN GROUP (ORDER BY v % 10) FROM t GROUP BY k',
	'SELECT DISTINCT percentile_disc(0.5) WITHIN GROUP (ORDER BY i2 % 2) FROM types GROUP BY nn',
	'SELECT DISTINCT ON (m) mode() WITHIN GROUP (ORDER BY i2 % 3) AS m, nn FROM types GROUP BY nn ORDER BY m, nn',
	'SELECT b, percentile_disc(0.5) WITHIN GROUP (ORDER BY i4), sum(i8) FROM types GROUP BY b',
	'SELECT r_name, (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i4) FROM types WHERE b) FROM region',
	-- DISTINCT ON
	'SELECT DISTINCT ON (nn) nn, i4, id FROM types ORDER BY nn, i4, id',
	'SELECT DISTINCT ON (nn, b) id, tx FROM types ORDER BY b DESC NULLS LAST, nn, i2 DESC NULLS LAST, id DESC',
	'SELECT DISTINCT ON (tx) tx, vc, id FROM types ORDER BY tx DESC, f8 NULLS FIRST, id LIMIT 4 OFFSET 2',
	'SELECT DISTINCT ON (nn % 4) nn, i4 * 2 AS twice FROM types ORDER BY nn % 4, i4 DESC, id',
	'SELECT DISTINCT ON (nn) nn, b, count(*) FROM types GROUP BY nn, b ORDER BY nn, count(*) DESC, b',
	'SELECT DISTINCT ON (s_region) s_region, s_name, price, sales.id FROM sales JOIN shop ON s_id = shop ORDER BY s_region, price DESC, sales.id',
	'SELECT count(*), sum(x.i4) FROM (SELECT DISTINCT ON (nn) nn, i4, id FROM types ORDER BY nn, d, id) AS x JOIN region ON r_id = nn WHERE i4 > -4000',
	'SELECT DISTINCT ON (id) id, tx FROM types ORDER BY id', 'SELECT DISTINCT ON (nn) nn, id FROM types WHERE id < 0 ORDER BY nn, id',
	'SELECT nn, id FROM (SELECT DISTINCT ON (nn) nn, id FROM types ORDER BY nn, id) AS x UNION ALL SELECT nn, id FROM (SELECT DISTINCT ON (nn) nn, id FROM types ORDER BY nn, id DESC) AS y']) AS q;

EXPLAIN (COSTS OFF) SELECT nn, percentile_disc(0.5) WITHIN GROUP (ORDER BY i4), count(*) FROM types GROUP BY nn;

-- the order of the result
SELECT check_near('SELECT DISTINCT ON (nn) nn, i4, id FROM types ORDER BY nn DESC, i4, id');
-- PostgreSQL would show the order of a subquery, or of one in it, or of a CTE
SELECT q, check_chosen(q) FROM unnest(ARRAY['SELECT DISTINCT ON (nn) nn, id FROM (SELECT * FROM (SELECT nn, id FROM types ORDER BY nn, id DESC LIMIT ALL) AS s) AS z ORDER BY nn',
	'WITH c AS (SELECT nn, id FROM types ORDER BY nn, id DESC LIMIT ALL) SELECT DISTINCT ON (nn) nn, id FROM c ORDER BY nn', 'SELECT DISTINCT ON (nn) nn, x.id FROM (SELECT nn, id FROM types ORDER BY nn, id DESC LIMIT 900) AS x ORDER BY nn, x.id']) AS q;
SELECT check_near('SELECT nn, percentile_disc(0.5) WITHIN GROUP (ORDER BY i4) AS m FROM types GROUP BY nn ORDER BY m DESC, nn LIMIT 5');

-- many values and many groups
CREATE TABLE cached.many AS SELECT i AS id, (i * 7919 % 100003)::int4 AS v, (i * 31 % 4999)::int4 AS k, nullif(i % 3, 1) AS few FROM generate_series(1, 100000) AS i;
VACUUM ANALYZE cached.many;
SELECT q, check_same(q, '{cached}') AS verdict FROM unnest(ARRAY[
	'SELECT percentile_cont(0.37) WITHIN GROUP (ORDER BY v), mode() WITHIN GROUP (ORDER BY v), count(*) FROM many', 'SELECT few, percentile_disc(ARRAY[0.001, 0.999]) WITHIN GROUP (ORDER BY v DESC) FROM many GROUP BY few',
	'SELECT k, percentile_cont(0.25) WITHIN GROUP (ORDER BY v), sum(v) FROM many GROUP BY k', 'SELECT k, mode() WITHIN GROUP (ORDER BY few) FROM many GROUP BY k', 'SELECT DISTINCT ON (k) k, id, v FROM many ORDER BY k, v DESC']) AS q;

DROP TABLE cached.many;

-- what is left to PostgreSQL, whose answers and errors these are
SELECT q, check_here(q) AS verdict FROM unnest(ARRAY[
	'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f8) FROM cached.types', 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY dn) FROM cached.types', 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ts - timestamp ''1995-01-01'') FROM cached.types', 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY b) FROM cached.types',
	'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i4) FILTER (WHERE i2 > 0) FROM cached.types', 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i4), percentile_disc(0.5) WITHIN GROUP (ORDER BY i2) FROM cached.types',
	'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i4), mode() WITHIN GROUP (ORDER BY i4 DESC) FROM cached.types', 'SELECT percentile_disc(nn / 17.0) WITHIN GROUP (ORDER BY i4) FROM cached.types GROUP BY nn', 'SELECT percentile_disc(NULL) WITHIN GROUP (ORDER BY i4) FROM cached.types',
	'SELECT percentile_disc(ARRAY[0.5, NULL]) WITHIN GROUP (ORDER BY i4) FROM cached.types', 'SELECT percentile_disc(''{}''::float8[]) WITHIN GROUP (ORDER BY i4) FROM cached.types', 'SELECT percentile_cont(''{{0.5,0.6}}''::float8[]) WITHIN GROUP (ORDER BY i4) FROM cached.types', 'SELECT percentile_cont(''[0:0]={0.5}''::float8[]) WITHIN GROUP (ORDER BY i4) FROM cached.types',
	'SELECT percentile_disc(1.5) WITHIN GROUP (ORDER BY i4) FROM cached.types', 'SELECT percentile_disc(''NaN'') WITHIN GROUP (ORDER BY i4) FROM cached.types', 'SELECT percentile_disc(1.5) WITHIN GROUP (ORDER BY i4) FROM cached.types WHERE id < 0', 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i4), count(DISTINCT i2) FROM cached.types', 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i4), string_agg(tx, '','' ORDER BY id) FROM cached.types',
	'SELECT nn, b, percentile_disc(0.5) WITHIN GROUP (ORDER BY i4) FROM cached.types GROUP BY ROLLUP (nn, b)', 'SELECT nn, percentile_disc(0.5) WITHIN GROUP (ORDER BY i4), rank() OVER (ORDER BY nn) FROM cached.types GROUP BY nn', 'SELECT s_id, s_name, mode() WITHIN GROUP (ORDER BY price) FROM cached.shop JOIN cached.sales ON shop = s_id GROUP BY s_id',
	'SELECT rank(5) WITHIN GROUP (ORDER BY i4) FROM cached.types', 'SELECT DISTINCT ON (nn) nn, c FROM (SELECT nn, count(*) AS c FROM cached.types GROUP BY nn, b ORDER BY nn, c, b) AS x', 'SELECT DISTINCT ON (nn) nn, generate_series(1, 2) FROM cached.types ORDER BY nn, id, 2', 'SELECT DISTINCT ON (nn) nn, id FROM cached.types ORDER BY nn, rank() OVER (PARTITION BY nn ORDER BY id) DESC, id', 'SELECT DISTINCT ON (sum(i4) OVER (PARTITION BY b)) b, id FROM cached.types ORDER BY sum(i4) OVER (PARTITION BY b), id', 'SELECT DISTINCT ON (nn) nn, id FROM cached.types ORDER BY nn, id LIMIT (SELECT 3)', 'WITH c AS (SELECT 3 AS n FROM cached.types LIMIT 1) SELECT nn, mode() WITHIN GROUP (ORDER BY i4) FROM cached.types, c GROUP BY nn ORDER BY nn LIMIT (SELECT n FROM c)']) AS q;

-- volatile functions are called as often as PostgreSQL's plan calls them
CREATE SEQUENCE public.calls;
SELECT count(*) AS rows FROM cached.types HAVING mode() WITHIN GROUP (ORDER BY nextval('calls')) + sum(nextval('calls')) > 0;
SELECT last_value / count(*) AS calls FROM public.calls, cached.types GROUP BY last_value;
DROP SEQUENCE public.calls;

-- a rewritten statement is known by its identifier still
SET compute_query_id = on;
SELECT q, count(line) AS identifiers FROM unnest(ARRAY['SELECT DISTINCT ON (nn) nn, id FROM cached.types ORDER BY nn, id', 'SELECT mode() WITHIN GROUP (ORDER BY i4) FROM cached.types']) AS q,
	LATERAL plan_of(q, 'VERBOSE, COSTS OFF') AS line WHERE line LIKE 'Query Identifier%' GROUP BY q;
RESET compute_query_id;

-- views, functions and prepared statements
CREATE VIEW public.medians AS SELECT nn, percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) AS median FROM cached.types GROUP BY nn;
SELECT check_here('SELECT * FROM medians WHERE nn IN (3, 5)');
PREPARE chosen(int4) AS SELECT DISTINCT ON (nn) nn, id FROM cached.types WHERE i4 > $1 ORDER BY nn, id;
SET gpuconc.debug_offload = require;
CREATE TEMP TABLE ours AS EXECUTE chosen(100);
SET gpuconc.debug_offload = forbid;
CREATE TEMP TABLE theirs AS EXECUTE chosen(100);
RESET gpuconc.debug_offload;
SELECT count(*) AS rows, (SELECT count(*) FROM ((TABLE ours EXCEPT ALL TABLE theirs) UNION ALL (TABLE theirs EXCEPT ALL TABLE ours)) AS d) AS differ FROM ours;

-- by time, where values repeat
RESET gpuconc.debug_rewrite;
SELECT check_chosen('SELECT shop, percentile_cont(0.5) WITHIN GROUP (ORDER BY quantity), mode() WITHIN GROUP (ORDER BY quantity) FROM sales GROUP BY shop');
DROP VIEW public.medians;
DROP FUNCTION public.check_chosen(text);
