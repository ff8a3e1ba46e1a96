-- Floats as numerics of a constant scale, bit for bit PostgreSQL's.  Each is a sum of one row, since PostgreSQL itself
-- computes what a scan returns.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE public.reals WITH (autovacuum_enabled = off) AS
SELECT id, x, (CASE WHEN abs(x) < 1e-30 THEN 0 ELSE x END)::float4 AS y, id % 7 AS g FROM (
	SELECT i AS id, CASE WHEN i % 13 > 0 THEN (CASE i % 5 WHEN 0 THEN i / 8.0 WHEN 1 THEN -i / 7.0 WHEN 2 THEN (i % 100 + 0.5) / 100 WHEN 3 THEN 1e15 / i ELSE i * 1.005 END)::float8 END AS x FROM generate_series(1, 6000) AS i
	UNION ALL SELECT 10000 + (n + 40 * s)::int, m * power(10::float8, s) FROM generate_series(-20, 14) AS s, unnest('{1,-1,5,9.9999999999999995,4.9999999999999995,1.5,2.5,0.99999999999999989,123456.789,1234565,-9999995}'::float8[]) WITH ORDINALITY AS v(m, n)
	UNION ALL SELECT (19000 + n)::int, x FROM unnest('{100000000000000.5,-100000000000001.5,123456789012344.5,123456789012345.5,1234565,1234575,-100000.5}'::float8[]) WITH ORDINALITY AS v(x, n)
	UNION ALL SELECT 20000, 0 UNION ALL SELECT 20001, '-0' UNION ALL SELECT 20002, 5e-324 UNION ALL SELECT 20003, 0.000000000000000499999999999999999
) q;
VACUUM (FREEZE, ANALYZE) public.reals;
SELECT q, check_same(q, '{public}') FROM unnest(ARRAY['SELECT sum(x::numeric(30,3)), max(y::numeric(30,2)), count(*) FROM reals', 'SELECT sum(round(x::numeric, 2)), min(round(y::numeric, 5)), avg(round(x::numeric, 1)) FROM reals WHERE abs(x) < 1e12', 'SELECT round(x::numeric, 1), count(*) FROM reals WHERE id < 500 GROUP BY 1', 'SELECT id, sum(x::numeric(30,4)), sum(y::numeric(30,4)), sum(round(x::numeric)), sum(trunc(x::numeric, 2)), sum(trunc(y::numeric)), sum(round(y::numeric, 3)) FROM reals WHERE abs(x) < 9e14 GROUP BY id',
	'SELECT id, sum(round(x::numeric, 15)), sum(round(y::numeric, 15)), sum(trunc(x::numeric, 15)), sum(round(x::numeric, 12)), sum(trunc(y::numeric, 14)) FROM reals WHERE abs(x) < 9000 GROUP BY id', 'SELECT id, sum(round(x::numeric, 0)), sum(round(y::numeric, 0)), sum(trunc(x::numeric, 0)) FROM reals WHERE abs(x) < 9e17 GROUP BY id', 'SELECT count(*) FROM reals WHERE round(x::numeric, 2) = 0.13 OR y::numeric(30,1) BETWEEN 1.5 AND 20', 'SELECT g, sum(round((x * 1.1)::numeric, 2)) FROM reals WHERE abs(x) < 1e12 GROUP BY g', 'SELECT sum(CASE WHEN abs(x) < 1e10 THEN round(x::numeric(20,6), 2) END) FROM reals']) AS q;
-- to tens and hundreds
SELECT q, check_same(q, '{public}') FROM unnest(ARRAY['SELECT id, sum(round(x::numeric(30,4), -1)), sum(trunc(x::numeric(30,4), -2)), sum(round(y::numeric(30,2), -3)), max(round(id::numeric, -2)), sum(round((x::numeric(30,1) - 5), -9)) FROM reals WHERE abs(x) < 9e11 GROUP BY id', 'SELECT round(id::numeric(9,2) / 3, -2), count(*) FROM reals GROUP BY 1']) AS q;
-- PostgreSQL decides on values that leave 64 bits, or are not numbers.
INSERT INTO public.reals VALUES (30000, 'NaN', 'Infinity', 1), (30001, '-Infinity', 'NaN', 1), (30002, 1e18, 3e38, 2), (30003, 1.7e308, 1, 2);
VACUUM (FREEZE, ANALYZE) public.reals;
SELECT q, check_error(q, '{public}') FROM unnest(ARRAY['SELECT count(round(x::numeric, 2)) FROM public.reals WHERE id >= 30002', 'SELECT count(round(x::numeric, 15)) FROM public.reals WHERE id = 30002', 'SELECT count(*) FROM public.reals WHERE round(y::numeric, 2) > 5 AND id = 30001']) AS q;
SELECT q, check_error(q, '{public}') FROM unnest(ARRAY['SELECT count(x::numeric(5,2)) FROM reals WHERE id < 6000', 'SELECT max(y::numeric(4,0)) FROM reals']) AS q;
-- Types whose values each decide how many digits they have.
SELECT q, refusal(q) FROM unnest(ARRAY['SELECT sum(x::numeric) FROM public.reals', 'SELECT sum(round(x::numeric, 16)) FROM public.reals', 'SELECT sum(round(x::numeric, -1)) FROM public.reals', 'SELECT sum(round(x::numeric, g)) FROM public.reals', 'SELECT sum(round(x::numeric(30,4), -10)) FROM public.reals', 'SELECT sum(sqrt(x::numeric(20,2))) FROM public.reals', 'SELECT sum(power(x::numeric(20,2), 2)) FROM public.reals']) AS q;
DROP TABLE public.reals;
