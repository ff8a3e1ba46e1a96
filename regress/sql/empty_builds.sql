-- A build that each row needs is empty: nothing is scanned.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA empty_builds;
SET search_path = empty_builds, public;
CREATE TABLE d (id int, key bigint, name text) WITH (autovacuum_enabled = off);
INSERT INTO d SELECT i, i * 1000003::bigint % 1000000007, 'd' || i % 10 FROM generate_series(1, 500) AS i;
CREATE TABLE f (id int, key bigint, v int) WITH (autovacuum_enabled = off);
INSERT INTO f SELECT i % 600, (i % 600) * 1000003::bigint % 1000000007, i % 100 FROM generate_series(1, 60000) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) d, f;

-- the rows, and whether the scan was left out
CREATE FUNCTION check_empty(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	empty text := '';
BEGIN
	PERFORM set_config('search_path', 'empty_builds, public', true), set_config('gpuconc.debug_offload', 'require', true);
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) ' || query LOOP
		IF line ~ 'empty build=1' THEN
			empty := ', nothing scanned';
		END IF;
	END LOOP;
	PERFORM set_config('gpuconc.debug_offload', 'allow', true);
	RETURN check_here(query) || empty;
END $$;

-- dense, hashed, of several rows for a key, a list, semi joins; then builds with rows, outer and anti joins, which need none
SELECT q, check_empty(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(v) FROM f JOIN d USING (id) WHERE name = ''none''', 'SELECT name, sum(v) FROM f JOIN d ON d.key = f.key WHERE name = ''none'' GROUP BY name', 'SELECT count(*), sum(v) FROM f JOIN d ON d.key = f.key AND d.id = f.id WHERE name = ''none''',
	'SELECT count(*), sum(v) FROM f WHERE id IN (SELECT id FROM d WHERE name = ''none'')', 'SELECT count(*), sum(v) FROM f WHERE EXISTS (SELECT FROM d WHERE d.key = f.key AND name = ''none'')',
	'SELECT count(*), sum(v) FROM f JOIN d USING (id) WHERE name = ''d3''', 'SELECT count(*), sum(v) FROM f JOIN d ON d.key = f.key WHERE name = ''d3''', 'SELECT count(*), sum(v) FROM f JOIN d ON d.key = f.key AND d.id = f.id WHERE d.id = 500',
	'SELECT count(*), sum(v) FROM f WHERE id IN (SELECT id FROM d WHERE name = ''d4'')', 'SELECT count(*), sum(v), count(d.id) FROM f LEFT JOIN d ON d.id = f.id AND name = ''none''', 'SELECT count(*), sum(v) FROM f WHERE NOT EXISTS (SELECT FROM d WHERE d.key = f.key AND name = ''none'')'
]) AS q;
-- a row comes to the table
INSERT INTO d VALUES (7, 7, 'none');
SELECT q, check_empty(q) FROM unnest(ARRAY['SELECT count(*), sum(v) FROM f JOIN d USING (id) WHERE name = ''none''']) AS q;

\set ECHO none
\o /dev/null
SET client_min_messages = warning;
DROP SCHEMA empty_builds CASCADE;
\o
