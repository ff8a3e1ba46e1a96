-- Queries that are not offloaded, and the reason that is given: by the error of require, by
-- EXPLAIN (VERBOSE), at DEBUG1.  The answer is PostgreSQL's own each time.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- the three places
SET gpuconc.debug_offload = require;
\set VERBOSITY default
SELECT random() + sum(quantity) FROM sales WHERE random() < 2;
RESET gpuconc.debug_offload;
EXPLAIN (VERBOSE, COSTS OFF) SELECT sum(price ^ 2) FROM sales;
SET client_min_messages = debug1;
SELECT sum(price ^ 2) FROM sales;
RESET client_min_messages;
\set VERBOSITY terse

-- expressions
CREATE FUNCTION public.vol(int) RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN $1; END';
CREATE FUNCTION public.imm(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 + 1; END';
CREATE FUNCTION public.two(int, text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END';
SELECT q, refusal(q) FROM unnest(ARRAY[
	'SELECT sum(vol(quantity)) FROM sales', 'SELECT count(*) FROM sales WHERE vol(quantity) = 1', 'SELECT count(*) FROM sales WHERE price < random()', 'SELECT sum(two(quantity, city)) FROM sales',
	'SELECT count(*) FROM sales WHERE ctid > ''(0,1)''', 'SELECT tableoid, count(*) FROM sales GROUP BY tableoid', 'SELECT max(xmin::text::int8) FROM sales', 'SELECT count(sales) FROM sales', 'SELECT count(*) FROM sales WHERE sales IS NOT NULL', 'SELECT count(*) FROM sales WHERE ROW(id, shop) IS NULL', 'SELECT count(*) FROM sales WHERE (id, shop) < (5, 7)',
	'SELECT count(*) FROM sales WHERE shop IN (SELECT vol(1))', 'SELECT sum((SELECT max(c_id) FROM customer WHERE c_id < sales.id)) FROM sales', 'SELECT count(*) FROM sales WHERE EXISTS (SELECT FROM customer WHERE c_id < sales.id OFFSET 0)',
	'SELECT max(ts - tz) FROM types', 'SELECT max(ts + interval ''1 day'') FROM types', 'SELECT count(*) FROM types WHERE tx = vc || nt', 'SELECT count(*) FROM types WHERE f8 = ANY (ARRAY[f4, 1])',
	'SELECT sum(i4 / n0) FROM types', 'SELECT sum(n ^ 2) FROM types', 'SELECT sum(power(f8, 2)) FROM types', 'SELECT max(i4::regclass::text) FROM types', 'SELECT max(now() - tz) FROM types', 'SELECT count(*) FROM types WHERE tz::date = ''1995-01-01'''
]) AS q;
-- levels: few enough, and too many
SELECT check_same(format('SELECT sum(%squantity%s), count(*) FROM sales', repeat('-(', 120), repeat(')', 120)));
SELECT refusal(format('SELECT count(*) FROM sales WHERE %squantity%s = 3', repeat('-(', 1500), repeat(')', 1500)));
-- types
CREATE TYPE public.mood AS ENUM ('sad', 'happy');
CREATE TYPE public.pair AS (a int, b int);
CREATE DOMAIN public.checked AS int CHECK (VALUE > 0);
CREATE TABLE public.odd (k int, m mood, p pair, u uuid, j jsonb, a int[], r int4range, i interval, t time, x bytea, c "char", nm name, mo money, o oid, ip inet, bt bit(4), chk checked, nu numeric, nv numeric, nan numeric, cc char) WITH (autovacuum_enabled = off);
INSERT INTO public.odd SELECT i, CASE WHEN i % 2 = 0 THEN 'sad' ELSE 'happy' END::mood, ROW(i, i)::pair, gen_random_uuid(), '{}', ARRAY[i], int4range(i, i + 1), '1 day', '12:00', 'x', 'c', 'n', i::text::money, i, '::1', '0101', i, i * 0.25, CASE WHEN i % 2 = 0 THEN 1.5 ELSE 1.25 END, 'NaN', 'c'
FROM generate_series(1, 100) AS i;
VACUUM (FREEZE, ANALYZE) public.odd;
SELECT c, refusal(format('SELECT count(%I) FROM odd', c)) AS read, refusal(format('SELECT sum(k) FROM odd WHERE %I IS NOT NULL', c)) AS tested FROM unnest('{m,p,u,j,a,r,i,t,x,c,nm,mo,o,ip,bt,chk,nu,nv,nan,cc}'::text[]) AS c;
-- its other columns are read all the same
SELECT check_same('SELECT sum(k), max(chk) FROM odd WHERE cc = ''c''', '{public}');

-- relations
CREATE TABLE public.part (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE public.part1 PARTITION OF public.part FOR VALUES FROM (0) TO (50);
CREATE TABLE public.part2 PARTITION OF public.part FOR VALUES FROM (50) TO (100);
INSERT INTO public.part SELECT i, i FROM generate_series(0, 99) AS i;
CREATE TABLE public.parent (k int, v int);
CREATE TABLE public.child (w int) INHERITS (public.parent);
INSERT INTO public.child SELECT i, i, i FROM generate_series(0, 99) AS i;
CREATE TEMP TABLE temporary AS SELECT i AS k, i AS v FROM generate_series(0, 99) AS i;
CREATE UNLOGGED TABLE public.unlogged AS SELECT i AS k, i AS v FROM generate_series(0, 99) AS i;
CREATE MATERIALIZED VIEW public.matview AS SELECT i AS k, i AS v FROM generate_series(0, 99) AS i;
CREATE VIEW public.plain AS SELECT k, v + 1 AS v FROM public.part1;
CREATE VIEW public.grouped AS SELECT k % 3 AS k, sum(v) AS v FROM public.part1 GROUP BY 1;
VACUUM (FREEZE, ANALYZE) public.part, public.parent, public.child, public.unlogged, public.matview;
SELECT q, refusal(q) FROM unnest(ARRAY[
	'SELECT sum(v) FROM part', 'SELECT sum(v) FROM parent', 'SELECT sum(v) FROM ONLY parent', 'SELECT sum(v) FROM child', 'SELECT sum(v) FROM part1', 'SELECT sum(v) FROM unlogged', 'SELECT sum(v) FROM matview', 'SELECT sum(v) FROM plain', 'SELECT sum(v) FROM grouped',
	'SELECT sum(v) FROM part1 TABLESAMPLE SYSTEM (100)', 'SELECT count(*) FROM pg_class', 'SELECT count(*) FROM pg_class, part1 WHERE relname = k::text', 'SELECT count(*) FROM generate_series(1, 10)', 'SELECT sum(a.v) FROM part a JOIN part1 b ON a.k = b.k', 'SELECT sum(v) FROM (SELECT * FROM part1 UNION ALL SELECT * FROM part2) q', 'SELECT sum(v) FROM (SELECT v FROM part1 LIMIT 10) q'
]) AS q;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT sum(p.v), count(*) FROM temporary p JOIN part1 b ON p.k = b.k', 'SELECT sum(v) FROM ONLY parent', 'SELECT k, sum(v) FROM child GROUP BY k', 'SELECT k, v FROM matview WHERE v > 3', 'SELECT k, v FROM plain WHERE v > 3', 'SELECT v FROM grouped WHERE k = 1',
	'SELECT b.v, sum(a.v) FROM part a JOIN part1 b ON a.k = b.k GROUP BY b.v', 'SELECT b.v, sum(a.v) FROM parent a JOIN part1 b ON a.k = b.k GROUP BY b.v', 'SELECT sum(v), count(*) FROM unlogged']) AS q;

-- joins
SELECT q, refusal(q) FROM unnest(ARRAY[
	'SELECT count(*) FROM sales LEFT JOIN customer ON customer = c_id', 'SELECT count(*) FROM sales FULL JOIN customer ON customer = c_id', 'SELECT count(c_id) FROM customer RIGHT JOIN sales ON customer = c_id', 'SELECT count(*) FROM sales WHERE customer IN (SELECT c_id + c_region FROM customer)', 'SELECT count(*) FROM sales WHERE NOT EXISTS (SELECT FROM customer WHERE c_id = customer)',
	'SELECT count(*) FROM shop, region', 'SELECT count(*) FROM shop JOIN region ON s_region < r_id', 'SELECT count(*) FROM shop JOIN region ON s_region = r_id OR s_id = r_id', 'SELECT count(*) FROM sales JOIN product ON weight = p_weight'
]) AS q;
SET join_collapse_limit = 1;
SELECT check_same('SELECT count(*) FROM sales JOIN (shop JOIN region ON s_region = r_id) ON shop = s_id');
RESET join_collapse_limit;
-- limits of a program
SELECT refusal(format('SELECT %s FROM types', string_agg(format('sum(i4 + %s), min(i4 - %s)', i, i), ', '))) FROM generate_series(1, 120) AS i;
SELECT refusal(format('SELECT %s, count(*) FROM types GROUP BY %s', string_agg(format('i4 + %s', i), ', '), string_agg(format('i4 + %s', i), ', '))) FROM generate_series(1, 20) AS i;
SELECT refusal(format('SELECT count(*) FROM types WHERE %s', string_agg(format('i4 + %s <> nn * %s', i, i), ' AND '))) FROM generate_series(1, 500) AS i;
SELECT refusal(format('SELECT count(*) FROM types WHERE %s', string_agg(format('i4 IN (%s, 2, 7)', i), ' OR '))) FROM generate_series(1, 40) AS i;
SELECT refusal(format('SELECT count(*) FROM types WHERE %s', string_agg(format('tx || %L LIKE ''%%b''', i), ' OR '))) FROM generate_series(1, 60) AS i;

-- statements
SELECT q, refusal(q) FROM unnest(ARRAY[
	'SELECT quantity FROM sales WHERE id = 5 FOR UPDATE', 'SELECT quantity FROM sales WHERE id = 5 FOR KEY SHARE', 'SELECT count(*) FROM (SELECT s_id FROM shop, region WHERE s_region = r_id FOR SHARE) q', 'SELECT generate_series(1, quantity) FROM sales WHERE id = 5', 'SELECT generate_series(1, sum(quantity) / 100000) FROM sales',
	'SELECT x, (SELECT count(*) FROM sales WHERE shop = x) FROM generate_series(1, 2) AS x FOR UPDATE', 'SELECT id FROM sales WHERE false', 'SELECT 1', 'VALUES (1)'
]) AS q;
SET gpuconc.debug_offload = require;
WITH gone AS (DELETE FROM public.part1 WHERE k = 1 RETURNING *) SELECT count(*) FROM gone;
INSERT INTO public.part1 SELECT 1, 1 FROM public.part2 HAVING count(*) > 0;
UPDATE public.part1 SET v = (SELECT max(v) FROM public.part2) WHERE k = 1;
SELECT * FROM public.part1 WHERE k = 1;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT refusal('SELECT count(*) FROM sales');
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT count(*) FROM sales;
COMMIT;
BEGIN;
CREATE TABLE public.young AS SELECT i AS k FROM generate_series(1, 1000) AS i;
SELECT refusal('SELECT count(*), sum(k) FROM public.young');
ROLLBACK;
BEGIN;
TRUNCATE public.part2;
INSERT INTO public.part2 VALUES (77, 7);
SELECT refusal('SELECT count(*), sum(v) FROM public.part2');
RESET gpuconc.debug_offload;
SELECT count(*), sum(v) FROM public.part2;
ROLLBACK;
SELECT check_same('SELECT count(*), sum(v) FROM part2', '{public}');
RESET gpuconc.debug_offload;
-- decided at execution: plans are kept
PREPARE kept AS SELECT count(*), sum(price) FROM sales;
EXECUTE kept;
SET gpuconc.enabled = off;
EXECUTE kept;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE kept;
SET gpuconc.enabled = on;
SET gpuconc.debug_offload = forbid;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE kept;
RESET gpuconc.debug_offload;
-- Under SERIALIZABLE no node is planned.  A plan that is kept is made again where the other kind of transaction executes it.
\c -
\i :setup
SET plan_cache_mode = force_generic_plan;
PREPARE kept AS SELECT count(*), sum(price) FROM sales;
BEGIN ISOLATION LEVEL SERIALIZABLE;
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*), sum(price) FROM sales;
EXPLAIN (VERBOSE, COSTS OFF) SELECT 1;
EXECUTE kept;
COMMIT;
EXECUTE kept;
EXPLAIN (COSTS OFF) EXECUTE kept;
\c -
\i :setup
SET plan_cache_mode = force_generic_plan;
PREPARE kept AS SELECT count(*), sum(price) FROM sales;
EXECUTE kept;
BEGIN ISOLATION LEVEL SERIALIZABLE;
EXECUTE kept;
EXPLAIN (COSTS OFF) EXECUTE kept;
COMMIT;
DROP FUNCTION public.vol, public.imm, public.two;
DROP TABLE public.odd, public.part, public.parent, public.child, public.unlogged CASCADE;
DROP MATERIALIZED VIEW public.matview;
DROP TYPE public.mood, public.pair;
