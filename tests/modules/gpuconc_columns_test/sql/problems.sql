-- Columns that cannot be cached for what is in them, and are again once it is gone.
\pset format unaligned
CREATE TEMP TABLE arena_before AS SELECT used FROM gpuconc_columns_test_arena();

-- Load once more: which pages does that take, and what is wrong then?
CREATE FUNCTION load(t regclass, columns name[] DEFAULT NULL, OUT chunks bigint, OUT pages bigint, OUT problems text)
LANGUAGE plpgsql AS $$
BEGIN
	SELECT l.chunks, l.pages INTO chunks, pages FROM gpuconc_columns_test_load(t, columns) AS l;
	SELECT string_agg(column_name || ': ' || problem, ', ' ORDER BY column_name) INTO problems
	FROM gpuconc_cache WHERE relation = t;
END $$;
-- A retry in vain puts off the next one: try for as long as it takes.
CREATE FUNCTION load_until_good(t regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	problems text;
BEGIN
	FOR i IN 1 .. 1000 LOOP
		SELECT l.problems INTO problems FROM load(t) AS l;
		EXIT WHEN problems IS NULL;
		PERFORM pg_sleep(0.02);
	END LOOP;
	RETURN coalesce(problems, 'good');
END $$;

-- four chunks of eight rows a page
CREATE TABLE odd (id int, n numeric, t text, pad text) WITH (autovacuum_enabled = off);
ALTER TABLE odd ALTER pad SET STORAGE PLAIN;
CREATE FUNCTION refill() RETURNS void LANGUAGE sql AS $$
	TRUNCATE odd;
	INSERT INTO odd SELECT i, 1.5, 'v' || i % 7, repeat('x', 900) FROM generate_series(1, 1000) AS i;
$$;

-- a value that is a problem by itself: not tried again while it is there
SELECT refill();
UPDATE odd SET n = 'NaN' WHERE id = 700;
VACUUM odd;
SELECT * FROM load('odd', '{id,n,t}');
SELECT * FROM load('odd', '{id,n,t}');
-- a VACUUM that finds nothing, and some over changes elsewhere and beside it: after these,
-- chunks are loaded anew for the sake of the other columns
VACUUM odd;
SELECT * FROM load('odd', '{id,n,t}');
UPDATE odd SET id = -id WHERE id = 100;
VACUUM odd;
SELECT problems FROM load('odd', '{id,n,t}');
SELECT * FROM load('odd', '{id,n,t}');
UPDATE odd SET t = 'beside' WHERE n = 'NaN';
VACUUM odd;
SELECT problems FROM load('odd', '{id,n,t}');
SELECT * FROM load('odd', '{id,n,t}');
-- other columns can be had, and are loaded without it
SELECT * FROM gpuconc_columns_test_diff('odd', '{id,t}');
-- gone, but not vacuumed yet; then vacuumed
DELETE FROM odd WHERE n = 'NaN';
SELECT * FROM load('odd', '{id,n,t}');
VACUUM odd;
-- who does not want it does not load it
SELECT problems FROM load('odd', '{id,t}');
SELECT chunks, pages > 100 AS all, problems FROM load('odd', '{id,n,t}');
SELECT * FROM load('odd', '{id,n,t}');
SELECT * FROM gpuconc_columns_test_diff('odd', '{id,n,t}');

-- problems made by UPDATE, with values of all kinds, two at a time on pages far apart
CREATE FUNCTION try_values(value text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM refill();
	EXECUTE format('UPDATE odd SET %s WHERE id IN (200, 900)', value);
END $$;
SELECT try_values($$n = 'Infinity'$$);
VACUUM odd;
SELECT problems FROM load('odd');
UPDATE odd SET n = 2.5 WHERE id = 200;
VACUUM odd;
SELECT problems FROM load('odd');
SELECT problems, chunks = 0 AS none FROM load('odd');
UPDATE odd SET n = 2.5 WHERE id = 900;
VACUUM odd;
SELECT problems FROM load('odd');
SELECT * FROM gpuconc_columns_test_diff('odd');
SELECT try_values('n = 12345678901234567890e20 + 0.5');
VACUUM odd;
SELECT problems FROM load('odd');
DELETE FROM odd WHERE n > 1e15;
VACUUM odd;
SELECT problems FROM load('odd');
SELECT * FROM gpuconc_columns_test_diff('odd');
SELECT try_values($$t = repeat('long', 20000)$$);
VACUUM odd;
SELECT problems FROM load('odd');
SELECT problems, chunks = 0 AS none FROM load('odd');
UPDATE odd SET t = 'short' WHERE length(t) > 70000;
VACUUM odd;
SELECT problems FROM load('odd');
SELECT * FROM gpuconc_columns_test_diff('odd');

-- no more is read for a column once it has a problem
TRUNCATE odd;
INSERT INTO odd SELECT i, CASE WHEN i = 1 THEN 'NaN' ELSE 1.5 END, 'v', repeat('x', 900) FROM generate_series(1, 1000) AS i;
VACUUM odd;
SELECT * FROM load('odd', '{id}');
SELECT * FROM load('odd', '{n}');
SELECT * FROM gpuconc_columns_test_diff('odd', '{id}');

-- at the end of the table, which is cut off
SELECT refill();
INSERT INTO odd SELECT i, 'NaN', 'v', repeat('x', 900) FROM generate_series(1001, 1800) AS i;
VACUUM odd;
SELECT problems FROM load('odd');
DELETE FROM odd WHERE id > 1000;
VACUUM odd;
SELECT pg_relation_size('odd') / 8192 AS blocks, problems FROM load('odd');
SELECT * FROM gpuconc_columns_test_diff('odd');

-- scales that differ, with too many digits: within a chunk, and from chunk to chunk
SELECT refill();
UPDATE odd SET n = 1e-32 WHERE id = 500;
VACUUM odd;
SELECT problems FROM load('odd');
SELECT problems, chunks = 0 AS none FROM load('odd');
UPDATE odd SET n = 2.5 WHERE id = 500;
VACUUM odd;
SELECT problems FROM load('odd');
SELECT * FROM gpuconc_columns_test_diff('odd');
SELECT refill();
UPDATE odd SET n = CASE WHEN id BETWEEN 300 AND 307 THEN 1e-30 END;
UPDATE odd SET n = 1e15 WHERE id BETWEEN 900 AND 907;
VACUUM odd;
SELECT problems FROM load('odd');
SELECT problems, chunks = 0 AS none FROM load('odd');
DELETE FROM odd WHERE id BETWEEN 900 AND 907;
VACUUM odd;
SELECT problems FROM load('odd');
SELECT * FROM gpuconc_columns_test_diff('odd');
-- the offending value stays, while others change: tried once for each VACUUM at most
SELECT refill();
UPDATE odd SET n = 1e-32 WHERE id = 500;
VACUUM odd;
SELECT problems FROM load('odd');
UPDATE odd SET id = -id WHERE id = 100;
VACUUM odd;
SELECT problems FROM load('odd');
SELECT * FROM load('odd');
UPDATE odd SET n = 2.5 WHERE id = 500;
VACUUM odd;
SELECT load_until_good('odd');
SELECT * FROM gpuconc_columns_test_diff('odd');
-- with few digits they are no problem
SELECT refill();
UPDATE odd SET n = 1.50 WHERE id = 500;
VACUUM odd;
SELECT problems FROM load('odd');
SELECT * FROM gpuconc_columns_test_diff('odd');

-- a column that was cached, then not, and is again
SELECT refill();
VACUUM odd;
SELECT problems FROM load('odd');
UPDATE odd SET n = 'NaN' WHERE id % 5 = 0;
VACUUM odd;
SELECT problems FROM load('odd');
UPDATE odd SET n = 0.5 WHERE n = 'NaN';
VACUUM odd;
SELECT problems FROM load('odd');
SELECT * FROM gpuconc_columns_test_diff('odd');

-- met in the delta alone: the cached column stays as it is
UPDATE odd SET n = 'NaN' WHERE id = 5;
SELECT count(*) FROM gpuconc_columns_test_scan('odd', '{n}');
SELECT problems FROM load('odd');
UPDATE odd SET n = 1e-32 WHERE id = 5;
SELECT count(*) FROM gpuconc_columns_test_scan('odd', '{n}');
SELECT problems FROM load('odd');
UPDATE odd SET n = 0.5 WHERE id = 5;
SELECT * FROM gpuconc_columns_test_diff('odd');
VACUUM odd;
SELECT * FROM gpuconc_columns_test_diff('odd');

-- all values change their scale; one chunk is read anew, of the other the cache has old ones
TRUNCATE odd;
INSERT INTO odd SELECT i, CASE WHEN i <= 8 OR i > 600 THEN 1.5 END, 'v', repeat('x', 900) FROM generate_series(1, 1000) AS i;
VACUUM odd;
SELECT problems FROM load('odd');
UPDATE odd SET n = 1.50 WHERE n IS NOT NULL;
VACUUM odd;
SELECT problems FROM load('odd');
SELECT * FROM gpuconc_columns_test_diff('odd');
UPDATE odd SET n = 1e-32 WHERE n IS NOT NULL;
VACUUM odd;
SELECT problems FROM load('odd');
SELECT load_until_good('odd');
SELECT * FROM gpuconc_columns_test_diff('odd');

-- too many distinct values; and few, with a dictionary full of those that were
CREATE TABLE many (id int, t text) WITH (autovacuum_enabled = off);
INSERT INTO many SELECT i, repeat(md5(i::text), 10) FROM generate_series(1, 60000) AS i;
VACUUM many;
SELECT problems FROM load('many');
SELECT problems, chunks = 0 AS none FROM load('many');
DELETE FROM many WHERE id > 20000;
VACUUM many;
SELECT problems FROM load('many');
SELECT * FROM gpuconc_columns_test_diff('many');
UPDATE many SET t = repeat(md5(id::text), 9) || 'x';
VACUUM many;
SELECT problems FROM load('many');
UPDATE many SET t = repeat(md5(id::text), 9) || 'y';
VACUUM many;
SELECT problems FROM load('many');
SELECT load_until_good('many');
SELECT * FROM gpuconc_columns_test_diff('many');

DROP TABLE odd, many;
DROP FUNCTION load, load_until_good, refill, try_values;
SELECT a.used = b.used AS all_given_back FROM gpuconc_columns_test_arena() AS a, arena_before AS b;
