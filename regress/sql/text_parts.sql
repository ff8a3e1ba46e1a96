-- Expressions of two columns of few values, one of which has integers or is computed of one column; concat_ws() of several.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TYPE public.tone AS ENUM ('low', 'mid');
CREATE TABLE public.parts WITH (autovacuum_enabled = off) AS
SELECT i AS id, nullif(i % 9, 4) - 3 AS g, (i % 4)::int2 AS s, CASE i % 6 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'é–ü' ELSE 'word ' || i % 6 END AS a, nullif('b' || i % 5, 'b3')::varchar(9) AS b, CASE i % 3 WHEN 0 THEN 'x' WHEN 1 THEN '' END AS c, (ARRAY['mid', NULL, 'low']::public.tone[])[1 + i % 3] AS e, ('p' || i % 2)::char(4) AS p, date '2021-03-01' + i % 40 AS d, timestamp '2021-03-01 10:00' + i % 5 * interval '1 day' AS t, i % 2 > 0 AS f, ('{"k": ' || i % 3 || '}')::jsonb AS j
FROM generate_series(1, 2000) AS i;
CREATE TABLE public.keys WITH (autovacuum_enabled = off) AS SELECT g, 'k' || g AS k FROM generate_series(-2, 3) AS g;
VACUUM (FREEZE, ANALYZE) public.parts, public.keys;
CREATE VIEW public.questions AS SELECT q, n FROM unnest(ARRAY[
	-- the separator stands between what is not NULL, also if that is empty
	'SELECT concat_ws(''-'', a, b, c), count(*) FROM parts GROUP BY 1',
	'SELECT concat_ws('', '', c, b, a, c), count(*) FROM parts GROUP BY 1',
	'SELECT concat_ws(''–é'', c, s, e), concat_ws('''', g, b, c, ''!''), count(*) FROM parts GROUP BY 1, 2',
	'SELECT concat_ws(''/'', ''x'', NULL, c, b, c), concat_ws(''/'', c, NULL), count(*) FROM parts GROUP BY 1, 2',
	'SELECT concat_ws(''-'', g, a), concat_ws(''-'', s, g), concat_ws(''-'', p, a), count(*) FROM parts GROUP BY 1, 2, 3',
	'SELECT id, concat_ws(''-'', a, b, c) FROM parts WHERE concat_ws(''-'', a, b, c) > ''w''',
	'SELECT count(DISTINCT concat_ws(''.'', c, b, s)), min(concat_ws(''.'', c, b, s)), max(concat_ws(''.'', c, b, s)) FROM parts',
	'SELECT upper(concat_ws(''-'', a, b)) || c, count(*) FROM parts GROUP BY 1',
	-- integers are read again
	'SELECT left(a, g), right(a, g), count(*) FROM parts GROUP BY 1, 2',
	'SELECT substr(a, g), substring(a FROM s), substr(a, g, 2), substring(b FROM g FOR 0), count(*) FROM parts GROUP BY 1, 2, 3, 4',
	'SELECT count(*), min(id) FROM parts WHERE left(a, s) = ''wo'' OR right(b, g) = ''1''',
	'SELECT upper(a || g), replace(a, ''o'', s::text), length(b || g), count(*) FROM parts GROUP BY 1, 2, 3',
	'SELECT left(p, s), left(e::text, s), count(*) FROM parts GROUP BY 1, 2',
	'SELECT k.k, left(p.a, k.g), count(*) FROM parts p LEFT JOIN keys k ON p.g = k.g GROUP BY 1, 2',
	'SELECT left(a, m), count(*) FROM (SELECT a, max(g) AS m FROM parts GROUP BY a) q GROUP BY 1',
	'SELECT g::text, left(a, g), count(*) FROM parts GROUP BY g::text, g, a',
	-- a part is any expression of one column
	'SELECT a || (g + 1)::text, count(*) FROM parts GROUP BY 1',
	'SELECT to_char(d, ''YYYY-MM'') || ''/'' || b, count(*) FROM parts GROUP BY 1',
	'SELECT b || d, count(*) FROM parts WHERE d < ''2021-03-20'' GROUP BY 1',
	'SELECT to_char(t, ''DD'') || b || g, count(*) FROM parts GROUP BY 1',
	'SELECT (j ->> ''k'') || a || extract(month FROM d)::text, count(*) FROM parts GROUP BY 1',
	'SELECT concat_ws(''-'', substring(b, 2), d::text, c), count(*) FROM parts WHERE d < ''2021-03-20'' GROUP BY 1',
	'SELECT count(*) FROM parts WHERE a || (10 / (s + 1))::text LIKE ''word%5'''
	]) WITH ORDINALITY AS u (q, n);
SELECT n, check_same(q, '{public}') FROM questions ORDER BY n;
CREATE VIEW public.others AS SELECT n, verdict FROM (SELECT n, check_same(q, '{public}') AS verdict FROM questions OFFSET 0) AS v WHERE verdict !~ '^ok, [0-9]+ rows$';
-- values that only the delta has, and then the column
UPDATE public.parts SET a = a || '!', g = g + 20, b = nullif('new', a), d = d - 9 WHERE id % 100 = 1;
SELECT * FROM others ORDER BY n;
VACUUM public.parts;
SELECT * FROM others ORDER BY n;
-- how dates are spelled is a setting, also of a plan that was made before
PREPARE spelled AS SELECT b || d AS x, count(*) FROM public.parts WHERE d < '2021-02-25' GROUP BY 1 ORDER BY 1 LIMIT 3;
SET gpuconc.debug_offload = require;
EXECUTE spelled;
SET datestyle = 'German';
EXECUTE spelled;
SET datestyle = 'ISO, YMD';
RESET gpuconc.debug_offload;
-- an error of one value that no row need have
SELECT check_same('SELECT a || (10 / s)::text, count(*) FROM parts WHERE s > 0 GROUP BY 1', '{public}');
SELECT check_error('SELECT a || (10 / s)::text, count(*) FROM parts GROUP BY 1', '{public}');
SELECT q, refusal(q) FROM unnest(ARRAY['SELECT count(left(a, id)) FROM public.parts', 'SELECT count(repeat(a, s)) FROM public.parts', 'SELECT count(concat_ws(b, a, c)) FROM public.parts', 'SELECT count(concat_ws(''-'', p, a, c)) FROM public.parts', 'SELECT count(concat_ws(''-'', a, b, f)) FROM public.parts', 'SELECT count(substr(a, g, s)) FROM public.parts']) AS q;
DROP VIEW public.others, public.questions;
DROP TABLE public.parts, public.keys;
DROP TYPE public.tone;
