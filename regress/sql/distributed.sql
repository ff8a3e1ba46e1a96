-- Tables and functions of Citus, known by its catalogs; Citus itself is not
-- needed.  Its objects are made up in transactions that end in ROLLBACK.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
\set VERBOSITY terse

-- A table whose rows are in shards: no node, and not rewritten before Citus has seen it.
CREATE FUNCTION public.left_alone(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text := '';
BEGIN
	PERFORM set_config('gpuconc.debug_offload', 'prefer', true), set_config('gpuconc.debug_rewrite', 'always', true);
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		IF line ~ 'Custom Scan|SubPlan|Gpuconc:' THEN
			result := concat_ws('; ', nullif(result, ''), trim(line, ' ->'));
		END IF;
	END LOOP;
	PERFORM set_config('gpuconc.debug_offload', 'allow', true), set_config('gpuconc.debug_rewrite', 'auto', true);
	RETURN result;
END $$;
PREPARE sharded AS SELECT q, left_alone(q) FROM unnest(ARRAY['SELECT count(*) FROM sales', 'SELECT sum(price) FROM sales JOIN shop ON shop = s_id', 'SELECT count(*) FROM shop WHERE s_id NOT IN (SELECT shop FROM sales WHERE quantity > 90)',
	'WITH x AS (SELECT shop FROM sales) SELECT count(*) FROM x a, x b WHERE a.shop = b.shop AND a.shop = 1', 'SELECT count(*) FROM customer', 'SELECT count(*) FROM shop WHERE EXISTS (SELECT FROM (SELECT shop FROM sales OFFSET 0) x WHERE shop = s_id)']) AS q;
EXECUTE sharded;
BEGIN;
SET LOCAL allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char");
INSERT INTO pg_catalog.pg_dist_partition SELECT c.oid, 'h' FROM pg_class c WHERE relkind = 'r' AND relname = 'sales';
EXECUTE sharded;
-- shards by the catalog's index, without which the catalog is scanned
CREATE UNIQUE INDEX pg_dist_partition_logical_relid_index ON pg_catalog.pg_dist_partition (logicalrelid);
EXECUTE sharded;
-- answers, of what is planned inside of other statements, too
CREATE FUNCTION public.customers(shops bigint) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN shops + (SELECT count(*) FROM customer); END';
SELECT customers(count(*)) = (SELECT count(*) FROM shop) + (SELECT count(*) FROM customer) FROM shop WHERE s_id NOT IN (SELECT shop FROM sales WHERE quantity > 1000);
SELECT check_same('SELECT count(*), min(c_id) FROM customer');
ROLLBACK;
EXECUTE sharded;

-- Rows computed for the statement before: a row source, although its function is volatile.
PREPARE intermediate AS SELECT q, check_here(q) FROM unnest(ARRAY['SELECT s_name, count(*), sum(r.v) FROM sales JOIN (SELECT k, v FROM read_intermediate_result(''7_1'', ''binary'') AS i(k int, v int)) r ON shop = r.k JOIN shop ON shop = s_id GROUP BY s_name',
	'SELECT sum(quantity) FROM sales WHERE shop IN (SELECT k FROM read_intermediate_result(''7_1'', ''binary'') AS i(k int, v int))', 'SELECT sum(quantity) FROM sales WHERE NOT EXISTS (SELECT FROM (SELECT k FROM read_intermediate_result(''7_1'', ''binary'') AS i(k int, v int) OFFSET 0) r WHERE shop = k)',
	'SELECT sum(quantity) FROM sales WHERE price > (SELECT avg(v) FROM read_intermediate_result(''7_1'', ''binary'') AS i(k int, v int))',
	'WITH r AS MATERIALIZED (SELECT k, v FROM read_intermediate_result(''7_1'', ''binary'') AS i(k int, v int)) SELECT count(*) FROM sales, r WHERE shop = k']) AS q;
BEGIN;
CREATE FUNCTION public.read_intermediate_result(name text, format text) RETURNS SETOF record LANGUAGE plpgsql STRICT VOLATILE AS 'BEGIN RETURN QUERY SELECT i, i * 3 FROM generate_series(1, 33) AS i; END';
EXECUTE intermediate;
CREATE FUNCTION pg_catalog.read_intermediate_result(name text, format text) RETURNS SETOF record LANGUAGE plpgsql STRICT VOLATILE AS 'BEGIN RETURN QUERY SELECT i, i * 3 FROM generate_series(1, 33) AS i; END';
EXECUTE intermediate;
-- other volatile functions beside it are refused as before
SELECT refusal('SELECT count(*) FROM sales JOIN (SELECT k, v FROM read_intermediate_result(''7_1'', ''binary'') AS i(k int, v int) WHERE random() < 2) r ON shop = r.k');
ROLLBACK;

-- Statements in the form that Citus sends to a shard: names, the parts of averages, an aggregate that gpuconc does not know, binary copies.
CREATE TABLE public.sales_102008 AS SELECT * FROM cached.sales WHERE shop % 3 = 0;
SELECT settle();
VACUUM ANALYZE public.sales_102008;
SELECT check_here('SELECT sales.shop AS worker_column_1, count(sales.price) AS avg, sum(sales.price) AS avg, sum((sales.quantity)::bigint) AS sum, count(*) AS count FROM public.sales_102008 sales WHERE (sales.quantity OPERATOR(pg_catalog.>) 3) GROUP BY sales.shop');
SELECT check_here('SELECT worker_column_1 AS x, sum(worker_column_2) AS s FROM (SELECT sales.shop AS worker_column_1, sales.price AS worker_column_2 FROM (public.sales_102008 sales JOIN cached.shop shop ON ((sales.shop OPERATOR(pg_catalog.=) shop.s_id)))) worker_subquery GROUP BY worker_column_1');
CREATE AGGREGATE public.partial_agg(int) (sfunc = int4larger, stype = int);
SELECT q, refusal(q) FROM unnest(ARRAY['SELECT shop, partial_agg(quantity) FROM public.sales_102008 GROUP BY shop']) AS q;
SELECT shop, partial_agg(quantity) FROM public.sales_102008 WHERE shop < 7 GROUP BY shop ORDER BY shop;
SET gpuconc.debug_offload = require;
\copy (SELECT shop, count(price), sum(price), max(city), min(day), count(*) FROM public.sales_102008 GROUP BY shop ORDER BY shop) to program 'cksum' (format binary)
SET gpuconc.debug_offload = forbid;
\copy (SELECT shop, count(price), sum(price), max(city), min(day), count(*) FROM public.sales_102008 GROUP BY shop ORDER BY shop) to program 'cksum' (format binary)
RESET gpuconc.debug_offload;
DROP TABLE public.sales_102008;
DROP AGGREGATE public.partial_agg(int);
DROP FUNCTION public.left_alone(text);

-- Another session begins with what one has learnt: connections of a pool take turns.
CREATE TABLE public.grown AS SELECT 's' || i % 7 AS s, i % 1009 AS k, i % 300 AS o FROM generate_series(1, 100001) AS i;
CREATE TABLE public.ways AS SELECT i AS w FROM generate_series(1, 299) AS i;
SELECT settle();
VACUUM ANALYZE public.grown, public.ways;
SELECT retries AS before FROM gpuconc_stat \gset
SET gpuconc.debug_offload = require;
SELECT count(*), sum(n) FROM (SELECT s, k, o, count(*) AS n FROM grown GROUP BY s, k, o OFFSET 0) x;
SELECT retries - :before > 0 AS learnt, retries AS before FROM gpuconc_stat \gset
-- One attempt tells what each sink needs: both sides' groups, and the build between them.
SELECT count(*), sum(a.n), sum(b.n) FROM (SELECT s, k, o, count(*) AS n FROM grown GROUP BY s, k, o OFFSET 0) a JOIN (SELECT o, k, s, count(*) AS n FROM grown WHERE k >= 0 GROUP BY o, k, s OFFSET 0) b USING (s, k, o);
SELECT retries - :before AS together, retries AS before FROM gpuconc_stat \gset
-- Where little is expected, there is room for more.
SELECT count(*), sum(n) FROM (SELECT s, k, o, count(*) AS n FROM grown WHERE k < 300 GROUP BY s, k, o OFFSET 0) x;
SELECT retries - :before AS with_room, retries AS before FROM gpuconc_stat \gset
-- Builds that had room are not made again.
SELECT builds_shared AS shared FROM gpuconc_stat_sharing \gset
SELECT count(*), sum(n) FROM (SELECT s, k, o, count(*) AS n FROM grown JOIN ways ON o = w GROUP BY s, k, o OFFSET 0) x;
SELECT builds_shared - :shared AS kept FROM gpuconc_stat_sharing \gset
SELECT retries - :before AS one_more, retries AS before FROM gpuconc_stat \gset
-- Groups by more than the key that they are joined by: it is taken to repeat.
SELECT count(*), sum(n) FROM shop JOIN (SELECT s, k, count(*) AS n FROM grown GROUP BY s, k OFFSET 0) x ON k = s_id;
SELECT retries - :before AS repeated, retries AS before FROM gpuconc_stat \gset
\c -
SET gpuconc.enabled = on;
SET gpuconc.offload_cost = 0;
SET gpuconc.debug_offload = require;
SELECT count(*), sum(n) FROM (SELECT s, k, o, count(*) AS n FROM grown GROUP BY s, k, o OFFSET 0) x;
SELECT :'learnt' AS learnt, :together AS together, :with_room AS with_room, :kept AS kept, :one_more AS one_more, :repeated AS repeated, retries - :before AS learnt_again FROM gpuconc_stat;
-- What had room keeps it: groups that rest on nothing that was short, and those of which too many come first.
CREATE TABLE public.pairs AS SELECT i / 2 AS w FROM generate_series(0, 599) AS i;
SELECT settle();
VACUUM ANALYZE public.pairs;
CREATE FUNCTION public.room_of_groups(query text) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE j jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO j;
	RETURN QUERY SELECT r::bigint FROM jsonb_path_query(j, 'strict $.**.Pipelines[*]."Group Table Size"') AS r;
END $$;
\set often 'k % 7 < 7 AND k % 5 < 5 AND o % 7 < 7 AND o % 5 < 5'
\set few '(SELECT s, k, o, count(*) AS n FROM grown WHERE k < 200 AND ' :often ' GROUP BY s, k, o OFFSET 0)'
\set subset 'SELECT count(*), sum(y.n) FROM (SELECT s, k, o, count(*) AS m FROM grown WHERE o IN (SELECT w FROM ways) GROUP BY s, k, o OFFSET 0) x LEFT JOIN ' :few ' y USING (s, k, o)'
\set apart 'SELECT count(*), sum(y.n), sum(z.n) FROM grown LEFT JOIN (SELECT s, k, o, count(*) AS n FROM grown GROUP BY s, k, o OFFSET 0) y USING (s, k, o) LEFT JOIN ' :few ' z USING (s, k, o)'
\set first 'SELECT s, k, o, sum(k) FROM grown JOIN pairs ON o = w WHERE ' :often ' GROUP BY s, k, o ORDER BY '
:subset;
:apart;
SELECT retries AS before FROM gpuconc_stat \gset
SELECT count(*) FROM room_of_groups(:'subset') AS room WHERE room BETWEEN 2 AND 100000;
SELECT count(*) FROM room_of_groups(:'apart') AS room WHERE room BETWEEN 2 AND 100000;
SELECT room_of_groups(:'first' || 'count(*) LIMIT 10') = room_of_groups(:'first' || 'sum(k * 10000 + o) LIMIT 10') AS kept;
SELECT retries - :before AS retries FROM gpuconc_stat;
RESET gpuconc.debug_offload;
:subset;
:apart;
DROP FUNCTION public.room_of_groups(text);
DROP TABLE public.grown, public.ways, public.pairs;
