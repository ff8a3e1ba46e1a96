-- A column that a query reads several times: each reading has the codes of one dictionary, so none is translated.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE public.sale WITH (autovacuum_enabled = off) AS
SELECT i AS id, nullif('n' || i % 9001, 'n7') AS name, (i % 13)::numeric(7,2) AS paid, 2000 + i % 3 AS year, nullif('c' || i % 7, 'c3')::char(3) AS code FROM generate_series(1, 40000) AS i;
VACUUM (FREEZE, ANALYZE) public.sale;
CREATE VIEW public.questions AS SELECT q, n FROM unnest(ARRAY[
	'SELECT count(*), sum(a.id), min(b.id) FROM sale a JOIN sale b ON a.name = b.name WHERE a.year = 2000 AND b.year = 2001',
	'WITH y AS (SELECT name, year, sum(paid) AS paid FROM sale GROUP BY name, year) SELECT a.name, b.paid, c.paid FROM y a JOIN y b ON a.name = b.name JOIN y c ON a.name = c.name WHERE a.year = 2000 AND b.year = 2001 AND c.year = 2002 AND b.paid > c.paid',
	'WITH r AS (SELECT name, code, paid, id FROM sale WHERE id % 3 = 1) SELECT name, code, avg(paid), max(id) FROM r GROUP BY name, code UNION ALL SELECT name, NULL, avg(paid), max(id) FROM r GROUP BY name UNION ALL SELECT NULL, NULL, avg(paid), max(id) FROM r',
	'SELECT name, sum(n) FROM (SELECT name, count(*) AS n FROM sale WHERE year = 2000 GROUP BY name UNION ALL SELECT name, sum(paid) FROM sale WHERE year = 2001 GROUP BY name) u GROUP BY name',
	'SELECT a.code, count(*) FROM sale a JOIN sale b ON a.code = b.code AND a.id = b.id + 7 GROUP BY 1',
	'SELECT count(*), count(*) FILTER (WHERE a.name < b.name), count(*) FILTER (WHERE a.name <> b.name) FROM sale a JOIN sale b ON a.id = b.id + 3',
	'SELECT count(*) FROM sale a WHERE NOT EXISTS (SELECT FROM sale b WHERE b.name = a.name AND b.id > 30000)',
	'SELECT CASE WHEN a.id % 2 = 0 THEN a.name ELSE b.name END, count(*), max(b.name) FROM sale a LEFT JOIN sale b ON a.id = b.id * 2 AND b.code = a.code GROUP BY 1',
	'SELECT min(greatest(a.name, b.name)), max(coalesce(b.name, a.code::text)), count(*) FROM sale a JOIN sale b ON a.id = b.id + 1'
	]) WITH ORDINALITY AS u (q, n);
-- the lookup tables of a request, as EXPLAIN has them
CREATE FUNCTION lookup_tables(query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found text := 'none';
BEGIN
	PERFORM set_config('search_path', 'public', true);
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		found := coalesce(substring(line FROM 'Lookup Tables: .*'), found);
	END LOOP;
	RETURN found;
END $$;
SELECT n, check_same(q, '{public}') FROM questions ORDER BY n;
SET gpuconc.debug_offload = require;
SELECT n, lookup_tables(q) FROM questions WHERE n IN (1, 2, 3, 4, 5, 7) ORDER BY n;
RESET gpuconc.debug_offload;
-- values that only the delta has: of rows that all see, and of this session's own
INSERT INTO public.sale SELECT 50000 + i, 'new' || i % 5, i, 2000 + i % 3, 'd' || i % 4 FROM generate_series(1, 40) AS i;
SELECT n, check_same(q, '{public}') FROM questions ORDER BY n;
BEGIN;
INSERT INTO public.sale SELECT 60000 + i, 'newer' || i % 7, i, 2000 + i % 3, 'e' || i % 2 FROM generate_series(1, 40) AS i;
DELETE FROM public.sale WHERE id % 1000 = 5;
SELECT n, check_same(q, '{public}') FROM questions ORDER BY n;
ROLLBACK;
VACUUM public.sale;
SELECT n, check_same(q, '{public}') FROM questions ORDER BY n;
-- translations that all sessions have know no text that one statement adds, nor one that only a session's own rows have
CREATE TABLE public.words WITH (autovacuum_enabled = off) AS
SELECT i AS id, 'x' || i % 50 AS x, 'y' || i % 40 AS y, 'y' || i % 30 AS z, 'w' || i % 20 AS w FROM generate_series(1, 1000) AS i;
CREATE TABLE public.sellers WITH (autovacuum_enabled = off) AS SELECT i AS id, 'seller' || i AS name FROM generate_series(1, 9) AS i;
VACUUM (FREEZE, ANALYZE) public.words, public.sellers;
SELECT check_same('SELECT id FROM words WHERE CASE WHEN id % 2 = 0 THEN x ELSE z END = y', '{public}');
SELECT check_same('SELECT id FROM words WHERE CASE WHEN id % 2 = 0 THEN x ELSE w END = y', '{public}');
SELECT check_same('SELECT id, name FROM sellers WHERE id > 5', '{public}');
BEGIN;
INSERT INTO public.sellers VALUES (10, 'new3');
SELECT check_same('SELECT s.id, b.id FROM sale s JOIN sellers b ON b.name = s.name', '{public}');
ROLLBACK;
INSERT INTO public.sellers VALUES (10, 'buyer');
SELECT check_same('SELECT s.id, b.id FROM sale s JOIN sellers b ON b.name = s.name', '{public}');

\set ECHO none
\o /dev/null
SET client_min_messages = warning;
DROP FUNCTION lookup_tables;
DROP VIEW public.questions;
DROP TABLE public.sale, public.words, public.sellers;
\o
