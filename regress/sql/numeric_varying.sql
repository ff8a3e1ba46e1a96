-- Numerics as they were written, without a scale of their type: values of several display scales, in one chunk and in several.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE public.written (id int, g int, n numeric, same numeric, fixed numeric(10,2), doc jsonb) WITH (autovacuum_enabled = off);
INSERT INTO public.written
SELECT i, i % 7, CASE WHEN i % 11 = 0 THEN NULL WHEN i % 13 = 0 THEN (i % 3)::numeric(6,3) - 1 ELSE (CASE i % 4 WHEN 0 THEN (i % 500)::numeric WHEN 1 THEN (i % 900 / 10.0)::numeric(8,1) WHEN 2 THEN -(i % 700 / 100.0)::numeric(8,2) ELSE (i % 90)::numeric(8,4) END) END,
	CASE WHEN i % 5 <> 0 THEN (i % 40 * 0.25)::numeric(8,2)::text::numeric END, (i % 300 - 150) * 1.25, CASE WHEN i % 9 <> 0 THEN jsonb_build_object('p', CASE i % 3 WHEN 0 THEN (i % 60)::numeric WHEN 1 THEN (i % 60 / 10.0)::numeric(6,1) ELSE (i % 60 / 1000.0)::numeric(6,3) END) END
FROM generate_series(1, 6000) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) public.written;
SELECT count(*), sum(n), sum(same) FROM written;
SELECT column_name, encoding, problem FROM gpuconc_cache WHERE relid = 'public.written'::regclass AND column_name IN ('n', 'same') ORDER BY 1;
-- aggregates, with and without groups, NULLs and FILTER; of expressions
SELECT check_same(format('SELECT %s FROM written', a), '{public}') FROM unnest(ARRAY['count(n), sum(n), avg(n), min(n), max(n)', 'sum(n + same), sum(n * fixed), sum(-n), sum(abs(n)), avg(n - 1.50)', 'sum(n) FILTER (WHERE g = 3), avg(n) FILTER (WHERE n > 2.5), count(*) FILTER (WHERE n IN (1, 2.00, -0.5))', 'sum(round(n)), sum(round(n, 1)), sum(trunc(n, 2)), sum(ceil(n)), sum(floor(n)), sum(n % 7), sum(sign(n))',
	'sum(n::numeric(12,1)), sum(n::int), sum(n::bigint), max(n::float8)', 'sum(n / 4), sum(n / nullif(same, 0)), avg(round(n / 3, 2)), sum(same / 3)', 'var_pop(n), var_samp(n), stddev(n), stddev_pop(same)', 'sum(CASE WHEN g = 1 THEN n ELSE 0 END), sum(coalesce(n, 0.00000)), sum(greatest(n, same, 1.5)), sum(least(n, fixed))', 'sum(n) FILTER (WHERE id < 0), avg(n) FILTER (WHERE id < 0), min(n) FILTER (WHERE id < 0)']) AS a;
SELECT check_same(format('SELECT g, %s FROM written GROUP BY g', a), '{public}') FROM unnest(ARRAY['sum(n), avg(n), count(n)', 'sum(n * 2) FILTER (WHERE id % 4 = 0), sum(n) FILTER (WHERE id % 4 = 1)', 'sum(n / 8), var_samp(n)']) AS a;
SELECT check_same(format('SELECT id %% 1000, %s FROM written GROUP BY 1', a), '{public}') FROM unnest(ARRAY['sum(n), avg(n)', 'sum(CASE WHEN g < 3 THEN n END)']) AS a;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT g, sum(n) FROM written GROUP BY ROLLUP (g)', 'SELECT g, id % 2, avg(n), max(fixed) FROM written GROUP BY CUBE (g, 2)', 'SELECT g FROM written GROUP BY g HAVING sum(n) > 100.5', 'SELECT g, sum(n) FROM written GROUP BY g ORDER BY 2 DESC, 1 LIMIT 3', 'SELECT g, s FROM (SELECT g, sum(fixed) AS s FROM written WHERE n > 0.5 GROUP BY g) t WHERE s > 0']) AS q;
-- conditions
SELECT check_same(format('SELECT count(*), count(*) FILTER (WHERE %s) FROM written WHERE %1$s', c), '{public}') FROM unnest(ARRAY['n > 10', 'n = 2', 'n = 2.000', 'n <> 0.5', 'n BETWEEN -1.255 AND 1.00000001', 'n < 1e-20', 'n > 1e30', 'n IN (1, 1.5, 2.000)', 'n NOT IN (0, NULL)', 'n = fixed', 'n < same', 'n IS DISTINCT FROM same', 'n IS NULL', 'n * 2 = fixed', 'n + 0.001 > 5']) AS c;
-- rows
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT id, n, n * 2, n + 1.000, -n, same FROM written WHERE id % 10 = 3', 'SELECT id, n / 3, same / 7, fixed / nullif(n, 0) FROM written WHERE g = 2', 'SELECT id, n FROM written ORDER BY n DESC NULLS LAST, id LIMIT 12', 'SELECT id, n FROM written ORDER BY n, id LIMIT 12', 'SELECT id, coalesce(n, same, 0), CASE WHEN g > 3 THEN n ELSE fixed END, greatest(n, 2.50) FROM written WHERE id < 500', 'SELECT round(n, 1), trunc(n), abs(n) FROM written WHERE id BETWEEN 100 AND 900']) AS q;
-- as payloads of joins
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT count(*), sum(b.n), sum(a.n + b.n) FROM written a JOIN written b ON a.id = b.id + 1', 'SELECT a.g, sum(b.n), avg(b.n), min(b.fixed) FROM written a LEFT JOIN written b ON a.id = b.id + 3000 GROUP BY a.g', 'SELECT a.id, b.n FROM written a FULL JOIN written b ON a.id = b.id + 5900 WHERE coalesce(a.id, 1) < 200 OR b.id > 5990', 'SELECT sum(a.n) FROM written a WHERE EXISTS (SELECT FROM written b WHERE b.id = a.id * 2 AND b.n > a.n)', 'SELECT sum(coalesce(b.n, -1.5)), sum(b.n / 2) FROM written a LEFT JOIN written b ON b.id = a.id AND b.n > 1']) AS q;
-- the least and the greatest, and groups: of equal values of several scales, PostgreSQL returns the one that comes in its way
CREATE TABLE public.ties (id int, k int, n numeric) WITH (autovacuum_enabled = off);
INSERT INTO public.ties SELECT i, i % 3, CASE WHEN i % 3 = 0 THEN 1.5 + (i % 4) ELSE ('{1,2.5,3.75,10.125}'::numeric[])[i % 4 + 1] END FROM generate_series(1, 400) AS i;
VACUUM (FREEZE, ANALYZE) public.ties;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT min(n), max(n) FROM ties', 'SELECT k, min(n), max(n), min(-n), max(n + 1) FROM ties GROUP BY k', 'SELECT n, count(*), sum(k) FROM ties WHERE k > 0 GROUP BY n', 'SELECT DISTINCT n FROM ties WHERE k > 0', 'SELECT n, k, count(*) FROM ties WHERE k > 0 GROUP BY ROLLUP (n, k)', 'SELECT n, sum(id) FROM ties WHERE k > 0 GROUP BY n ORDER BY n DESC LIMIT 2', 'SELECT k FROM ties GROUP BY k HAVING min(n) < 1.2 AND max(n) = 10.1250']) AS q;
INSERT INTO public.ties VALUES (401, 1, 1.00), (402, 2, 10.1250);
VACUUM (FREEZE, ANALYZE) public.ties;
SET gpuconc.debug_offload = prefer;
SELECT min(n), max(n) FROM ties;
SELECT n, count(*) FROM ties WHERE k > 0 GROUP BY n ORDER BY n;
SELECT n, count(*) FROM ties WHERE k > 0 GROUP BY ROLLUP (n) ORDER BY n;
RESET gpuconc.debug_offload;
-- one scale more in rows that are written, seen by their transaction alone, then by all, then cached
BEGIN;
UPDATE public.written SET n = n + 0.000001 WHERE id % 100 = 1;
INSERT INTO public.written SELECT 6000 + i, 1, (i / 8.0)::numeric(9,3), (i / 8.0)::numeric(9,5), 1, jsonb_build_object('p', (i / 64.0)::numeric(9,6)) FROM generate_series(1, 50) AS i;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT g, sum(n), avg(n), sum(same) FROM written GROUP BY g', 'SELECT id, n, same FROM written ORDER BY n DESC NULLS LAST, id LIMIT 9', 'SELECT count(*) FROM written WHERE n > 0.5 AND same > 0.3', 'SELECT sum(b.n) FROM written a JOIN written b ON a.id = b.id + 1', 'SELECT sum((doc->>''p'')::numeric) FROM written']) AS q;
COMMIT;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT g, sum(n), avg(n), sum(same) FROM written GROUP BY g', 'SELECT count(*) FROM written WHERE n > 0.5 AND same > 0.3', 'SELECT sum((doc->>''p'')::numeric) FROM written']) AS q;
VACUUM (FREEZE, ANALYZE) public.written;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT g, sum(n), avg(n), sum(same) FROM written GROUP BY g', 'SELECT count(*) FROM written WHERE n > 0.5 AND same > 0.3', 'SELECT id, n, same FROM written ORDER BY n DESC NULLS LAST, id LIMIT 9']) AS q;
-- hot pages are copied, from beside one that had another scale and has it no more: there is one scale then
CREATE TABLE public.hot (id int, n numeric) WITH (autovacuum_enabled = off, fillfactor = 50);
INSERT INTO public.hot SELECT i, (i % 100)::numeric(9,2) FROM generate_series(1, 20000) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) public.hot;
SET gpuconc.debug_hot_pages = 1;
UPDATE public.hot SET n = 5.55 WHERE id = 3;
UPDATE public.hot SET n = 7.777 WHERE id = 15000;
SELECT gpuconc_prewarm('hot') > 0 AS loaded, check_same('SELECT sum(n), max(n) FILTER (WHERE id = 3) FROM hot', '{public}');
UPDATE public.hot SET n = 7.77 WHERE id = 15000;
SELECT settle();
SELECT gpuconc_prewarm('hot') > 0 AS loaded, check_same(q, '{public}') FROM unnest(ARRAY['SELECT sum(n), max(n) FILTER (WHERE id = 3) FROM hot', 'SELECT id, n FROM hot WHERE n > 5.5 AND id < 10', 'SELECT n, count(*) FROM hot GROUP BY n']) AS q;
UPDATE public.hot SET n = NULL WHERE id IN (3, 15000);
SELECT check_same('SELECT sum(n), count(n) FROM hot', '{public}');
RESET gpuconc.debug_hot_pages;
DROP TABLE public.hot;
-- results of expressions: fields of documents
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT sum((doc->>''p'')::numeric), avg((doc->>''p'')::numeric), min((doc->>''p'')::numeric + id) FROM written WHERE id <= 6000', 'SELECT g, sum((doc->>''p'')::numeric * fixed) FROM written GROUP BY g', 'SELECT id, (doc->>''p'')::numeric FROM written WHERE (doc->>''p'')::numeric > 5.5', 'SELECT count(*) FROM written WHERE (doc->>''p'')::numeric IN (1, 0.5, 0.033)', 'SELECT sum((b.doc->>''p'')::numeric) FROM written a JOIN written b ON a.id = b.id + 1']) AS q;
-- tables of one scale each, read as one
CREATE TABLE public.apart (id int, n numeric) PARTITION BY RANGE (id);
CREATE TABLE public.apart_1 PARTITION OF public.apart FOR VALUES FROM (0) TO (1000) WITH (autovacuum_enabled = off);
CREATE TABLE public.apart_2 PARTITION OF public.apart FOR VALUES FROM (1000) TO (2000) WITH (autovacuum_enabled = off);
CREATE TABLE public.apart_3 PARTITION OF public.apart FOR VALUES FROM (2000) TO (3000) WITH (autovacuum_enabled = off);
INSERT INTO public.apart SELECT i, CASE WHEN i < 1000 THEN i % 17 WHEN i < 2000 THEN (i % 17 * 0.5)::numeric(6,1) END FROM generate_series(0, 2999) AS i;
VACUUM (FREEZE, ANALYZE) public.apart;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT count(n), sum(n), avg(n) FROM apart', 'SELECT id / 500, sum(n), max(id) FROM apart GROUP BY 1', 'SELECT count(*) FROM apart WHERE n = 3']) AS q;
-- arms of different scales
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT id, n FROM written WHERE id < 300 UNION ALL SELECT id, fixed FROM written WHERE id < 200', 'SELECT sum(v), avg(v), min(v), max(v) FROM (SELECT n AS v FROM written UNION ALL SELECT fixed FROM written UNION ALL SELECT same FROM written WHERE id < 100) u', 'SELECT v * 2, g FROM (SELECT fixed AS v, g FROM written UNION ALL SELECT n, 1 FROM written WHERE g = 2) u WHERE v > 100']) AS q;
-- too many digits for that: PostgreSQL's plan
CREATE TABLE public.too_long (n numeric) WITH (autovacuum_enabled = off);
INSERT INTO public.too_long VALUES (1), (0.00000000000000000001), (123456789012345678);
VACUUM (FREEZE, ANALYZE) public.too_long;
SELECT sum(n) FROM too_long;
SELECT problem FROM gpuconc_cache WHERE relid = 'public.too_long'::regclass;
TRUNCATE public.too_long;
INSERT INTO public.too_long VALUES (1), (12345678901234567890123), (0.12345678901234567);
VACUUM (FREEZE, ANALYZE) public.too_long;
SELECT sum(n) FROM too_long;
SELECT problem FROM gpuconc_cache WHERE relid = 'public.too_long'::regclass;
-- PostgreSQL's long format: a scale above 63, or a weight above 63 digits
CREATE TABLE public.long_format AS SELECT i AS id, CASE WHEN i % 9 = 3 THEN ('0.' || repeat('0', 70))::numeric ELSE i / 8.0 END AS zero, CASE WHEN i % 9 = 3 THEN ('-0.' || repeat('0', 69) || '1')::numeric ELSE i END AS tiny, CASE WHEN i % 9 = 3 THEN 10::numeric ^ 300 ELSE i END AS large FROM generate_series(1, 2000) AS i;
VACUUM ANALYZE public.long_format;
SELECT q, check_here(q) FROM unnest(ARRAY['SELECT count(*), sum(zero) FROM long_format', 'SELECT zero FROM long_format WHERE zero < 9', 'SELECT id FROM long_format WHERE tiny < 9', 'SELECT count(*), max(large) FROM long_format']) AS q;
DROP TABLE public.long_format;
DROP TABLE public.written, public.ties, public.apart, public.too_long;
