-- ORDER BY with LIMIT over rows that are not grouped: the device drops what is not among the first few.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
SET search_path = public;

CREATE TABLE firsts (id int, a bigint, b int, n numeric(18,2), d date, ts timestamp, f float8, t text COLLATE "C", i text COLLATE "und-x-icu", same int) WITH (autovacuum_enabled = off);
INSERT INTO firsts SELECT i, CASE i WHEN 5 THEN 9223372036854775807 WHEN 6 THEN -9223372036854775808 ELSE i * 7919::bigint % 50021 - 25000 END, CASE WHEN i % 11 > 0 THEN i % 100 END, (i * 31 % 977) - 400.25, date '2000-01-01' + i % 4000, timestamp '2000-01-01' + i % 997 * interval '1 hour', i % 313 / 7.0, md5((i % 5000)::text), 'Aé' || i % 611, 7 FROM generate_series(1, 50000) AS i;
CREATE TABLE partners AS SELECT i AS b, 'name ' || i AS name, i % 7 AS k FROM generate_series(0, 99) AS i;
VACUUM (FREEZE, ANALYZE) firsts, partners;
-- rows in their order, and what EXPLAIN says of the choice
CREATE FUNCTION check_first(query text) RETURNS text LANGUAGE plpgsql SET gpuconc.debug_offload = allow AS $$
DECLARE
	rows text[] := '{}';
	mode text;
	result text;
	line text;
	chosen text := 'all';
BEGIN
	FOREACH mode IN ARRAY '{require,forbid}'::text[] LOOP
		PERFORM set_config('gpuconc.debug_offload', mode, true);
		EXECUTE 'SELECT coalesce(string_agg(q::text, ''|'' ORDER BY row_number), '''') FROM (SELECT row_number() OVER (), * FROM (' || query || ') AS q) AS q' INTO result;
		rows := rows || result;
	END LOOP;
	PERFORM set_config('gpuconc.debug_offload', 'require', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		chosen := coalesce(substring(line FROM 'Stream: .*(first \d+)'), chosen);
	END LOOP;
	RETURN chosen || CASE WHEN rows[1] = rows[2] THEN ', same' ELSE ', DIFFERENT' END;
END $$;
SELECT keys, limits, check_first(format('SELECT id, a, b, n, t FROM firsts ORDER BY %s, id %s', keys, limits)) AS verdict
FROM unnest('{a,a DESC,b,b DESC,b NULLS FIRST,b DESC NULLS LAST,n,n DESC,d DESC,ts,f DESC,t,t DESC,i DESC,same,id DESC}'::text[]) AS keys, unnest('{LIMIT 10 OFFSET 7,LIMIT 3000}'::text[]) AS limits ORDER BY keys, limits;
SELECT q, check_first(q) FROM unnest(ARRAY['SELECT id, a FROM firsts WHERE b < 20 ORDER BY a DESC LIMIT 5', 'SELECT id FROM firsts WHERE id < 0 ORDER BY a LIMIT 5', 'SELECT id FROM firsts WHERE id = 77 ORDER BY a LIMIT 5', 'SELECT f.id, f.a, p.name FROM firsts f JOIN partners p ON p.b = f.b WHERE p.k = 3 ORDER BY f.a DESC, f.id LIMIT 12', 'SELECT f.id, p.name, f.t FROM firsts f JOIN partners p ON p.b = f.b ORDER BY p.name DESC, f.id LIMIT 12', 'SELECT f.id, p.name FROM firsts f LEFT JOIN partners p ON p.b = f.b + 50 ORDER BY p.k DESC, f.id LIMIT 12', 'SELECT a, id FROM firsts ORDER BY a, id LIMIT 0', 'SELECT a, id FROM firsts ORDER BY a, id LIMIT 1', 'SELECT a, id FROM firsts ORDER BY a DESC, id LIMIT 60000', 'SELECT id, t FROM firsts ORDER BY t COLLATE "und-x-icu", id LIMIT 9', 'SELECT DISTINCT a FROM firsts ORDER BY a LIMIT 9']) AS q;
SELECT check_first('SELECT * FROM (SELECT id, b FROM firsts ORDER BY b, id FETCH FIRST 900 ROWS WITH TIES) AS q ORDER BY b, id');
-- by expressions that the node does not return, or cannot sort by
SELECT keys, check_first(format('SELECT id, a, b, n, t FROM firsts ORDER BY %s, id LIMIT 25', keys)) AS verdict FROM unnest('{n - b,n - b DESC,n * n DESC NULLS LAST,n / 7,n / (b + 1) DESC NULLS LAST,round(n / 7) DESC,-n,b % 7 DESC,d + b,"substr(t, 3, 2)","substr(t, 3, 2) DESC, i","t, substr(t, 3, 2)","b NULLS FIRST, f / 3","f + 1"}'::text[]) AS keys;
SELECT q, check_first(q) FROM unnest(ARRAY['SELECT n * 2 - b AS x, p.name, n - p.k AS y FROM firsts f JOIN partners p USING (b) ORDER BY n - p.k DESC, 1, f.id LIMIT 11', 'SELECT id, n - average FROM (SELECT id, n, avg(n) OVER (PARTITION BY b) AS average FROM firsts) AS w ORDER BY n - average, id LIMIT 20', 'SELECT id, average FROM (SELECT id, avg(n) OVER (PARTITION BY b) AS average FROM firsts) AS w ORDER BY average DESC, id LIMIT 600', 'SELECT coalesce(x.n, 0) - y.n AS d, x.id, y.id AS id2 FROM (SELECT n, id FROM firsts WHERE b < 5) AS x FULL JOIN (SELECT n, id FROM firsts WHERE b < 7) AS y USING (id) ORDER BY 1 NULLS FIRST, 2, 3 LIMIT 9', 'SELECT n - b AS x, id FROM (SELECT n, b, id FROM firsts UNION ALL SELECT k, b, -b FROM partners) AS u ORDER BY n - b, id LIMIT 12']) AS q;
-- what PostgreSQL raises for rows behind the first ones
SELECT id, 1 / (b - 5) AS x FROM firsts ORDER BY n - b DESC, id LIMIT 3;
-- what is computed above the node is of the first rows alone; also where fewer are expected than are wanted
SELECT q, check_first(q) FROM unnest(ARRAY['SELECT f.id, f.n / p.k, f.a::numeric + 1 FROM firsts f JOIN partners p ON p.b = f.b WHERE p.k > 0 ORDER BY f.a DESC, f.id LIMIT 12', 'SELECT id, n / 3, t || b FROM firsts ORDER BY t DESC, id LIMIT 7', 'SELECT f.id, f.n / 3 FROM firsts f JOIN partners p ON p.b = f.b WHERE f.b % 2 = 0 AND f.b % 3 = 0 AND f.id % 7 = 0 AND f.id % 5 = 0 ORDER BY f.a, f.id LIMIT 40', 'SELECT 1 / f.n FROM firsts f JOIN partners p ON p.b = f.b ORDER BY p.name NULLS FIRST, f.id LIMIT 9']) AS q;
SELECT check_first('SELECT id, x FROM (SELECT id, b, n / 7 AS x FROM firsts ORDER BY b, id FETCH FIRST 900 ROWS WITH TIES) AS q ORDER BY b, id');
-- sorted above the node, as a later key is computed there: ties of the leading one, NULLs, descending
SELECT q, check_first(q) FROM unnest(ARRAY['SELECT f.id, p.name FROM firsts f JOIN partners p ON p.b = f.b ORDER BY p.name DESC, f.n / 3, f.id LIMIT 12', 'SELECT id, b, n / 3 AS x FROM firsts ORDER BY b DESC, x, id LIMIT 30 OFFSET 4', 'SELECT id, b, t FROM firsts ORDER BY b NULLS FIRST, n / 7 DESC, substring(t, 3, 4), id LIMIT 50', 'SELECT id, substring(t, 2) AS s FROM firsts WHERE id < 9000 ORDER BY same, s DESC, id LIMIT 11', 'SELECT f.id, f.n / 3 FROM firsts f JOIN partners p ON p.b = f.b ORDER BY f.n / 3, f.id LIMIT 8', 'SELECT DISTINCT b, n / 3 AS x FROM firsts WHERE id < 900 ORDER BY b, x LIMIT 8']) AS q;
-- with rows that only the session reads, which come first
INSERT INTO firsts (id, a, b, t) SELECT -i, 30000 + i, -i, repeat('f', i) FROM generate_series(1, 20) AS i;
SELECT keys, check_first(format('SELECT id, a, b, n, t FROM firsts ORDER BY %s, id LIMIT 25', keys)) AS verdict FROM unnest('{a DESC,b,t DESC,n NULLS FIRST}'::text[]) AS keys;
-- GEQO forgets the paths that it tries
SET geqo_threshold = 2;
SET gpuconc.offload_cost = 2000;
SELECT count(*) FROM (SELECT a.id, d.b FROM firsts a, firsts b, firsts c, firsts d WHERE a.id = b.id AND b.id = c.id AND c.id = d.id ORDER BY a.a, a.id LIMIT 10) AS q;
RESET gpuconc.offload_cost;
RESET geqo_threshold;
DROP TABLE firsts, partners;
DROP FUNCTION check_first;
