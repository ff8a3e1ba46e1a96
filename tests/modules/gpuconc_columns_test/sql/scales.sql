-- numeric columns whose values differ in display scale.
\pset format unaligned
CREATE TEMP TABLE arena_before AS SELECT used FROM gpuconc_columns_test_arena();

-- The cached data of column n, and whether rows come back as they are: the text has the scale.
CREATE FUNCTION look(t regclass, OUT encoding text, OUT problem text, OUT complete bool, OUT missing bigint, OUT extra bigint)
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM gpuconc_columns_test_load(t);
	SELECT c.encoding, c.problem INTO encoding, problem FROM gpuconc_cache AS c
	WHERE c.relation = t AND c.column_name = 'n';
	IF problem IS NULL THEN
		SELECT d.missing, d.extra INTO missing, extra FROM gpuconc_columns_test_diff(t) AS d;
		SELECT s.complete INTO complete FROM gpuconc_columns_test_served(t) AS s;
	END IF;
END $$;

-- Four chunks of eight rows a page, the values of which are an expression's over i.
CREATE TABLE odd (id int, n numeric, pad text) WITH (autovacuum_enabled = off);
ALTER TABLE odd ALTER pad SET STORAGE PLAIN;
CREATE FUNCTION fill(value text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE odd;
	EXECUTE format('INSERT INTO odd SELECT i, %s, repeat(''x'', 900) FROM generate_series(1, 1000) AS i', value);
END $$;
\set show 'VACUUM odd; SELECT * FROM look(''odd'');'

-- chunks of one scale, of another, and of several
SELECT fill('CASE WHEN i > 500 THEN i * 0.001 ELSE i END') \gset
:show
SELECT fill('CASE WHEN i > 700 THEN round(i / 7::numeric, i % 6) WHEN i > 300 THEN i * 0.01 ELSE i END') \gset
:show
SELECT fill('CASE WHEN i < 300 THEN round(i / 7::numeric, i % 6) ELSE i END') \gset
:show
SELECT fill('round((i - 500) / 7::numeric, i % 6)') \gset
:show
-- the first value of a chunk, the last, and one in the middle
SELECT fill('CASE WHEN i % 250 = 1 THEN 0.5 ELSE -i END') \gset
:show
SELECT fill('CASE i WHEN 1000 THEN 0.50 ELSE -i END') \gset
:show
SELECT fill('CASE i WHEN 63 THEN -1.23456 ELSE i * 0.1 END') \gset
:show
-- zeros; equal values in all scales
SELECT fill('CASE i % 3 WHEN 0 THEN 0 WHEN 1 THEN 0.00 ELSE 0.0 END') \gset
:show
SELECT fill('round(-1::numeric, i % 18)') \gset
:show
SELECT fill('CASE WHEN i % 2 = 0 THEN 0 ELSE 0.0000000000000000000000000000000 END') \gset
:show
-- NULLs: before the values, between them, a chunk of nothing else, and of one value
SELECT fill('CASE WHEN i > 40 AND i % 5 > 0 THEN round(i / 3::numeric, i % 4) END') \gset
:show
SELECT fill('CASE WHEN i < 30 THEN 1.5 WHEN i = 900 THEN -7 END') \gset
:show
SELECT fill('CASE i WHEN 400 THEN 2.25 END') \gset
:show
SELECT fill('CASE i WHEN 1 THEN 2.25 WHEN 1000 THEN 2.250 END') \gset
:show
SELECT fill('NULL::numeric') \gset
:show

-- the limits: values below 2^58 at the largest scale, of which there are 32
SELECT fill('CASE i % 2 WHEN 1 THEN 28823037615171174.3 ELSE -28823037615171174 END') \gset
:show
SELECT fill('CASE i % 2 WHEN 1 THEN 28823037615171174.3 ELSE -28823037615171175 END') \gset
:show
SELECT fill('CASE i % 2 WHEN 1 THEN 28823037615171174.4 ELSE 1 END') \gset
:show
SELECT fill('CASE i % 2 WHEN 1 THEN -28823037615171174.3 ELSE 1 END') \gset
:show
SELECT fill('CASE i % 2 WHEN 1 THEN -28823037615171174.4 ELSE 1 END') \gset
:show
SELECT fill('CASE WHEN i > 500 THEN 28823037615171174.3 ELSE 28823037615171174 END') \gset
:show
SELECT fill('CASE WHEN i > 500 THEN 28823037615171174.3 ELSE 28823037615171175 END') \gset
:show
SELECT fill('CASE i % 2 WHEN 1 THEN 1e-31 ELSE 0 END') \gset
:show
SELECT fill('CASE i % 2 WHEN 1 THEN 1e-32 ELSE 0 END') \gset
:show
SELECT fill('CASE WHEN i > 500 THEN 1e-32 ELSE 0 END') \gset
:show
SELECT fill('1e-32') \gset
:show
SELECT fill('CASE i % 2 WHEN 1 THEN 1e-17 ELSE 2 END') \gset
:show
SELECT fill('CASE i % 2 WHEN 1 THEN 1e-17 ELSE 3 END') \gset
:show
-- the limits of 128 bits: values below 2^122, and those beyond 64 bits in some chunks only
SELECT fill('CASE i % 2 WHEN 1 THEN 531691198313966349161522824112137830.3 ELSE -531691198313966349161522824112137830 END') \gset
:show
SELECT fill('CASE i % 2 WHEN 1 THEN 531691198313966349161522824112137830.4 ELSE 1 END') \gset
:show
SELECT fill('CASE i % 2 WHEN 1 THEN -531691198313966349161522824112137830.3 ELSE 1 END') \gset
:show
SELECT fill('CASE i % 2 WHEN 1 THEN -531691198313966349161522824112137830.4 ELSE 1 END') \gset
:show
SELECT fill('CASE WHEN i > 500 THEN i / 3.0 WHEN i > 300 THEN NULL ELSE i END') \gset
:show
SELECT fill('CASE i WHEN 700 THEN 1234567890123456789012.5 WHEN 701 THEN -1e25 ELSE i * 0.5 END') \gset
:show
SELECT fill('CASE i % 2 WHEN 1 THEN 170141183460469231731687303715884105727 ELSE -170141183460469231731687303715884105727 END') \gset
:show
SELECT fill('170141183460469231731687303715884105728') \gset
:show
-- values of one scale may have more digits than that
SELECT fill('CASE i % 2 WHEN 1 THEN 9223372036854775807 ELSE -9223372036854775808 END') \gset
:show

-- random values of all sizes and scales
SELECT fill('round(((i * 7919::numeric ^ (i % 5)) % 10::numeric ^ 9 - 5e8) / 10::numeric ^ (i % 9), i % 9)') \gset
:show

-- the delta has another scale, or several
SELECT fill('i') \gset
:show
INSERT INTO odd VALUES (1001, 0.25, 'x');
SELECT * FROM look('odd');
INSERT INTO odd VALUES (1002, NULL, 'x'), (1003, 1.0, 'x'), (1004, -5, 'x'), (1005, NULL, 'x');
SELECT * FROM look('odd');
:show
-- updates bring a new scale, and take it away
UPDATE odd SET n = n + 0.0005 WHERE id % 100 = 7;
SELECT * FROM look('odd');
:show
UPDATE odd SET n = id WHERE id % 100 = 7 OR id > 1000;
:show
UPDATE odd SET n = 1.50;
:show
-- deletions
UPDATE odd SET n = round(id / 3::numeric, id % 5);
VACUUM odd;
DELETE FROM odd WHERE id % 3 = 0;
SELECT * FROM look('odd');
:show

-- hot chunks, in which pages that have not changed are kept; an error if rows differ
SET gpuconc.debug_hot_pages = 1;
\set hot 'CALL gpuconc_columns_test_compare(''odd'', 100); SELECT encoding, problem FROM gpuconc_cache WHERE relation = ''odd''::regclass AND column_name = ''n'';'
SELECT fill('CASE WHEN i % 3 > 0 THEN i END') \gset
:hot
UPDATE odd SET n = 0.25 WHERE id = 200;
:hot
UPDATE odd SET n = -1.125 WHERE id IN (5, 600, 601);
:hot
UPDATE odd SET n = NULL WHERE id < 50;
:hot
SELECT fill('round(i / 7::numeric, i % 4)') \gset
:hot
UPDATE odd SET n = 7 WHERE id % 100 = 9;
:hot
SELECT fill('CASE WHEN i > 990 THEN 7 END') \gset
:hot
UPDATE odd SET n = 2.50 WHERE id = 3;
:hot
UPDATE odd SET n = CASE WHEN id <= 500 THEN 0.5 ELSE 0.125 END WHERE id IN (4, 996);
:hot
-- values that cannot be tagged beside those of other pages: their page is given up
SELECT fill('i') \gset
:hot
INSERT INTO odd SELECT 2000 + i, 1e-32, repeat('y', 900) FROM generate_series(1, 8) AS i;
:hot
RESET gpuconc.debug_hot_pages;

-- beside columns of other types, and several of its kind
CREATE TABLE many (id int, n numeric, m numeric, d numeric(12, 2), f float8, t text);
INSERT INTO many SELECT i, round(i / 7::numeric, i % 3), CASE WHEN i % 9 > 0 THEN round(-i / 11::numeric, 7 - i % 8) END, i * 0.25, i * 0.5, 't' || i % 20
FROM generate_series(1, 20000) AS i;
VACUUM many;
SELECT * FROM gpuconc_columns_test_diff('many');
SELECT column_name, regexp_replace(encoding, ' [0-9, ]*bytes?$', '') AS encoding FROM gpuconc_cache
WHERE relation = 'many'::regclass ORDER BY 1;

DROP TABLE odd, many;
DROP FUNCTION look, fill;
SELECT a.used = b.used AS all_given_back FROM gpuconc_columns_test_arena() AS a, arena_before AS b;
