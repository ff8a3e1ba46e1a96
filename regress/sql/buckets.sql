-- width_bucket() of floats, and other functions of floats where they meet NaN and infinity.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- where the quotient is rounded, in both directions, by group and in a join; and what lies outside of the bounds
SELECT q, check_same(q) FROM unnest(ARRAY[
	'SELECT width_bucket(id / 7.0::float8, 0, 49, 49) AS b, count(*), min(id) FROM types GROUP BY 1', 'SELECT width_bucket(id::float8, 0, 49, 49) AS b, width_bucket(id::float8, 49, 0, 49) AS c, count(*) FROM types GROUP BY 1, 2', 'SELECT width_bucket(f8, -3, 9.25, 17) AS b, count(*) FROM types GROUP BY 1', 'SELECT id, width_bucket(f8, -1e-300, 1e300, 2147483646) FROM types', 'SELECT id, width_bucket(f8, 1e300, -1e300, 1000) FROM types WHERE width_bucket(f8, 10.5, -0.1, 3) <> 2',
	'SELECT id, width_bucket(f8, i4, i4 + 10, nn + 1) FROM types WHERE nn IS NOT NULL', 'SELECT id, width_bucket(f4, nn, f8 + 1000, 12) FROM types', 'SELECT nn, width_bucket(weight, 0, 20, 10) AS b, sum(quantity) FROM sales, types t WHERE shop = t.id GROUP BY 1, 2', 'SELECT width_bucket(sqrt((p.id - q.id) * (p.id - q.id)::float8 + p.nn), 0, 100, 50) AS b, count(*) FROM types p, types q WHERE p.id < q.id AND q.id < 300 GROUP BY 1'
]) AS q;
-- an operand may be infinite; NULLs
CREATE TABLE public.operands AS SELECT i AS id, (ARRAY['NaN', '-Infinity', 'Infinity', '0', '-0', '1e308', '-1e308', '5e-324', '-5e-324', NULL, '1'])[1 + i % 11]::float8 AS x FROM generate_series(1, 110) i;
VACUUM public.operands;
SELECT q, check_same(q, '{public}') FROM unnest(ARRAY['SELECT id, width_bucket(x, 0, 1, 5) FROM operands WHERE x <> ''NaN'' OR x IS NULL', 'SELECT id, width_bucket(x, 1, 0, 5) FROM operands WHERE x <> ''NaN'' OR x IS NULL', 'SELECT id, width_bucket(3, x, 7, id) FROM operands WHERE x = 0 OR x = 1 OR x IS NULL', 'SELECT id, width_bucket(x, 1e308, 1.5e308, 3) FROM operands WHERE x <> ''NaN''']) AS q;
-- PostgreSQL raises errors for these, or they are left to it: NaN, bounds that are infinite or equal, no buckets, too
-- many, a distance that is infinite
SELECT q, check_error(q) FROM unnest(ARRAY[
	'SELECT count(width_bucket(x, 0, 1, 5)) FROM public.operands', 'SELECT count(width_bucket(1, x, 5, 5)) FROM public.operands WHERE x = ''NaN''', 'SELECT count(width_bucket(1, 5, x, 5)) FROM public.operands WHERE x = ''NaN''', 'SELECT count(width_bucket(1, x, 5, 5)) FROM public.operands WHERE x = ''Infinity''', 'SELECT count(width_bucket(1, 5, x, 5)) FROM public.operands WHERE x = ''-Infinity''',
	'SELECT count(width_bucket(x, x, 1, 5)) FROM public.operands WHERE x = 1', 'SELECT count(width_bucket(x, 0, 1, id - 3)) FROM public.operands WHERE x = 0', 'SELECT count(width_bucket(x, 0, 1, id - 11)) FROM public.operands WHERE x = 1e308', 'SELECT count(width_bucket(x, 0, 1, 2147483647)) FROM public.operands WHERE x = 1e308', 'SELECT count(sqrt(x)) FROM public.operands', 'SELECT sum(x * 10) FROM public.operands WHERE x = 1e308'
]) AS q;
SELECT check_same('SELECT id, width_bucket(x, -1e308, 1e308, 5) FROM operands WHERE x = 1', '{public}');
-- no error where another condition removes the row
SELECT check_same('SELECT count(width_bucket(x, 0, 1, 5)), count(sqrt(x)) FROM operands WHERE CASE WHEN x <> ''NaN'' AND x >= 0 THEN sqrt(x) + width_bucket(x, 0, 1, 5) > 1 END', '{public}');
SELECT q, check_same(q, '{public}') FROM unnest(ARRAY['SELECT id, floor(x), ceil(x), ceiling(x), abs(x), sign(x), round(x), trunc(x), -x FROM operands', 'SELECT id, sqrt(x), |/ x FROM operands WHERE x >= 0', 'SELECT floor(x), sign(x), count(*) FROM operands GROUP BY 1, 2']) AS q;
-- left to PostgreSQL: their last digits are a library's
SET gpuconc.debug_offload = require;
SELECT sum(exp(x)) FROM public.operands;
SELECT sum(ln(x)) FROM public.operands;
SELECT sum(power(x, 2)) FROM public.operands;
SELECT sum(x ^ 2) FROM public.operands;
SELECT sum(cbrt(x)) FROM public.operands;
RESET gpuconc.debug_offload;
-- of a column of few values PostgreSQL computes it once for each
SELECT check_error('SELECT sum(power(nn, 400)) FROM types');
-- of others PostgreSQL answers, or raises the error of an overflow, an underflow, a root of what is negative
SELECT x, power(x, 2) AS square, x ^ 3 AS cube FROM (SELECT DISTINCT x FROM public.operands WHERE abs(x) NOT IN (1e308, 5e-324) AND id % 11 <> 4 OR x IS NULL) q ORDER BY x;
SELECT count(*), sum(power(nn, 2)) = sum(nn::bigint * nn) AS same FROM cached.types;
SELECT sum(power(nn, 400)) FROM cached.types;
SELECT sum(power(x, 2)) FROM public.operands WHERE x = 1e308;
SELECT sum(power(x, 2)) FROM public.operands WHERE x = 5e-324;
SELECT sum(x ^ -2) FROM public.operands WHERE x = 0;
SELECT sum(power(x, 0.5)) FROM public.operands WHERE x = -1e308;
SELECT sum(exp(x)) FROM public.operands WHERE x = 1e308;
SELECT sum(ln(x)) FROM public.operands WHERE x = 0;
DROP TABLE public.operands;
