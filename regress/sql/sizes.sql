-- Numbers of rows around every boundary: none, one, a word of a bitmap, a tile, a
-- page, a chunk; growing row by row, and shrinking again.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

CREATE TABLE public.sizes (n int PRIMARY KEY);
INSERT INTO sizes VALUES (0), (1), (2), (31), (32), (33), (63), (64), (65), (127), (128), (129), (255), (256), (257), (511), (512), (513), (1023), (1024), (1025),
	(2047), (2048), (2049), (4095), (4096), (4097), (8191), (8192), (8193), (16383), (16384), (16385), (32767), (32768), (32769), (65535), (65536), (65537), (100003);
SELECT format('CREATE TABLE public.sized_%s WITH (autovacuum_enabled = off) AS SELECT i AS k, CASE WHEN i %% 3 <> 0 THEN i %% 100 END AS v, ''text '' || i %% 7 AS t, (i / 4.0)::numeric(10,2) AS x FROM generate_series(1, %s) AS i', n, n)
FROM sizes \gexec
-- A first query over what is not vacuumed yet, so wholly delta ...
SELECT n, check_same(format('SELECT count(*), count(v), sum(v), sum(x), min(k), max(k), min(t), avg(x) FROM sized_%s', n), '{public}')
FROM sizes ORDER BY n;
-- ... then over what is, through chunks.
SELECT format('VACUUM (FREEZE, ANALYZE) public.sized_%s', n) FROM sizes \gexec
SELECT n, check_same(format('SELECT count(*), count(v), sum(v), sum(x), min(k), max(k), min(t), avg(x) FROM sized_%s', n), '{public}') AS one,
	check_same(format('SELECT v, t, count(*), sum(k) FROM sized_%s GROUP BY v, t', n), '{public}') AS groups,
	check_same(format('SELECT k, x FROM sized_%s WHERE v IS NULL OR t = ''text 2''', n), '{public}') AS rows,
	check_same(format('SELECT count(*), sum(b.k) FROM sized_%s a JOIN sized_1024 b ON a.k = b.k', n), '{public}') AS probing,
	check_same(format('SELECT count(*), sum(b.k) FROM sized_100003 a JOIN sized_%s b ON a.k = b.k', n), '{public}') AS building
FROM sizes ORDER BY n;
-- Only the first and the last row; none; all.
SELECT n, check_same(format('SELECT count(*), sum(v), max(k) FROM sized_%s WHERE k = 1 OR k = %s', n, n), '{public}') AS ends,
	check_same(format('SELECT k, count(*) FROM sized_%s WHERE k > %s GROUP BY k', n, n), '{public}') AS "none",
	check_same(format('SELECT k FROM sized_%s', n), '{public}') AS "all"
FROM sizes ORDER BY n;
-- Whole pages, and so whole chunks where gpuconc.debug_chunk_pages is small: one row less,
-- none, one row more.
CREATE FUNCTION public.check_pages(pages int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	full_pages int;
	verdicts text[] := '{}';
BEGIN
	SELECT count(*) INTO full_pages FROM sized_8192 WHERE (ctid::text::point)[0] < pages;
	FOR i IN -1 .. 1 LOOP
		EXECUTE format('CREATE TABLE public.paged_%s_%s AS SELECT * FROM sized_8192 WHERE k <= %s', pages, i + 1, full_pages + i);
	END LOOP;
	RETURN format('VACUUM (FREEZE, ANALYZE) paged_%1$s_0, paged_%1$s_1, paged_%1$s_2', pages);
END $$;
SELECT check_pages(pages) FROM unnest('{1,3,4,5,7,8,9,12,16,32}'::int[]) AS pages \gexec
SELECT pages, more - 1 AS more,
	check_same(format('SELECT count(*), sum(v), min(t), max(k) FROM paged_%s_%s', pages, more), '{public}') AS one,
	check_same(format('SELECT t, v, count(*), sum(x) FROM paged_%s_%s GROUP BY t, v', pages, more), '{public}') LIKE 'ok, % rows' AS groups,
	check_same(format('SELECT * FROM paged_%s_%s', pages, more), '{public}') LIKE 'ok, % rows' AS "all",
	check_same(format('SELECT count(*), sum(b.x) FROM sized_8193 a JOIN paged_%s_%s b ON a.k = b.k', pages, more), '{public}') AS building
FROM unnest('{1,3,4,5,7,8,9,12,16,32}'::int[]) AS pages, generate_series(0, 2) AS more;
SELECT format('DROP TABLE public.paged_%1$s_0, public.paged_%1$s_1, public.paged_%1$s_2', pages)
FROM unnest('{1,3,4,5,7,8,9,12,16,32}'::int[]) AS pages \gexec
DROP FUNCTION public.check_pages;
-- Rows come and go.
CREATE TABLE public.moving (k int, t text) WITH (autovacuum_enabled = off);
SELECT check_same('SELECT count(*), sum(k), min(t) FROM moving', '{public}');
VACUUM public.moving;
SELECT check_same('SELECT count(*), sum(k), min(t) FROM moving', '{public}');
INSERT INTO public.moving SELECT i, 'a' || i % 5 FROM generate_series(1, 1000) AS i;
SELECT check_same('SELECT count(*), sum(k), min(t) FROM moving', '{public}');
VACUUM public.moving;
SELECT check_same('SELECT count(*), sum(k), min(t) FROM moving', '{public}');
INSERT INTO public.moving SELECT i, 'b' || i % 5 FROM generate_series(1001, 5000) AS i;
SELECT check_same('SELECT count(*), sum(k), max(t) FROM moving', '{public}');
VACUUM public.moving;
SELECT check_same('SELECT t, count(*), sum(k) FROM moving GROUP BY t', '{public}');
DELETE FROM public.moving WHERE k > 10;
SELECT check_same('SELECT t, count(*), sum(k) FROM moving GROUP BY t', '{public}');
VACUUM public.moving;
SELECT check_same('SELECT t, count(*), sum(k) FROM moving GROUP BY t', '{public}');
INSERT INTO public.moving SELECT i, 'c' || i % 5 FROM generate_series(1, 100) AS i;
SELECT check_same('SELECT t, count(*), sum(k) FROM moving GROUP BY t', '{public}');
DELETE FROM public.moving;
VACUUM public.moving;
SELECT check_same('SELECT t, count(*), sum(k) FROM moving GROUP BY t', '{public}');
SELECT check_same('SELECT count(*), max(t) FROM moving', '{public}');
DROP TABLE public.moving;
SELECT format('DROP TABLE public.sized_%s', n) FROM sizes \gexec
DROP TABLE public.sizes;
