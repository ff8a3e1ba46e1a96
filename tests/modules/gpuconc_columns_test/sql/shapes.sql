-- Shapes of tables: empty, narrow, wide, fast defaults, dropped columns, sizes
-- around the boundaries of tiles and chunks (32 pages here).
\pset format unaligned
CREATE TEMP TABLE arena_before AS SELECT used FROM gpuconc_columns_test_arena();

-- empty
CREATE TABLE empty (a int, t text);
SELECT * FROM gpuconc_columns_test_diff('empty');
VACUUM empty;
SELECT * FROM gpuconc_columns_test_diff('empty');
SELECT * FROM gpuconc_columns_test_served('empty');
SELECT gpuconc_prewarm('empty');

-- never vacuumed
INSERT INTO empty SELECT i, 'x' || i FROM generate_series(1, 3000) AS i;
SELECT * FROM gpuconc_columns_test_diff('empty');
SELECT blocks, served, delta, reloadable, ranges, complete FROM gpuconc_columns_test_served('empty');

-- pages without rows
DELETE FROM empty WHERE a <= 2000;
INSERT INTO empty VALUES (-1, 'keeps the table from being truncated');
VACUUM empty;
SELECT * FROM gpuconc_columns_test_diff('empty');
SELECT complete, delta FROM gpuconc_columns_test_served('empty');
DELETE FROM empty;
VACUUM (TRUNCATE off) empty;
SELECT * FROM gpuconc_columns_test_diff('empty');
SELECT blocks > 0 AS has_pages, complete, delta FROM gpuconc_columns_test_served('empty');

-- truncated by VACUUM: chunks reach beyond the end
INSERT INTO empty SELECT i, 'y' || i FROM generate_series(1, 20000) AS i;
VACUUM empty;
SELECT * FROM gpuconc_columns_test_diff('empty');
SELECT blocks > 64 AS blocks, complete FROM gpuconc_columns_test_served('empty');
DELETE FROM empty WHERE a > 8000;
VACUUM empty;
SELECT blocks < 64 AS truncated, complete FROM gpuconc_columns_test_served('empty');
SELECT * FROM gpuconc_columns_test_diff('empty', load => false);
INSERT INTO empty SELECT i, 'z' || i FROM generate_series(1, 20000) AS i;
SELECT * FROM gpuconc_columns_test_diff('empty', load => false);
SELECT * FROM gpuconc_columns_test_diff('empty');
VACUUM empty;
SELECT * FROM gpuconc_columns_test_diff('empty');
SELECT complete FROM gpuconc_columns_test_served('empty');

-- no columns
CREATE TABLE nothing ();
INSERT INTO nothing SELECT FROM generate_series(1, 10000);
VACUUM nothing;
SELECT * FROM gpuconc_columns_test_diff('nothing');
SELECT complete FROM gpuconc_columns_test_served('nothing');
SELECT column_name, chunks, rows, pages_served FROM gpuconc_cache WHERE relation = 'nothing'::regclass;
INSERT INTO nothing DEFAULT VALUES;
SELECT * FROM gpuconc_columns_test_diff('nothing');
-- rows of a table that has columns, but none of them
CREATE TABLE no_columns AS SELECT i FROM generate_series(1, 1000) AS i;
VACUUM no_columns;
SELECT * FROM gpuconc_columns_test_diff('no_columns', '{}');
SELECT * FROM gpuconc_columns_test_diff('no_columns', '{i}');

-- 1,600 columns
DO $$
BEGIN
	EXECUTE (SELECT 'CREATE TABLE wide (' || string_agg('c' || i || CASE i % 3 WHEN 0 THEN ' int' WHEN 1 THEN ' bool' ELSE ' int2' END, ', ') || ')'
		FROM generate_series(1, 1600) AS i);
	FOR r IN 1 .. 20 LOOP
		EXECUTE (SELECT 'INSERT INTO wide VALUES (' || string_agg(
			CASE WHEN (i + r) % 4 = 0 THEN 'NULL' WHEN i % 3 = 1 THEN (r % 2 = 0)::text ELSE (i * r % 9999)::text END, ', ') || ')'
			FROM generate_series(1, 1600) AS i);
	END LOOP;
END
$$;
VACUUM wide;
SELECT * FROM gpuconc_columns_test_diff('wide', '{c1,c2,c3,c800,c1599,c1600}');
SELECT complete FROM gpuconc_columns_test_served('wide');
SELECT gpuconc_prewarm('wide') > 0 AS loaded;
SELECT count(*) FROM gpuconc_cache WHERE relation = 'wide'::regclass;
SELECT * FROM gpuconc_columns_test_diff('wide', '{c1,c2,c3,c800,c1599,c1600}');

-- fast defaults: rows written before, between and after
CREATE TABLE defaults (id int);
INSERT INTO defaults SELECT i FROM generate_series(1, 500) AS i;
ALTER TABLE defaults ADD COLUMN a int DEFAULT 42, ADD COLUMN t text DEFAULT 'missing', ADD COLUMN n numeric(8, 2) DEFAULT 1.25, ADD COLUMN nothing int;
INSERT INTO defaults SELECT i, i, 'there', i FROM generate_series(501, 1000) AS i;
ALTER TABLE defaults ADD COLUMN c char(4) DEFAULT 'c', ADD COLUMN f float8 DEFAULT 'NaN', ADD COLUMN d date DEFAULT '2020-02-02';
INSERT INTO defaults (id) SELECT i FROM generate_series(1001, 1100) AS i;
VACUUM defaults;
SELECT * FROM gpuconc_columns_test_diff('defaults');
SELECT complete FROM gpuconc_columns_test_served('defaults');
-- a new one, on what is cached already
ALTER TABLE defaults ADD COLUMN late int8 DEFAULT 1234567890123;
SELECT * FROM gpuconc_columns_test_diff('defaults');
SELECT complete FROM gpuconc_columns_test_served('defaults');

-- dropped columns: of fixed and of variable width, before and behind
CREATE TABLE dropped (a int, b text, c int, d numeric, e int, f text, g int);
INSERT INTO dropped SELECT i, 'b' || i, i, i, i, 'f' || i, i FROM generate_series(1, 300) AS i;
ALTER TABLE dropped DROP COLUMN b, DROP COLUMN c;
INSERT INTO dropped SELECT i, i, i, 'f' || i, i FROM generate_series(301, 600) AS i;
VACUUM dropped;
SELECT * FROM gpuconc_columns_test_diff('dropped');
ALTER TABLE dropped DROP COLUMN a, ADD COLUMN a text DEFAULT 'again';
SELECT * FROM gpuconc_columns_test_diff('dropped');
SELECT complete FROM gpuconc_columns_test_served('dropped');
SELECT column_name FROM gpuconc_cache WHERE relation = 'dropped'::regclass AND column_name IS NOT NULL ORDER BY 1;

-- NULLs anywhere, around attributes of each alignment
CREATE TABLE holes (a bool, b int2, c text, d int8, e bool, f float8, g varchar(3), h int, i char(2), j timestamp);
INSERT INTO holes
SELECT CASE WHEN i & 1 = 0 THEN i % 3 = 0 END, CASE WHEN i & 2 = 0 THEN i END, CASE WHEN i & 4 = 0 THEN repeat('t', i % 200) END,
	CASE WHEN i & 8 = 0 THEN i * 1000000 END, CASE WHEN i & 16 = 0 THEN i % 2 = 0 END, CASE WHEN i & 32 = 0 THEN i / 7.0 END,
	CASE WHEN i & 64 = 0 THEN 'g' || i % 10 END, CASE WHEN i & 128 = 0 THEN i END, CASE WHEN i & 256 = 0 THEN 'i' END,
	CASE WHEN i & 512 = 0 THEN '2020-01-01'::timestamp + i * interval '1 s' END
FROM generate_series(0, 1023) AS i;
VACUUM holes;
SELECT * FROM gpuconc_columns_test_diff('holes');
SELECT * FROM gpuconc_columns_test_diff('holes', '{j}');
SELECT * FROM gpuconc_columns_test_diff('holes', '{b,h}');

-- sizes: rows around 32, tiles of 8192 rows, chunks of 32 pages (1,000 bytes a row, 7 on a page)
CREATE TABLE narrow (i int, j int, k int);
CREATE TABLE fat (i int, pad text);
CREATE FUNCTION fill(tab text, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('TRUNCATE %I', tab);
	IF tab = 'fat' THEN
		EXECUTE format('INSERT INTO fat SELECT i, lpad(i::text, 1000, ''p'') FROM generate_series(1, %s) AS i', n);
	ELSE
		EXECUTE format('INSERT INTO narrow SELECT i, i %% 10, CASE WHEN i %% 3 = 0 THEN i END FROM generate_series(1, %s) AS i', n);
	END IF;
END
$$;
ALTER TABLE fat ALTER pad SET STORAGE PLAIN;
SELECT 'SELECT fill(''' || tab || ''', ' || n || ')' AS fill, 'VACUUM ' || tab AS vacuum,
	'SELECT ' || n || ' AS rows, blocks, missing, extra, complete FROM gpuconc_columns_test_diff(''' || tab
	|| '''), gpuconc_columns_test_served(''' || tab || ''')' AS compare
FROM (VALUES ('narrow', 0), ('narrow', 1), ('narrow', 31), ('narrow', 32), ('narrow', 33), ('narrow', 8191), ('narrow', 8192), ('narrow', 8193),
	('fat', 7 * 31), ('fat', 7 * 32 - 1), ('fat', 7 * 32), ('fat', 7 * 32 + 1), ('fat', 7 * 33), ('fat', 7 * 64), ('fat', 7 * 64 + 1)) AS v(tab, n)
\gexec

-- updates at the boundaries of chunks: the first, the last, all but one
SELECT fill('fat', 7 * 96);
VACUUM fat;
SELECT * FROM gpuconc_columns_test_diff('fat');
DELETE FROM fat WHERE (ctid::text::point)[0]::int IN (0, 31, 32, 63, 95);
SELECT * FROM gpuconc_columns_test_diff('fat', load => false);
SELECT served, delta, ranges FROM gpuconc_columns_test_served('fat');
DELETE FROM fat WHERE (ctid::text::point)[0]::int BETWEEN 32 AND 62 AND i % 7 = 0;
SELECT * FROM gpuconc_columns_test_diff('fat', load => false);
SELECT served, delta, ranges FROM gpuconc_columns_test_served('fat');

-- more than one page of the map: 32,672 heap pages, one row each
CREATE TABLE long (i int, pad text) WITH (fillfactor = 10);
ALTER TABLE long ALTER pad SET STORAGE PLAIN;
INSERT INTO long SELECT i, repeat('x', 4100) FROM generate_series(1, 32700) AS i;
VACUUM long;
SELECT blocks FROM gpuconc_columns_test_served('long');
SELECT * FROM gpuconc_columns_test_diff('long', '{i}');
SELECT complete FROM gpuconc_columns_test_served('long');
-- clears bits under the second map page only
DELETE FROM long WHERE i = 32690;
SELECT served, delta FROM gpuconc_columns_test_served('long');
SELECT * FROM gpuconc_columns_test_diff('long', '{i}');
-- and stamps only that one
VACUUM long;
SELECT served, reloadable FROM gpuconc_columns_test_served('long');
SELECT * FROM gpuconc_columns_test_diff('long', '{i}');
SELECT complete FROM gpuconc_columns_test_served('long');

DROP TABLE empty, nothing, no_columns, wide, defaults, dropped, holes, narrow, fat, long;
DROP FUNCTION fill;
SELECT a.used = b.used AS all_given_back FROM gpuconc_columns_test_arena() AS a, arena_before AS b;
