-- Numerics of more digits than 64 bits hold: quotients and averages that were stored, and values of one scale.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE public.wide (id int, g int, q numeric, a numeric, big numeric(32,2), mixed numeric) WITH (autovacuum_enabled = off);
INSERT INTO public.wide
SELECT i, i % 7, CASE WHEN i % 11 <> 0 THEN (i % 1000 - 300) / 7.0 END, CASE WHEN i % 5 = 0 THEN (i % 3)::numeric / 10 ELSE (i % 90) / 30.0 END, CASE WHEN i % 13 <> 0 THEN ((i % 500) - 250) * 1234567890123456789012.25 END,
	CASE WHEN i < 5000 THEN (i % 50)::numeric WHEN i < 9000 THEN i / 3.0 WHEN i < 9100 THEN NULL ELSE 1234567890.5 + i END
FROM generate_series(1, 12345) AS i;
CREATE TABLE public.narrow (id int, g int, n numeric, fixed numeric(8,2)) WITH (autovacuum_enabled = off);
INSERT INTO public.narrow SELECT i, i % 7, CASE WHEN i % 11 <> 0 THEN (CASE WHEN i % 2 = 0 THEN i % 40 ELSE (i % 100)::numeric / 10 END)::numeric(6,2)::text::numeric END, i % 500 * 0.25 FROM generate_series(1, 5000) AS i;
UPDATE public.narrow SET n = round(n, id % 3) WHERE id % 2 = 0;
SELECT settle();
VACUUM (FREEZE, ANALYZE) public.wide, public.narrow;
SELECT count(*), sum(q), sum(a), sum(big), sum(mixed) FROM wide;
SELECT column_name, encoding, problem FROM gpuconc_cache WHERE relid = 'public.wide'::regclass AND column_name IN ('q', 'a', 'big', 'mixed') ORDER BY 1;
-- aggregates
SELECT check_same(format('SELECT %s FROM wide', x), '{public}') FROM unnest(ARRAY['count(q), sum(q), avg(q), sum(a), avg(a), sum(big), avg(big), sum(mixed), avg(mixed)', 'sum(q + a), sum(-q), sum(abs(q)), avg(q - 1.50), sum(q * 2), sum(big * 2)', 'sum(q) FILTER (WHERE g = 3), avg(a) FILTER (WHERE q > 2.5)', 'sum(round(q, 2)), sum(trunc(q)), sum(ceil(q)), sum(floor(a)), sum(sign(q)), sum(mixed % 7)', 'sum(q::numeric(12,1)), sum(q::int), sum(round(a, 3))',
	'sum(CASE WHEN g = 1 THEN q ELSE 0 END), sum(coalesce(q, 0.0)), sum(greatest(q, a, 1.5)), sum(least(mixed, a))', 'sum(q) FILTER (WHERE id < 0), avg(big) FILTER (WHERE id < 0)', 'sum(q / 4), avg(a / 3)']) AS x;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT g, sum(q), avg(q), count(big), sum(big), avg(mixed) FROM wide GROUP BY g', 'SELECT id % 1000, sum(a), avg(q) FROM wide GROUP BY 1', 'SELECT g, sum(q) FROM wide GROUP BY ROLLUP (g)', 'SELECT g FROM wide GROUP BY g HAVING sum(a) > 100.5', 'SELECT g, sum(q) FROM wide GROUP BY g ORDER BY 2 DESC, 1 LIMIT 3']) AS q;
-- conditions
SELECT check_same(format('SELECT count(*), count(*) FILTER (WHERE %s) FROM wide WHERE %1$s', c), '{public}') FROM unnest(ARRAY['q > 10', 'q = 1', 'q = 1.000', 'q <> 2', 'q = 1 / 7.0', 'q BETWEEN -1.255 AND 1.00000001', 'a = 0.1', 'q < 1e-20', 'q > 1e30', 'a IN (0.1, 0.20, 1)', 'a NOT IN (0, NULL)', 'q = a', 'q < mixed', 'q IS DISTINCT FROM a', 'q IS NULL', 'q * 7 > 5', 'big > 0', 'big = 1234567890123456789012.25', 'big < q', 'mixed = 49', 'mixed > 1234567890', 'mixed IS NULL']) AS c;
-- rows, in an order, too
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT id, q, a, big, mixed FROM wide WHERE id % 10 = 3', 'SELECT id, q + 1, -a, q + a, abs(mixed) FROM wide WHERE g = 2', 'SELECT q FROM wide WHERE id > 12000', 'SELECT id, q FROM wide ORDER BY q DESC NULLS LAST, id LIMIT 12', 'SELECT id, a FROM wide ORDER BY a, id LIMIT 12', 'SELECT id, big FROM wide ORDER BY big, id LIMIT 9', 'SELECT id, coalesce(q, a, 0), CASE WHEN g > 3 THEN q ELSE mixed END, greatest(q, 2.50) FROM wide WHERE id BETWEEN 4800 AND 5100', 'SELECT round(q, 1), trunc(a), q * 1.5 FROM wide WHERE id BETWEEN 100 AND 900']) AS q;
-- payloads of joins, rows and groups of subqueries
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT count(*), sum(b.q), sum(a.a + b.mixed) FROM wide a JOIN wide b ON a.id = b.id + 1', 'SELECT a.g, sum(b.q), avg(b.a), count(b.big) FROM wide a LEFT JOIN wide b ON a.id = b.id + 3000 GROUP BY a.g', 'SELECT a.id, b.q, b.big FROM wide a LEFT JOIN wide b ON a.id = b.id + 12000 WHERE a.id > 11900', 'SELECT a.id, b.q FROM wide a FULL JOIN wide b ON a.id = b.id + 12300 WHERE coalesce(a.id, 1) < 200 OR b.id > 12340', 'SELECT sum(a.a) FROM wide a WHERE EXISTS (SELECT FROM wide b WHERE b.id = a.id * 2 AND b.q > a.q)', 'SELECT g, sum(s) FROM (SELECT g, id % 20 AS h, sum(q) AS s FROM wide GROUP BY 1, 2) t WHERE s > 10 GROUP BY g', 'SELECT id, q FROM wide WHERE id < 300 UNION ALL SELECT id, a FROM wide WHERE id < 200', 'SELECT sum(v), avg(v) FROM (SELECT q AS v FROM wide UNION ALL SELECT a FROM wide UNION ALL SELECT mixed FROM wide WHERE id < 100) u']) AS q;
-- sums of values of varying scale in subqueries: compared, added up, divided, returned with their scale
SELECT check_aggregated(q, '{public}') FROM unnest(ARRAY['SELECT g, s FROM (SELECT g, sum(q / 3) AS s FROM wide GROUP BY g) t WHERE s > -1000', 'SELECT a.id, s FROM wide a JOIN (SELECT g, sum(fixed / 2) AS s FROM narrow GROUP BY g) t USING (g) WHERE s > 10 AND a.id < 50', 'SELECT a.id, s FROM wide a LEFT JOIN (SELECT g, sum(n) AS s FROM narrow WHERE g > 2 GROUP BY g) t USING (g) WHERE a.id < 50', 'SELECT sum(s), max(id) FROM wide a JOIN (SELECT g, sum((fixed - 1) / 2) AS s FROM narrow GROUP BY g) t USING (g) WHERE s > 10', 'SELECT a.g, a.s + b.s, a.s FROM (SELECT g, sum(n) AS s FROM narrow GROUP BY g) a JOIN (SELECT g, sum(fixed / 2) AS s FROM narrow GROUP BY g) b USING (g) WHERE b.s > a.s', 'SELECT sum(s), avg(s) FROM (SELECT g, id % 20 AS h, sum(n) AS s FROM narrow GROUP BY 1, 2) t WHERE s > 10', 'SELECT sum(s) FROM (SELECT sum(n) AS s FROM narrow WHERE id < 0) t']) AS q;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT id, n / 3 + 1, round(n / 7, 2) FROM narrow WHERE id < 200', 'SELECT id, n / 3 FROM narrow WHERE id < 200 UNION ALL SELECT id, fixed FROM narrow WHERE id < 100', 'SELECT a.id, t.v, t.v * 2 FROM narrow a JOIN (SELECT id, n / 3 AS v FROM narrow WHERE g = 3) t ON a.id = t.id + 1', 'SELECT a.g, a.s / b.s FROM (SELECT g, sum(fixed) AS s FROM narrow GROUP BY g) a JOIN (SELECT g, sum(fixed / 2) AS s FROM narrow GROUP BY g) b USING (g) WHERE b.s > 10', 'SELECT max(s) FROM (SELECT g, sum(n / 2) AS s FROM narrow GROUP BY g) t']) AS q;
-- quotients of quotients
SELECT check_aggregated(q, '{public}') FROM unnest(ARRAY['SELECT a.g, a.s / b.s AS r FROM (SELECT g, sum(fixed / 3) AS s FROM narrow GROUP BY g) a JOIN (SELECT g, sum(fixed / 2) AS s FROM narrow GROUP BY g) b USING (g) WHERE b.s > 10', 'SELECT a.h, a.s, CASE WHEN b.s > 0 THEN a.s / b.s END > CASE WHEN a.s > 0 THEN b.s / a.s END FROM (SELECT id % 900 AS h, sum((fixed - n) / 2) AS s FROM narrow GROUP BY 1) a JOIN (SELECT id % 1000 AS h, sum(n / 2) AS s FROM narrow GROUP BY 1) b USING (h)', 'SELECT count(*), sum(n / 3 / 7) FROM narrow WHERE n / 3 / 7 < fixed / 50 / (n + 0.5)', 'SELECT g, sum(q / 3 / 2), avg(q / 3) FROM wide GROUP BY g', 'SELECT sum(10000 / (fixed + 1) / 3.000), avg(n / 7.0 / id) FROM narrow', 'SELECT count(*) FROM narrow JOIN (SELECT g, avg(fixed) AS v FROM narrow GROUP BY g) t USING (g) WHERE n / v < 0.2']) AS q;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT sum(n / (id / 7.0)) FROM narrow', 'SELECT id, n / 3 / (fixed + 1), fixed / 7 / 7 FROM narrow WHERE id < 300', 'SELECT id, n / 3 / (fixed + 1) * 2, -(fixed / 7 / 7) FROM narrow WHERE id < 300', 'SELECT id, q / a, big / 3, mixed / q FROM wide WHERE a > 0 AND q <> 0 AND id % 17 = 0', 'SELECT id, q / (a + 1) + 0.5, mixed / (q + 1000) * 2 FROM wide WHERE id % 17 = 0']) AS q;
SELECT check_error(q, '{public}') FROM unnest(ARRAY['SELECT count(*) FROM narrow WHERE n / 3 / (fixed / 2) > 1', 'SELECT a.s / b.s FROM (SELECT g, sum(fixed / 2) AS s FROM narrow GROUP BY g) a JOIN (SELECT g, sum((fixed - fixed) / 2) AS s FROM narrow GROUP BY g) b USING (g)']) AS q;
-- rows that are written, seen by their transaction alone, then by all, then cached
BEGIN;
UPDATE public.wide SET q = q + 0.000001, mixed = id / 9.0 WHERE id % 100 = 1;
INSERT INTO public.wide SELECT 20000 + i, 1, i / 11.0, NULL, i, i / 13.0 FROM generate_series(1, 50) AS i;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT g, sum(q), avg(mixed), sum(big) FROM wide GROUP BY g', 'SELECT id, q, mixed FROM wide WHERE id > 12300 OR id % 100 = 1']) AS q;
COMMIT;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT g, sum(q), avg(mixed), sum(big) FROM wide GROUP BY g', 'SELECT id, q, mixed FROM wide WHERE id > 12300 OR id % 100 = 1']) AS q;
VACUUM (FREEZE, ANALYZE) public.wide;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT g, sum(q), avg(mixed), sum(big) FROM wide GROUP BY g', 'SELECT id, q, mixed FROM wide WHERE id > 12300 OR id % 100 = 1']) AS q;
-- hot pages are copied; what made their column wide is written over
CREATE TABLE public.hot (id int, n numeric) WITH (autovacuum_enabled = off, fillfactor = 50);
INSERT INTO public.hot SELECT i, (i % 100)::numeric(9,2) FROM generate_series(1, 20000) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) public.hot;
SET gpuconc.debug_hot_pages = 1;
UPDATE public.hot SET n = 1 / 3.0 WHERE id = 3;
UPDATE public.hot SET n = 2000000000000000 / 3.0 WHERE id = 15000;
SELECT gpuconc_prewarm('hot') > 0 AS loaded, check_same(q, '{public}') FROM unnest(ARRAY['SELECT sum(n), count(n) FROM hot', 'SELECT id, n FROM hot WHERE id IN (3, 15000)']) AS q;
UPDATE public.hot SET n = 7.77 WHERE id = 15000;
UPDATE public.hot SET n = 8.88 WHERE id = 3;
SELECT settle();
SELECT gpuconc_prewarm('hot') > 0 AS loaded, check_same(q, '{public}') FROM unnest(ARRAY['SELECT sum(n), count(n) FROM hot', 'SELECT id, n FROM hot WHERE id IN (3, 15000)']) AS q;
VACUUM (FREEZE, ANALYZE) public.hot;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT sum(n), count(n), max(n) FROM hot', 'SELECT id, n FROM hot WHERE id IN (3, 15000)']) AS q;
RESET gpuconc.debug_hot_pages;
-- tables read as one, one of which has no such column's values
CREATE TABLE public.apart (id int, n numeric) PARTITION BY RANGE (id);
CREATE TABLE public.apart_1 PARTITION OF public.apart FOR VALUES FROM (0) TO (1000) WITH (autovacuum_enabled = off);
CREATE TABLE public.apart_2 PARTITION OF public.apart FOR VALUES FROM (1000) TO (2000) WITH (autovacuum_enabled = off);
CREATE TABLE public.apart_3 PARTITION OF public.apart FOR VALUES FROM (2000) TO (3000) WITH (autovacuum_enabled = off);
INSERT INTO public.apart SELECT i, CASE WHEN i < 1000 THEN i % 17 + 1000 WHEN i < 2000 THEN i / 7.0 END FROM generate_series(0, 2999) AS i;
VACUUM (FREEZE, ANALYZE) public.apart;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT count(n), sum(n), avg(n) FROM apart', 'SELECT id / 500, sum(n), max(id) FROM apart GROUP BY 1', 'SELECT count(*) FROM apart WHERE n > 143']) AS q;
-- the least and the greatest, keys, elements of a list: what has no 64 bits is PostgreSQL's
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT min(q) FROM wide', 'SELECT max(big) FROM wide', 'SELECT q, count(*) FROM wide GROUP BY q', 'SELECT big, count(*) FROM wide GROUP BY big', 'SELECT count(*) FROM wide a JOIN wide b ON a.big = b.big WHERE a.id < 500', 'SELECT count(*) FROM wide WHERE mixed IN (1234567890.5, 1)']) AS q;
-- the most digits, and more
CREATE TABLE public.most (id int, n numeric, m numeric) WITH (autovacuum_enabled = off);
INSERT INTO public.most VALUES (1, 5316911983139663491.615228241121378303, 170141183460469231731687303715884105727), (2, -5316911983139663491.615228241121378303, -170141183460469231731687303715884105727), (3, NULL, NULL), (4, 0, 0), (5, 1.50, 1), (6, 1.5, 2);
VACUUM (FREEZE, ANALYZE) public.most;
SELECT gpuconc_prewarm('most') > 0 AS loaded;
SELECT column_name, encoding, problem FROM gpuconc_cache WHERE relid = 'public.most'::regclass AND column_name IN ('n', 'm') ORDER BY 1;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT id, n, m FROM most', 'SELECT id FROM most WHERE n = 1.5', 'SELECT id FROM most WHERE m > 1', 'SELECT b.n, b.m FROM most a LEFT JOIN most b ON a.id = b.id + 1']) AS q;
CREATE TABLE public.more (a numeric, b numeric, c numeric, d numeric, e numeric) WITH (autovacuum_enabled = off);
INSERT INTO public.more VALUES (170141183460469231731687303715884105728, 'NaN', '-Infinity', 5316911983139663491615228241121378304, 0.00000000000000000000000000000001), (1, 1, 1, 1.5, 1);
VACUUM (FREEZE, ANALYZE) public.more;
SELECT gpuconc_prewarm('more') > 0 AS loaded;
SELECT column_name, problem FROM gpuconc_cache WHERE relid = 'public.more'::regclass ORDER BY 1;
-- elements of IN whose digits 128 bits do not hold, though their values are small: PostgreSQL's plan answers
CREATE TABLE public.few AS SELECT i, i % 7 AS a, i % 11 AS b, (1000000000 - i)::numeric(12,2) AS x, (1 + i % 5)::numeric(3,1) AS y, (i % 3 + 1)::numeric AS n FROM generate_series(1, 3000) AS i;
VACUUM (FREEZE, ANALYZE) public.few;
SELECT check_same(format(q, '1.' || repeat('0', 40)), '{public}') FROM unnest(ARRAY['SELECT count(*) FROM few WHERE n IN (2, %s)', 'SELECT count(*) FROM few WHERE n NOT IN (2, %s)', 'SELECT count(*) FROM few WHERE n IN (2, %s1)', 'SELECT count(*) FROM few WHERE n IN (2, 1.00000000000000000000)']) AS q;
-- sums of sets are bounded as those of the finest groups are
SELECT check_same('SELECT a, b, avg(x / y), sum(x / y), count(*) FROM few GROUP BY CUBE (a, b)', '{public}');
DROP TABLE public.wide, public.narrow, public.hot, public.apart, public.most, public.more, public.few;
