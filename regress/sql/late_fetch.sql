-- Columns that are only carried along: fetched by row id for the first few rows or groups.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA late;
SET search_path = late, public;

CREATE TABLE owners (id int PRIMARY KEY, name text, town varchar(20), code char(6), rich bool, born date, area int) WITH (autovacuum_enabled = off);
CREATE TABLE areas (area int PRIMARY KEY, label text, tax numeric(6,3)) WITH (autovacuum_enabled = off);
CREATE TABLE things (id int, owner int, k int, n numeric(14,3), big bigint, small smallint, f4 float4, f8 float8, b bool, d date, ts timestamp,
	t text, v varchar(30), c char(9)) WITH (autovacuum_enabled = off);
INSERT INTO areas SELECT i, nullif('area ' || i, 'area 3'), i / 8.0 FROM generate_series(0, 19) AS i;
INSERT INTO owners SELECT i, 'owner ' || i, nullif('town ' || i % 40, 'town 7'), 'c' || i % 9, i % 3 = 0, date '1950-01-01' + i * 7, nullif(i % 23, 20)
FROM generate_series(1, 1500) AS i;
INSERT INTO things SELECT i, i * 37 % 1600, i * 7919 % 5003, CASE WHEN i % 6 > 0 THEN i / 7.0 - 400 END, i * 400000000000007, i % 30000 - 10000, i / 4.0,
	CASE i % 50 WHEN 3 THEN 'NaN' WHEN 4 THEN '-Infinity' WHEN 5 THEN '-0' WHEN 6 THEN NULL ELSE i / 3.0 END, CASE WHEN i % 5 > 0 THEN i % 2 = 0 END,
	date '1999-12-30' + i % 900, timestamp '2001-01-01' + i * interval '1 second', CASE WHEN i % 7 > 0 THEN 'thing ' || i % 4001 END, 'v' || i, 'c' || i % 77
FROM generate_series(1, 20000) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) owners, areas, things;

-- Rows in their order; which columns EXPLAIN says are fetched late; of hot pages, and of rows that the session reads.
CREATE FUNCTION check_late(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	fetched text := 'nothing';
	found text := '';
	got text[];
BEGIN
	PERFORM set_config('search_path', 'late, public', true), set_config('gpuconc.debug_offload', 'require', true);
	got := rows_of(query, 'require');
	PERFORM set_config('gpuconc.debug_offload', 'require', true);
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		fetched := coalesce(substring(line FROM 'Fetched Late: (.*)'), fetched);
		-- pruning may decide which of the two it is
		IF line ~ '(Pages:.* versioned|Rows:.* delta)=' THEN
			found := ', written to';
		ELSIF line ~ 'Fallback: ' THEN
			found := found || ', FALLBACK';
		END IF;
	END LOOP;
	IF got IS DISTINCT FROM rows_of(query, 'forbid') THEN
		RETURN 'DIFFERENT: ' || coalesce(difference(rows_of(query, 'forbid'), got), 'in another order');
	END IF;
	RETURN format('%s rows%s: %s', cardinality(got), found, fetched);
END $$;

-- Queries that each state of the tables is asked.
CREATE TABLE asked (n serial, query text);
INSERT INTO asked (query) VALUES
	-- all types, ascending and descending, by NULLs, with ties among the last
	('SELECT * FROM things ORDER BY k, id LIMIT 12'),
	('SELECT * FROM things WHERE id % 3 = 0 ORDER BY n DESC NULLS LAST, id LIMIT 30 OFFSET 5'),
	('SELECT n, t, k, id FROM things ORDER BY n NULLS FIRST, id LIMIT 9'),
	('SELECT t, id, f8, v FROM things ORDER BY f8 DESC, id LIMIT 9'),
	-- of builds, and of builds of builds; without a match
	('SELECT things.id, k, t, owners.*, areas.* FROM things JOIN owners ON owners.id = owner JOIN areas USING (area) ORDER BY k DESC, things.id LIMIT 25'),
	('SELECT things.id, k, v, owners.*, label, tax FROM things LEFT JOIN owners ON owners.id = owner LEFT JOIN areas USING (area) ORDER BY k, things.id LIMIT 100'),
	('SELECT things.id, owners.id, name, town, t, n FROM things FULL JOIN owners ON owners.id = owner ORDER BY things.id DESC, owners.id LIMIT 60'),
	('SELECT things.id, owners.id, name, town, t, n FROM things FULL JOIN owners ON owners.id = owner + 700 ORDER BY owners.id DESC, things.id LIMIT 900'),
	-- several rows of the build for a key
	('SELECT a.id, b.id, a.t, b.t, b.v FROM things a JOIN things b ON b.owner = a.owner AND b.small > 3 WHERE a.k < 200 ORDER BY a.k, a.id, b.id LIMIT 50'),
	-- a tested column is read there, too
	('SELECT things.id, t, name, town FROM things JOIN owners ON owners.id = owner WHERE town <> ''town 3'' AND t LIKE ''%7'' ORDER BY k, things.id LIMIT 20'),
	-- groups
	('SELECT owners.id, name, town, code, rich, born, sum(n), count(*) FROM things JOIN owners ON owners.id = owner GROUP BY owners.id ORDER BY sum(n) DESC NULLS LAST, owners.id LIMIT 20'),
	('SELECT owners.id, owners.area, name, town, label, tax, count(*), max(n) FROM things LEFT JOIN owners ON owners.id = owner LEFT JOIN areas ON areas.area = owners.area GROUP BY owners.id, areas.area HAVING count(n) > 1 ORDER BY count(*) DESC, owners.id LIMIT 40'),
	('SELECT owners.id, name, town, born, min(k) FROM things JOIN owners ON owners.id = owner GROUP BY owners.id, name HAVING born < ''1970-01-01'' ORDER BY min(k), born LIMIT 20');
SELECT n, check_late(query) FROM asked ORDER BY n;
-- nothing is wanted, all is, and what there is to fetch takes no less room than the row's id
SELECT check_late('SELECT * FROM things WHERE id < 0 ORDER BY k LIMIT 12');
SELECT check_late('SELECT * FROM things ORDER BY k, id LIMIT 15000');
SELECT check_late('SELECT things.id, born FROM things JOIN owners ON owners.id = owner ORDER BY k, things.id LIMIT 12');

-- several tables as one input
CREATE TABLE parted (id int, k int, place text, code char(4), amount numeric(10,2)) PARTITION BY RANGE (k);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10) WITH (autovacuum_enabled = off);
CREATE TABLE parted_2 (amount numeric(10,2), gone int, place text, id int, code char(4), k int) WITH (autovacuum_enabled = off);
ALTER TABLE parted_2 DROP COLUMN gone;
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES FROM (10) TO (20);
INSERT INTO parted SELECT i, i % 20, CASE WHEN i % 9 > 0 THEN 'place ' || i % (100 + i % 20) END, 'x' || i % 5, i / 4.0 FROM generate_series(1, 9000) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) parted;
INSERT INTO asked (query) VALUES
	('SELECT p.*, name FROM parted p JOIN owners ON owners.id = p.id ORDER BY amount DESC, p.id LIMIT 30'),
	('SELECT things.id, things.k, v, p.* FROM things JOIN parted p ON p.id = things.id ORDER BY things.k, p.id LIMIT 40'),
	('SELECT u.id, u.t, name, town FROM (SELECT id, t, k FROM things UNION ALL SELECT id, place, k FROM parted) AS u JOIN owners ON owners.id = u.id ORDER BY u.id, u.k LIMIT 30');
SELECT n, check_late(query) FROM asked WHERE n > 13 ORDER BY n;
-- a row source's rows
SELECT check_late('SELECT things.id, k, s.id, s.t, s.v FROM things JOIN (SELECT id, nullif(id % 50, 9)::text AS t, id / 3 AS v FROM generate_series(1, 4000) AS id OFFSET 0) AS s ON s.id = things.k ORDER BY things.id, s.id LIMIT 10');

-- hot pages: the table's, and the build's; loaded at once
SET gpuconc.debug_hot_pages = 1;
SET gpuconc.loader_workers = 0;
UPDATE things SET t = 'new ' || id % 50, n = -n, f4 = id WHERE id % 20 = 3;
UPDATE owners SET name = 'renamed ' || id, town = CASE WHEN id % 2 = 0 THEN 'Nowhere' END WHERE id % 10 = 1;
DELETE FROM things WHERE id % 1000 = 7;
UPDATE parted SET place = 'elsewhere ' || id % 7, amount = amount + 3000 WHERE id % 11 = 2;
SELECT ltrim(regexp_replace(line, '=\d+', '=some', 'g')) AS line FROM plan_of('SELECT * FROM things ORDER BY k, id LIMIT 12', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') AS line WHERE line ~ 'Pages:|Rows:|Fetched' ORDER BY line;
SELECT n, check_late(query) FROM asked ORDER BY n;
-- and rows that only the session sees
BEGIN;
UPDATE things SET t = 'mine ' || id, k = k % 100, big = NULL WHERE id % 40 = 9;
UPDATE owners SET name = 'my ' || id, code = 'me' WHERE id % 10 = 3;
INSERT INTO parted SELECT i, 15, 'my place ' || i, NULL, 5000 + i FROM generate_series(1, 20) AS i;
SELECT n, check_late(query) FROM asked WHERE n IN (1, 2, 5, 6, 8, 9, 11, 12, 15) ORDER BY n;
ROLLBACK;
-- by the session alone
SET gpuconc.debug_versioned_pages = off;
SELECT n, check_late(query) FROM asked WHERE n IN (1, 6, 12, 14) ORDER BY n;
RESET gpuconc.debug_versioned_pages;
RESET gpuconc.debug_hot_pages;
-- not with grouping sets, whose groups are made of others
SELECT rows_of(q, 'require') = rows_of(q, 'forbid') AS same FROM (SELECT 'SELECT owners.id, owners.name, k % 3, GROUPING(k % 3) FROM things JOIN owners ON owners.id = owner GROUP BY owners.id, ROLLUP (k % 3) ORDER BY owners.id, 4, 3 LIMIT 10') AS _(q);
SET client_min_messages = warning;
DROP SCHEMA late CASCADE;
