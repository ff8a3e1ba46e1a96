-- Texts that are made of integers: another table's many values of the same expression make none of these too many.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE public.few WITH (autovacuum_enabled = off) AS
SELECT i AS id, i % 7 AS g, nullif('a' || i % 17, 'a5') AS a, date '2020-01-01' + i % 9 AS d, i % 5 - 2 AS s FROM generate_series(0, 2999) AS i;
CREATE TABLE public.mid WITH (autovacuum_enabled = off) AS
SELECT i AS id, i % 40 AS g, 'a' || i % 11 AS a, date '2020-01-01' + i % 30 AS d, i % 60 - 2 AS s FROM generate_series(0, 999) AS i;
CREATE TABLE public.many WITH (autovacuum_enabled = off) AS
SELECT i AS id, i AS g, 'm' || i % 3 AS a, date '2020-01-01' + i AS d, i - 2 AS s FROM generate_series(0, 39999) AS i;
VACUUM (FREEZE, ANALYZE) public.few, public.mid, public.many;
CREATE VIEW public.questions AS SELECT q, n FROM unnest(ARRAY[
	'SELECT a || g, count(*) FROM few GROUP BY 1',
	'SELECT concat(a, ''-'', g), min(id), max(id) FROM few GROUP BY 1',
	'SELECT DISTINCT a || g FROM few',
	'SELECT min(a || g), max(a || g), count(DISTINCT a || g) FROM few',
	'SELECT s, min(a || g), max(g || a) FROM few GROUP BY s ORDER BY s',
	'SELECT concat(g, a), count(*) FROM few GROUP BY 1',
	'SELECT s || a, count(*) FROM few WHERE s || a > ''1a'' GROUP BY 1',
	'SELECT a || g AS x, count(*) FROM few GROUP BY 1 ORDER BY 1 DESC LIMIT 5',
	'SELECT f.a || f.g, count(*) FROM few f JOIN mid s ON f.a || f.g = s.a || s.g GROUP BY 1',
	'SELECT f.a || f.g, s.a || s.g, count(*) FROM few f JOIN mid s ON f.id = s.id GROUP BY 1, 2',
	'SELECT count(*) FROM few f WHERE EXISTS (SELECT 1 FROM mid s WHERE s.a || s.g = f.a || f.g)',
	'SELECT x, count(*) FROM (SELECT a || g AS x FROM few UNION ALL SELECT a || g FROM mid) u GROUP BY x',
	'SELECT a || g FROM few UNION SELECT a || g FROM mid',
	'SELECT m || a, count(*) FROM (SELECT a, max(g::text) AS m FROM few GROUP BY a) q GROUP BY 1',
	'SELECT m || a, count(*) FROM (SELECT a, min(concat(g, a)) AS m FROM few GROUP BY a) q GROUP BY 1',
	'SELECT coalesce(a || g, ''none''), count(*) FROM few GROUP BY 1',
	'SELECT CASE WHEN s > 0 THEN g::text ELSE ''none'' END, count(*) FROM few GROUP BY 1 ORDER BY 1',
	'SELECT f.g::text || f.a, m.a, count(*) FROM few f JOIN many m ON f.g::text = m.g::text GROUP BY 1, 2',
	'SELECT greatest(g::text, nullif(a, ''a3'')), count(*) FROM few GROUP BY 1 ORDER BY 1',
	'SELECT max(coalesce(nullif(g::text, ''3''), ''none'')), min(coalesce(g::text, ''0none'')) FROM few',
	'SELECT s, max(CASE WHEN s > 0 THEN g::text ELSE ''5a'' END) || '':'' FROM few GROUP BY s ORDER BY s',
	'SELECT count(*) FROM few f JOIN mid m ON f.g::text = m.g::text',
	'SELECT f.g::text, count(*) FROM mid f JOIN many m ON f.g::text = m.g::text GROUP BY 1',
	'SELECT count(*) FROM mid f JOIN few m ON f.g::text = m.g::text AND f.a = m.a WHERE f.g::text < m.a'
	]) WITH ORDINALITY AS u (q, n);
SELECT n, check_same(q, '{public}') AS before FROM questions ORDER BY n;
-- as many as there may be
SELECT q, check_same(q, '{public}') AS many FROM unnest(ARRAY['SELECT g::text, count(*) FROM many GROUP BY 1', 'SELECT s::text, count(*), min(s::text) FROM many GROUP BY 1', 'SELECT max(g::text) FROM many']) AS q;
CREATE VIEW public.others AS SELECT n, verdict FROM (SELECT n, check_same(q, '{public}') AS verdict FROM questions OFFSET 0) AS v WHERE verdict !~ '^ok, [0-9]+ rows$';
SELECT * FROM others ORDER BY n;
-- a table made once is there for all, whatever part of it each has
SELECT lookups_made AS made FROM gpuconc_stat_sharing \gset
SELECT * FROM others ORDER BY n;
SELECT lookups_made - :made AS made_again FROM gpuconc_stat_sharing;
-- values that only the delta has, and then the column
INSERT INTO public.few SELECT 5000 + i, 7 + i, 'a' || i, '2020-02-01', 3 + i FROM generate_series(0, 2) AS i;
SELECT * FROM others ORDER BY n;
VACUUM public.few;
SELECT * FROM others ORDER BY n;
-- numbers that are made of integers
SELECT check_same('SELECT length(g::text), count(*) FROM few GROUP BY 1', '{public}') AS few, check_same('SELECT length(g::text), count(*) FROM many GROUP BY 1', '{public}') AS many, check_same('SELECT length(g::text), count(*) FROM few GROUP BY 1', '{public}') AS again;
-- pairs that the table's own values make too many are PostgreSQL's still
SELECT check_same('SELECT a || g, count(*) FROM many GROUP BY 1', '{public}') AS too_many;
DROP VIEW public.others;
DROP VIEW public.questions;
DROP TABLE public.few, public.mid, public.many;
-- one table's part that a session remembers is not taken for another's
CREATE TABLE public.days WITH (autovacuum_enabled = off) AS SELECT i AS id, date '2019-06-01' + i AS d FROM generate_series(0, 900) AS i;
CREATE TABLE public.first_days WITH (autovacuum_enabled = off) AS SELECT * FROM public.days WHERE id < 400;
VACUUM (FREEZE, ANALYZE) public.days, public.first_days;
SELECT round, name, check_same(format('SELECT extract(%s FROM d), count(*) FROM %s GROUP BY 1', field, name), '{public}'), check_same(format('SELECT to_char(d::timestamp, %L), count(*) FROM %s GROUP BY 1', format, name), '{public}')
FROM generate_series(1, 2) AS round, unnest('{days,first_days}'::text[]) AS name, unnest('{month,year,day}'::text[], '{Q,YYYY-MM,DD}'::text[]) AS _(field, format);
DROP TABLE public.days, public.first_days;
