-- The order of two columns of texts: comparisons, GREATEST, LEAST.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE FUNCTION public.each_with(template text, names text[]) RETURNS text RETURN (SELECT string_agg(format(template, n), ', ') FROM unnest(names) AS n);
CREATE TABLE public.pairs (id int, a text, b text, c text COLLATE "C", v varchar(8), ch char(6), u uuid, w uuid, by bytea) WITH (autovacuum_enabled = off);
INSERT INTO public.pairs
SELECT i, CASE WHEN i % 11 > 0 THEN (ARRAY['', 'a', 'B', 'b', 'Zebra', 'äpfel', 'zz', 'a b', 'ab'])[i % 9 + 1] END, CASE WHEN i % 13 > 0 THEN (ARRAY['b', 'A', 'zebra', '', 'aa', 'äpfel', 'same', 'a-b'])[i % 8 + 1] END,
	CASE WHEN i % 7 > 0 THEN chr(60 + i % 60) END, 'v' || i % 14, 'c' || i % 5, md5((i % 20)::text)::uuid, md5((i % 21)::text)::uuid, decode(md5((i % 9)::text), 'hex')
FROM generate_series(1, 600) AS i;
VACUUM (FREEZE, ANALYZE) public.pairs;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT id, greatest(a, b), least(a, b), greatest(a, b, c COLLATE "default"), least(b, v, a, ''m'') FROM pairs', 'SELECT id, greatest(a COLLATE "C", b), least(v COLLATE "C", a, NULL), greatest(a, a), least(u, w), greatest(w, NULL, u) FROM pairs',
	'SELECT greatest(a, b), least(b, v), count(*), max(least(a, v)) FROM pairs GROUP BY 1, 2', 'SELECT greatest(a, b), greatest(a, v), greatest(a, b, v), least(a, v) FROM pairs ORDER BY a, b, v, id',
	format('SELECT id, %s FROM pairs', each_with('%s', ARRAY['a < b', 'b <= a', 'a > v', 'v >= b', 'a COLLATE "C" < b', 'upper(a) > b', 'c < a COLLATE "C"', 'left(a, 1) >= right(b, 1)'])),
	'SELECT count(*) FROM pairs WHERE a BETWEEN b AND v OR (a, id) > (b, 300)', 'SELECT x.id, count(*), max(y.b) FROM pairs x JOIN pairs y ON x.a = y.b AND x.b < y.a GROUP BY 1', 'SELECT count(*) FROM pairs x WHERE x.a > (SELECT min(b) FROM pairs y WHERE y.id = x.id)',
	'SELECT coalesce(greatest(a, b), least(v, c COLLATE "default")), count(*) FILTER (WHERE greatest(a, b) = b) FROM pairs GROUP BY 1']) AS q;
-- a collation in which capitals do not come first
SELECT 'en-x-icu' AS icu FROM pg_collation WHERE collname = 'en-x-icu' UNION ALL SELECT 'C' ORDER BY 1 DESC LIMIT 1 \gset
SELECT check_same(format('SELECT id, greatest(a COLLATE %1$I, b), least(b COLLATE %1$I, v, a), a < b COLLATE %1$I, greatest(a, b) FROM pairs', :'icu'), '{public}');
SELECT refusal(q) FROM unnest(ARRAY['SELECT count(*) FROM pairs WHERE u < w', 'SELECT count(*) FROM pairs WHERE ch < ch || a', 'SELECT greatest(ch, ch || a), count(*) FROM pairs GROUP BY 1']) AS q;
-- in parts of the table that the cache does not serve
INSERT INTO public.pairs (id, a, b) VALUES (1001, 'new', 'other'), (1002, 'zzz', 'new'), (1003, NULL, 'last');
SELECT check_same('SELECT id, greatest(a, b), least(a, v), a < b FROM pairs', '{public}');
DROP FUNCTION public.each_with;
DROP TABLE public.pairs;
