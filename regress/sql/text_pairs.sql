-- Expressions of two texts, tabulated for all pairs of their values.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE public.names (id int, g int, a text, b varchar(20), c char(6), u text, big text, one text, none text) WITH (autovacuum_enabled = off);
INSERT INTO public.names
SELECT i, i % 7, nullif('a' || i % 37, 'a5'), CASE i % 33 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'é–' ELSE upper('b' || i % 33) END, CASE WHEN i % 5 > 0 THEN 'c' || i % 5 END,
	CASE i % 3 WHEN 0 THEN 'a7' WHEN 1 THEN 'x y' END, 'v' || i, 'same', NULL
FROM generate_series(1, 2001) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) public.names;
CREATE TABLE public.others (k text, t text) WITH (autovacuum_enabled = off);
INSERT INTO public.others SELECT 'a' || i, 'o' || i % 3 FROM generate_series(0, 40) AS i;
INSERT INTO public.others VALUES (NULL, 'o'), ('a1', NULL), ('a1', 'o1');
SELECT settle();
VACUUM (FREEZE, ANALYZE) public.others;
CREATE FUNCTION public.each_of(names text[]) RETURNS text RETURN (SELECT string_agg(n, ', ') FROM unnest(names) AS n);

-- as results, as groups, in aggregates, in comparisons
SELECT check_same(format('SELECT id, %s FROM names', each_of(ARRAY['a || b', 'a || ''-'' || b', 'concat(a, b)', 'concat(a, '': '', b, ''.'')', 'concat_ws('','', a, b)', 'c || a', 'a || c', 'upper(a || b)', 'coalesce(a, '''') || coalesce(b, ''?'')', 'length(a || u)', 'a || none', 'concat(a, none)', 'one || u'])), '{public}');
SELECT check_same(format('SELECT id, %s FROM names', each_of(ARRAY['replace(u, a, b)', 'replace(b, ''B'', a)', 'position(a IN u)', 'split_part(u, one, 1)', 'split_part(a || ''.'' || b, ''.'', 2)', 'strpos(b, one)', 'starts_with(u, a)', 'left(a || b, 3)', 'translate(a, u, b)', 'btrim(u, a)', 'md5(a || b)', 'initcap(concat(b, '' '', u))', 'nullif(a, u) || u', 'CASE WHEN a || u > b || ''x'' THEN a || b ELSE u END'])), '{public}');
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT a || b, count(*), sum(g) FROM names GROUP BY 1', 'SELECT a || ''/'' || u AS x, min(id) FROM names GROUP BY 1 ORDER BY 1 DESC LIMIT 9', 'SELECT concat(b, u), count(DISTINCT g) FROM names WHERE a IS NOT NULL GROUP BY 1 HAVING count(*) > 2',
	'SELECT g, max(a || b), min(concat(u, a)), count(DISTINCT a || u) FROM names GROUP BY g', 'SELECT count(*) FROM names WHERE a || b = ''a7B9'' OR b || a < ''B11a'' OR concat(a, u) IN (''a1a7'', ''a7a7'', ''x'') OR a || u LIKE ''%0x%''',
	'SELECT DISTINCT a || u, g FROM names', 'SELECT count(*) FROM names WHERE a || b IS NULL', 'SELECT count(*) FROM names WHERE a || u = u || a', 'SELECT count(*) FROM names WHERE u || b < a || c', 'SELECT id FROM names WHERE id % 10 = 0 ORDER BY a || b NULLS FIRST, id LIMIT 30']) AS q;
-- of two tables, above an outer join, as join keys, of a subquery's columns
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT a || t, count(*) FROM names JOIN others ON a = k GROUP BY 1', 'SELECT id, a || t, concat(u, t) FROM names LEFT JOIN others ON u = k WHERE id < 300', 'SELECT count(*) FROM names n JOIN others o ON n.a || n.u = o.k || ''a7''',
	'SELECT x || y, n FROM (SELECT a AS x, u AS y, count(*) AS n FROM names GROUP BY 1, 2) AS s WHERE x || y > ''a2''', 'SELECT s.x || s.y, max(s.n) FROM (SELECT upper(a) AS x, left(b, 2) AS y, count(*) AS n FROM names GROUP BY 1, 2) AS s GROUP BY 1', 'SELECT a || b, k || a, b || k FROM (SELECT a, b, CASE WHEN g = 1 THEN b WHEN g = 2 THEN ''none of these'' ELSE u END AS k FROM names GROUP BY 1, 2, 3) AS s', 'SELECT count(*) FROM names n WHERE EXISTS (SELECT 1 FROM others o WHERE o.k || o.t = n.a || ''o1'')']) AS q;
-- nothing, and one row
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT max(a || b) FROM names WHERE id < 0', 'SELECT a || b FROM names WHERE id = 5', 'SELECT none || none || one FROM names WHERE id < 4']) AS q;
-- rows that only this session sees, with texts that are new
BEGIN;
INSERT INTO public.names (id, g, a, b, u) VALUES (5000, 1, 'new', 'B4', 'a7'), (5001, 2, 'a3', 'newer', 'x y'), (5002, 3, 'new', NULL, 'new'), (5003, 3, NULL, 'newer', '');
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT a || b, count(*) FROM names GROUP BY 1', 'SELECT id, concat(a, ''+'', b), replace(u, a, b) FROM names WHERE id > 1990', 'SELECT count(*) FROM names WHERE a || b IN (''newB4'', ''a3newer'')']) AS q;
ROLLBACK;
-- tables are shared: what one query computed, the next one finds; also where a dictionary has grown since
CREATE FUNCTION public.tabulated(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; found text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		found := found || coalesce(substring(line FROM 'Lookup Tables: .*'), '');
	END LOOP;
	RETURN found;
END $$;
SELECT tabulated(q) FROM unnest(ARRAY['SELECT count(*) FROM names WHERE concat(a, ''!'', b) = ''a1!''', 'SELECT count(*) FROM names WHERE concat(a, ''!'', b) = ''a1!''', 'SELECT count(*) FROM names WHERE concat(b, ''!'', a) = ''a1!''']) AS q;
INSERT INTO public.names (id, g, a, b) VALUES (6000, 1, 'grown', 'B3'), (6001, 1, 'a1', 'grown');
SELECT settle();
VACUUM (FREEZE) public.names;
SELECT check_same('SELECT concat(a, ''!'', b), count(*) FROM names GROUP BY 1', '{public}'), tabulated('SELECT count(*) FROM names WHERE concat(a, ''!'', b) = ''a1!'''), tabulated('SELECT count(*) FROM names WHERE concat(a, ''!'', b) = ''a1!''');
-- append inputs, where equal texts have several codes
CREATE TABLE public.halves (id int, a text, b text) PARTITION BY RANGE (id);
CREATE TABLE public.half1 PARTITION OF public.halves FOR VALUES FROM (0) TO (100);
CREATE TABLE public.half2 PARTITION OF public.halves FOR VALUES FROM (100) TO (200);
INSERT INTO public.halves SELECT i, 'p' || i % 7, nullif('q' || i % 11, 'q3') FROM generate_series(1, 199) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) public.halves;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT a || b, count(*) FROM halves GROUP BY 1', 'SELECT count(*), max(concat(b, a)) FROM halves WHERE a || b > ''p2q4''']) AS q;
-- enums and uuids beside texts have no || of their own; what may raise an error is left alone
SELECT refusal(q) FROM unnest(ARRAY['SELECT count(*) FROM names WHERE split_part(a, b, g) = ''x''', 'SELECT max(repeat(a, length(b))) FROM names', 'SELECT count(*) FROM names WHERE u LIKE a || b', 'SELECT count(*) FROM names WHERE a ~ b', 'SELECT max(a || b || u) FROM names', 'SELECT max(a || id) FROM names', 'SELECT max(concat(a, b, u)) FROM names', 'SELECT max(a || big) FROM names']) AS q;
-- too many pairs: by statistics, by what is cached, and in an execution that did not know
CREATE TABLE public.many (x text, y text, i int) WITH (autovacuum_enabled = off);
INSERT INTO public.many SELECT 'x' || i % 300, 'y' || i % 301, i FROM generate_series(1, 2000) AS i;
SELECT settle();
VACUUM (FREEZE) public.many;
SELECT max(x || y) FROM public.many;
SELECT refusal('SELECT max(x || y) FROM many');
-- a collation that calls unequal texts equal
CREATE COLLATION public.nd (provider = icu, locale = 'und', deterministic = false);
SELECT refusal('SELECT max(a || u COLLATE nd) FROM names');
SELECT check_same('SELECT max((a || u) COLLATE "C"), min(u || a COLLATE "POSIX") FROM names', '{public}');
-- functions that are not leakproof, under row security
CREATE ROLE pairs_reader;
CREATE POLICY a_few ON public.names USING (g < 5);
ALTER TABLE public.names ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON public.names TO pairs_reader;
GRANT CREATE, USAGE ON SCHEMA public TO pairs_reader;
SET ROLE pairs_reader;
SELECT refusal('SELECT a || b, count(*) FROM names GROUP BY 1');
RESET ROLE;
REVOKE ALL ON public.names FROM pairs_reader;
REVOKE ALL ON SCHEMA public FROM pairs_reader;
CREATE FUNCTION public.planned(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; found text := 'by PostgreSQL';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		found := CASE WHEN line LIKE '%Custom Scan%' THEN 'offloaded' ELSE found END;
	END LOOP;
	RETURN found;
END $$;
-- bringing large dictionaries together for each execution pays for aggregates of many rows alone
CREATE TABLE public.distinct_texts WITH (autovacuum_enabled = off) AS SELECT i, md5(i::text) AS x, md5((i + 5000)::text) AS y, 'f' || i % 5 AS few, 'g' || i % 6 AS fewer FROM generate_series(1, 20000) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) public.distinct_texts;
SELECT q, planned(q) FROM unnest(ARRAY['SELECT count(CASE WHEN i > 5 THEN few ELSE fewer END) FROM distinct_texts', 'SELECT count(*) FROM distinct_texts WHERE few < fewer', 'SELECT few || fewer, count(*) FROM distinct_texts GROUP BY 1',
	'SELECT count(CASE WHEN i > 5 THEN x ELSE y END) FROM distinct_texts', 'SELECT count(*) FROM distinct_texts WHERE x < y', 'SELECT max(greatest(x, y)) FROM distinct_texts', 'SELECT count(*) FROM distinct_texts a JOIN distinct_texts b ON a.x = b.y']) AS q;
DROP FUNCTION public.planned(text);
DROP TABLE public.distinct_texts;
DROP FUNCTION public.tabulated, public.each_of(text[]);
DROP TABLE public.names, public.others, public.halves, public.many;
DROP ROLE pairs_reader;
DROP COLLATION public.nd;
