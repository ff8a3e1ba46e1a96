-- Groups of pairs: what a block keeps of them in shared memory, and room for groups of which nothing is known.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

CREATE TABLE public.points AS SELECT i AS id, nullif(i % 7, 3) AS k, (i * 7919 % 1009) / 10.0::float8 AS x, (i * 104729 % 1013) / 10.0::float8 AS y, i % 11 = 0 AS odd FROM generate_series(1, 1500) i;
VACUUM ANALYZE public.points;
-- few groups, hashed: keys of one and two words, NULLs among them, every kind of sum
SELECT q, check_same(q, '{public}') FROM unnest(ARRAY[
	'SELECT floor(sqrt((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y)) / 10)::int AS bin, count(*), min(p.id), max(q.id), sum(p.id::bigint * q.id) FROM points p, points q WHERE p.id < q.id GROUP BY 1', 'SELECT floor((p.x - q.x) / 20) + p.k AS a, q.k AS b, count(*), sum(p.id), bool_or(q.odd), avg(q.id::numeric) FROM points p, points q WHERE p.id <> q.id AND p.id < 300 GROUP BY 1, 2', 'SELECT p.k::float8 / q.k AS ratio, count(*), bit_and(p.id) FROM points p, points q WHERE p.id + q.id < 1500 AND q.k > 0 GROUP BY 1'
]) AS q;
-- more groups than a block keeps
SELECT check_same('SELECT (p.id * 1009::bigint) % 100003 * 1000000007 + q.k AS a, count(*), max(q.x) FROM points p, points q WHERE p.x + q.x > 20 GROUP BY 1', '{public}');
-- more than there is room for at first
SELECT check_same('SELECT count(*), sum(n), max(a) FROM (SELECT (p.id * 100000::bigint + q.id) * 10007 AS a, count(*) AS n FROM points p, points q WHERE p.x < 90 GROUP BY 1) AS g', '{public}');
-- few groups in a dense table, by the pairs that there are
SELECT check_same('SELECT width_bucket(sqrt((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y)), 0, 150, 300) AS bin, count(*), sum(p.id) FROM points p, points q WHERE p.id < q.id GROUP BY 1', '{public}');
DROP TABLE public.points;
-- a matrix product: by a hash join of the inner index, and groups of the two others; and of two vectors, by pairs
CREATE TABLE public.ma AS SELECT i AS r, k AS c, (i * 31 + k * 17) % 101 - 50 AS v, ((i * 13 + k * 7) % 97 - 48)::float8 AS f FROM generate_series(0, 47) i, generate_series(0, 39) k;
CREATE TABLE public.mb AS SELECT k AS r, j AS c, (k * 29 + j * 11) % 89 - 44 AS v, ((k * 5 + j * 23) % 83 - 41)::float8 AS f FROM generate_series(0, 39) k, generate_series(0, 43) j;
VACUUM ANALYZE public.ma, public.mb;
SELECT q, check_whole(q, '{public}') FROM unnest(ARRAY[
	'SELECT a.r, b.c, sum(a.v * b.v) FROM ma a, mb b WHERE a.c = b.r GROUP BY a.r, b.c', 'SELECT a.r, b.c, sum(a.f * b.f) FROM ma a, mb b WHERE a.c = b.r GROUP BY a.r, b.c', 'SELECT a.r, b.c, sum(a.v::bigint * b.v) AS i, sum(a.f * b.f) AS f, count(*) FROM ma a JOIN mb b ON a.c = b.r WHERE a.v <> 0 GROUP BY 1, 2', 'SELECT r, c, sum(p) FROM (SELECT a.r, b.c, a.f * b.f AS p FROM ma a JOIN mb b ON a.c = b.r) x WHERE r < 7 GROUP BY r, c'
]) AS q;
SELECT check_same('SELECT a.r, b.c, sum(a.f * b.f) FROM ma a, mb b WHERE a.c <= b.r AND a.c >= b.r GROUP BY a.r, b.c', '{public}');
DROP TABLE public.ma, public.mb;
