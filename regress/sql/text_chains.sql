-- Three and more texts that are concatenated, by tables of what two are made of.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE public.names WITH (autovacuum_enabled = off) AS
SELECT i AS id, i % 7 AS g, nullif('a' || i % 17, 'a5') AS a, (CASE i % 13 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'é–' ELSE upper('b' || i % 13) END)::varchar(20) AS b, CASE i % 3 WHEN 0 THEN 'a7' WHEN 1 THEN 'x y' END AS u, 'v' || i AS big, 'same' AS one, NULL::text AS none
FROM generate_series(1, 3000) AS i;
CREATE TABLE public.others WITH (autovacuum_enabled = off) AS SELECT 'a' || i AS k, 'o' || i % 3 AS t FROM generate_series(0, 12) AS i;
VACUUM (FREEZE, ANALYZE) public.names, public.others;
SELECT q, check_same(q, '{public}') AS first, check_same(q, '{public}') AS again FROM unnest(ARRAY['SELECT a || ''-'' || b || u, count(*) FROM names GROUP BY 1', 'SELECT u || ''/'' || one || ''/'' || coalesce(a, ''?'') || ''!'', count(*), min(id) FROM names GROUP BY 1', 'SELECT concat(u, ''-'', a, one, none), count(*) FROM names GROUP BY 1', 'SELECT id, ''<'' || (one || u || a) || ''>'', a || u FROM names WHERE one || u || a > ''samex''', 'SELECT id, upper(u) || a || one FROM names WHERE id < 60', 'SELECT a || u, u || one, a || u || one, upper(a || u), count(*) FROM names GROUP BY 1, 2, 3, 4',
	'SELECT u || a || one || none, count(*) FROM names GROUP BY 1', 'SELECT u || one || o.t || n.a, count(*) FROM names n LEFT JOIN others o ON n.a = o.k GROUP BY 1', 'SELECT count(*) FROM names WHERE u || a || one LIKE ''a7a1%'' AND g < 4', 'SELECT g, max(x), count(DISTINCT x) FROM (SELECT g, u || one || a AS x FROM names) q GROUP BY g', 'SELECT concat(one, concat(a, u)) || b FROM names WHERE id % 9 = 1', 'SELECT a || b || u || one, count(*) FROM names GROUP BY 1', 'SELECT count(*) FROM names WHERE a || b || u = ''a3B6x y'' OR one || b || u <> ''samea7''', 'SELECT a || u || b, count(*) FROM names GROUP BY 1', 'SELECT concat(one, a, b), u || one || b || a, count(*) FROM names WHERE u || a || b > ''a7a1B'' GROUP BY 1, 2']) AS q;
-- integers, booleans and enums among them
CREATE TYPE public.tone AS ENUM ('low', 'mid');
CREATE DOMAIN public.step AS int2;
ALTER TABLE public.names ADD e public.tone, ADD d public.step, ADD f bool;
UPDATE public.names SET e = (ARRAY['mid', NULL, 'low']::public.tone[])[1 + id % 3], d = nullif(id % 5 - 2, 1), f = id % 4 > 0;
VACUUM (FULL, FREEZE, ANALYZE) public.names;
SELECT q, check_same(q, '{public}') FROM unnest(ARRAY['SELECT a || ''-'' || g, count(*) FROM names GROUP BY 1', 'SELECT g || ''/'' || d, count(*) FROM names GROUP BY 1', 'SELECT concat(a, g, NULL, d), count(*) FROM names GROUP BY 1', 'SELECT concat(d, e, u), count(*) FROM names GROUP BY 1', 'SELECT upper(a) || d || u, count(*) FROM names WHERE g < 5 GROUP BY 1', 'SELECT b || e::text, min(b || d), count(DISTINCT a || g) FROM names GROUP BY 1', 'SELECT a || f::text, count(*) FROM names GROUP BY 1', 'SELECT count(*) FROM names WHERE a || g = ''a33'' OR d || u LIKE ''-1a%''', 'SELECT coalesce(a || d, ''none''), count(*) FROM names GROUP BY 1']) AS q;
-- a label that is renamed, which changes no value
SELECT check_same('SELECT concat(e, ''!'', a), count(*) FROM names GROUP BY 1', '{public}') AS before;
ALTER TYPE public.tone RENAME VALUE 'mid' TO 'middle';
SELECT check_same(q, '{public}') AS after FROM unnest(ARRAY['SELECT concat(e, ''!'', a), count(*) FROM names GROUP BY 1', 'SELECT concat(''<'', e), count(*) FROM names GROUP BY 1', 'SELECT e::text, count(*) FROM names GROUP BY 1']) AS q;
-- texts that only the delta has, and then the dictionary
UPDATE public.names SET u = 'new', b = b || '!', g = g + 900 WHERE id % 50 = 1;
SELECT check_same('SELECT a || ''-'' || b || u, count(*) FROM names GROUP BY 1', '{public}'), check_same('SELECT concat(one, u, a), count(*) FROM names GROUP BY 1', '{public}'), check_same('SELECT a || g || u, count(*) FROM names GROUP BY 1', '{public}');
VACUUM public.names;
SELECT check_same('SELECT a || ''-'' || b || u, count(*) FROM names GROUP BY 1', '{public}'), check_same('SELECT concat(one, u, a), count(*) FROM names GROUP BY 1', '{public}'), check_same('SELECT a || g || u, count(*) FROM names GROUP BY 1', '{public}');
SELECT q, refusal(q) FROM unnest(ARRAY['SELECT count(big || a || u) FROM public.names', 'SELECT count(a || u || id) FROM public.names', 'SELECT count(concat_ws(''-'', a, u, one)) FROM public.names', 'SELECT count(replace(a, u, one)) FROM public.names', 'SELECT count(concat(a, u, g > 3)) FROM public.names']) AS q;
DROP TABLE public.names, public.others;
DROP TYPE public.tone;
DROP DOMAIN public.step;
