-- Comparisons of intervals that are added up, negated, or multiplied by a constant.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE public.span_rows WITH (autovacuum_enabled = off) AS
SELECT i AS id, i % 7 AS g, CASE WHEN i % 11 > 0 THEN justify_hours((i % 50 - 25) * interval '5 hours 7.25 seconds') END AS a, justify_hours((i % 90 - 30) * interval '40 minutes') AS b,
	timestamp '2020-01-31' + i * interval '7 hours' AS t, timestamp '2019-02-28 12:00' + i % 900 * interval '1 day' AS u
FROM generate_series(1, 4000) AS i;
VACUUM (FREEZE, ANALYZE) public.span_rows;
SELECT q, check_same('SELECT count(*), sum(id) FROM span_rows WHERE ' || q, '{public}') FROM unnest(ARRAY['a + b > interval ''1 day''', 'a - b <= b', '-a < b', 'a * 2 = b + a', '2 * a > b * -3', 'a + interval ''1 month'' > interval ''30 days''', 'a - interval ''1 mon -3 days 100 hours'' BETWEEN interval ''-40 days'' AND b', 'age(t, u) + a > interval ''1 year''', 'age(t, u) * 2 - b > interval ''2 years 10 days''', '-(a + b) IS DISTINCT FROM b - a', '(t - u) + a > interval ''100 days''', '(t - u) * 3 > interval ''1000 days'' - b', '(a + b, g) > (interval ''3 hours'', 2)', 'a * 100000 > interval ''900000 days''', 'CASE WHEN a + a >= b THEN g > 3 ELSE b + a < a END']) AS q;
SELECT check_same('SELECT g, count(*) FILTER (WHERE a + b > interval ''1 day''), sum(CASE WHEN a * 2 > b THEN 1 ELSE 0 END), max(a) FROM span_rows GROUP BY g', '{public}'), check_same('SELECT p.id, q.id FROM span_rows p JOIN span_rows q ON p.id = q.id + 1 WHERE p.a + q.b > q.a * 2 + interval ''1 day''', '{public}');
-- what leaves 64 bits, PostgreSQL compares
SELECT check_error('SELECT count(*) FROM span_rows WHERE a + interval ''290000 years'' + interval ''290000 years'' > b', '{public}');
-- as values, intervals are spelled in many ways, and floats round them
SELECT q, refusal('SELECT count(*) FROM public.span_rows WHERE ' || q) FROM unnest(ARRAY['a * 1.5 > b', 'a / 2 > b', '(a + b) * 2 > b', 'a * g > b', 'a * 100001 > b']) AS q;
SELECT refusal('SELECT max(a + b) FROM public.span_rows'), refusal('SELECT age(t, u), count(*) FROM public.span_rows GROUP BY 1');
-- sums and averages: days and times apart, as PostgreSQL adds them up
SELECT q, check_same(q, '{public}') FROM unnest(ARRAY['SELECT sum(a), avg(a), sum(b), avg(t - u), count(*) FROM span_rows', 'SELECT g, sum(t - u), avg(a), max(a), avg(b) FILTER (WHERE id % 3 = 0) FROM span_rows GROUP BY g', 'SELECT g, avg(t - u), count(DISTINCT b), sum(b) FROM span_rows GROUP BY g', 'SELECT sum(a), avg(a) FROM span_rows WHERE id < 0', 'SELECT g, id % 2, avg(a) FROM span_rows GROUP BY ROLLUP (g, id % 2)', 'SELECT g, sum(b) FROM span_rows GROUP BY g ORDER BY sum(b) DESC LIMIT 3', 'SELECT g FROM span_rows GROUP BY g HAVING avg(b) > interval ''9 hours''',
	'SELECT avg(DISTINCT a), sum(DISTINCT b), sum(a) FROM span_rows', 'SELECT sum(CASE WHEN g < 3 THEN a END), sum(interval ''1 day 2 hours'') FROM span_rows', 'SELECT p.g, avg(q.b) FROM span_rows p JOIN span_rows q ON p.id = q.id + 1 GROUP BY 1', 'SELECT max(s), count(*) FROM (SELECT g, sum(b) AS s FROM span_rows GROUP BY g) x']) AS q;
CREATE TABLE public.long_spans WITH (autovacuum_enabled = off) AS SELECT i AS id, i % 2 * 200000000 * interval '1 day' - interval '100000000 days' AS a, i % 3 * interval '50000000 days' AS b FROM generate_series(0, 50) AS i;
VACUUM (FREEZE, ANALYZE) public.long_spans;
SELECT check_same('SELECT id % 9, sum(a), avg(a) FROM public.long_spans GROUP BY 1', '{public}'), check_same('SELECT sum(a) FROM public.long_spans', '{public}'), check_error('SELECT avg(b) FROM public.long_spans', '{public}');
DROP TABLE public.span_rows, public.long_spans;
