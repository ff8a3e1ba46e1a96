-- Conditions on ranks of the groups of a rollup, which the device computes and tests.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- check_here(), and a node that does not test the condition itself.
CREATE FUNCTION public.check_ranks(query text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(', ', check_here(query), (SELECT string_agg(trim(line), ', ') FROM plan_of(query) AS line WHERE line ~ 'WindowAgg|GpuconcWindow'))
$$;
-- partitions of awkward sizes, ties, NULLs, texts of two collations
CREATE TABLE public.ranked (g int4, id int4, k int4, n numeric(12,2), t text COLLATE "und-x-icu", v varchar(9)) WITH (autovacuum_enabled = off);
INSERT INTO public.ranked SELECT g, i, i % 7, CASE WHEN i % 5 > 0 THEN i * 37 % 50 / 4.0 END, CASE WHEN i % 11 > 0 THEN (ARRAY['a', 'B', 'b', 'A', 'ä', ''])[i % 6 + 1] || i % 3 END, 'v' || i % 4
FROM (VALUES (1, 1), (2, 255), (3, 256), (4, 257), (NULL, 90), (6, 20000)) AS p(g, n), generate_series(1, n) AS i;
VACUUM ANALYZE public.ranked;

-- functions and conditions
SELECT c, check_ranks(format($$SELECT * FROM (SELECT *, rank() OVER (PARTITION BY g ORDER BY s DESC) AS r FROM (SELECT g, k, n, sum(id) AS s FROM ranked GROUP BY ROLLUP (g, k, n)) q) w WHERE r %s$$, c)) AS rank,
	check_ranks(format($$SELECT * FROM (SELECT *, dense_rank() OVER (PARTITION BY g ORDER BY n) AS r FROM (SELECT g, k, n, sum(id) AS s FROM ranked GROUP BY ROLLUP (g, k, n)) q) w WHERE r %s$$, c)) AS dense_rank,
	check_ranks(format($$SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY k, n, s) AS r FROM (SELECT g, k, n, sum(id) AS s FROM ranked GROUP BY ROLLUP (g, k, n)) q) w WHERE r %s$$, c)) AS row_number
FROM unnest(ARRAY['<= 1', '< 3', '= 1', '= 2', '<= 100', '<= 7::int8', '<= 1000000', 'BETWEEN 2 AND 4', '< 1', '<= 0', '< -4', '> 2', '<> 1', '<= 3::int2', '<= 2 AND s > 9', '<= 2 AND k = 3']) AS c;
-- orders: NULLs, texts, several columns, no partition, no order
SELECT o, check_ranks(format($$SELECT * FROM (SELECT *, rank() OVER (%s) AS r FROM (SELECT g, k, n, t, v, count(*) AS c, avg(id) AS a, max(t) AS m FROM ranked GROUP BY ROLLUP (g, k, n, t, v)) q) w WHERE r <= 5$$, o)) AS rank,
	check_ranks(format($$SELECT * FROM (SELECT *, dense_rank() OVER (%s) AS r FROM (SELECT g, k, n, t, v, count(*) AS c, avg(id) AS a, max(t) AS m FROM ranked GROUP BY ROLLUP (g, k, n, t, v)) q) w WHERE r <= 2$$, o)) AS dense_rank
FROM unnest(ARRAY['PARTITION BY g ORDER BY n', 'PARTITION BY g ORDER BY n NULLS FIRST', 'PARTITION BY g ORDER BY n DESC NULLS LAST, k', 'PARTITION BY t ORDER BY c DESC', 'PARTITION BY v ORDER BY t DESC, n', 'PARTITION BY g, k ORDER BY t COLLATE "C", c', 'ORDER BY t, v DESC, c', 'ORDER BY a DESC', 'PARTITION BY m ORDER BY a', 'PARTITION BY g', 'PARTITION BY v, t, k ORDER BY g NULLS FIRST, n']) AS o;
-- many rows, each partition's first one; one partition with all; no row
SELECT check_ranks('SELECT g, id, r FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY s DESC, id) AS r FROM (SELECT g, id, sum(n) AS s FROM ranked GROUP BY ROLLUP (g, id)) q) w WHERE r <= 1') AS first,
	check_ranks('SELECT g, id, r FROM (SELECT *, rank() OVER (ORDER BY s DESC NULLS LAST, id) AS r FROM (SELECT g, id, sum(n) AS s FROM ranked GROUP BY ROLLUP (g, id)) q) w WHERE r < 256') AS one,
	check_ranks('SELECT g, id, r FROM (SELECT *, rank() OVER (PARTITION BY g ORDER BY s) AS r FROM (SELECT g, id, sum(n) AS s FROM ranked WHERE id < 0 GROUP BY ROLLUP (g, id)) q) w WHERE r <= 1') AS none;
-- what else is of all rows, or what drops some between the groups and the window
SELECT q, check_ranks(q) FROM unnest(ARRAY[
	'SELECT * FROM (SELECT *, rank() OVER w AS r, row_number() OVER w AS o, dense_rank() OVER w AS d FROM (SELECT g, k, sum(id) AS s FROM ranked GROUP BY ROLLUP (g, k)) q WINDOW w AS (PARTITION BY g ORDER BY s, k)) w WHERE r <= 3',
	'SELECT * FROM (SELECT *, rank() OVER w AS r, count(*) OVER w AS o FROM (SELECT g, k, sum(id) AS s FROM ranked GROUP BY ROLLUP (g, k)) q WINDOW w AS (PARTITION BY g ORDER BY s, k ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)) w WHERE r <= 3',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY g ORDER BY s) AS r, max(s) OVER (PARTITION BY g ORDER BY s ROWS 1 PRECEDING) AS p FROM (SELECT g, k, sum(id) AS s FROM ranked GROUP BY ROLLUP (g, k)) q) w WHERE r <= 3',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY g ORDER BY s) AS r, rank() OVER (PARTITION BY k ORDER BY s DESC) AS p FROM (SELECT g, k, sum(id) AS s FROM ranked GROUP BY ROLLUP (g, k)) q) w WHERE r <= 2',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY g ORDER BY s) AS r FROM (SELECT g, k, sum(id) AS s FROM ranked GROUP BY ROLLUP (g, k) HAVING sum(id) % 3 = 1) q) w WHERE r <= 2',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY g ORDER BY s) AS r FROM (SELECT g, k, sum(id) AS s FROM ranked GROUP BY ROLLUP (g, k)) q WHERE s % 3 = 1) w WHERE r <= 2',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY g ORDER BY s) AS r FROM (SELECT g, k, sum(id) AS s FROM ranked GROUP BY ROLLUP (g, k)) q WHERE s + floor(random()) > 4650) w WHERE r <= 2',
	'SELECT * FROM (SELECT g, s % 2 AS o, rank() OVER (PARTITION BY g ORDER BY s % 2) AS r FROM (SELECT g, k, sum(id) AS s FROM ranked GROUP BY ROLLUP (g, k)) q GROUP BY g, s % 2) w WHERE r <= 1',
	'SELECT * FROM (SELECT DISTINCT ON (g) *, rank() OVER (PARTITION BY g ORDER BY s DESC) AS r FROM (SELECT g, k, sum(id) AS s FROM ranked GROUP BY ROLLUP (g, k)) q ORDER BY g, s, k) w WHERE r <= 4',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY g ORDER BY s DESC) AS r FROM (SELECT g, k, sum(id) AS s FROM ranked GROUP BY ROLLUP (g, k)) q ORDER BY s, g, k LIMIT 9) w WHERE r <= 4',
	'SELECT *, rank() OVER (PARTITION BY g ORDER BY s DESC) <= 2 FROM (SELECT g, k, sum(id) AS s FROM ranked GROUP BY ROLLUP (g, k)) q',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY g, g + 0 ORDER BY s, s) AS r FROM (SELECT g, k, sum(id) AS s FROM ranked WHERE k = 3 GROUP BY ROLLUP (g, k)) q) w WHERE r <= 2',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY s) AS r FROM (SELECT k, g, sum(id) AS s FROM ranked WHERE k = 3 GROUP BY k, ROLLUP (g)) q) w WHERE r <= 2'
]) AS q;
-- groups of the window's own level; a frame that excludes rows
SELECT check_ranks('SELECT * FROM (SELECT g, k, sum(id) AS s, rank() OVER (PARTITION BY g ORDER BY sum(id) DESC) AS r FROM ranked GROUP BY g, k) w WHERE r <= 2');
SELECT check_ranks(q) ~ '^ok, 11 rows' AS own FROM (VALUES
	('SELECT * FROM (SELECT g, k, sum(id) AS s, rank() OVER (PARTITION BY g ORDER BY sum(id) DESC ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW) AS r FROM ranked GROUP BY g, k) w WHERE r <= 2')
) AS v(q);
DROP TABLE public.ranked;
DROP FUNCTION public.check_ranks;
