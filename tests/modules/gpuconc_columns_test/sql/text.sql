-- Dictionaries: few and many values, growth, blank padding, TOAST.
\pset format unaligned
CREATE TEMP TABLE arena_before AS SELECT used FROM gpuconc_columns_test_arena();

CREATE TABLE words (id int, few text, many varchar, padded char(12));
INSERT INTO words SELECT i, 'w' || i % 7, md5(i::text) || i, 'p' || i % 50 FROM generate_series(1, 20000) AS i;
VACUUM words;
SELECT * FROM gpuconc_columns_test_diff('words');
SELECT complete FROM gpuconc_columns_test_served('words');
SELECT column_name, encoding FROM gpuconc_cache WHERE relation = 'words'::regclass ORDER BY 1;

-- new values in the delta, then in the cache
INSERT INTO words SELECT i, 'new' || i % 3, 'many' || i, 'n' FROM generate_series(20001, 20100) AS i;
SELECT * FROM gpuconc_columns_test_diff('words');
VACUUM words;
SELECT * FROM gpuconc_columns_test_diff('words');
SELECT complete FROM gpuconc_columns_test_served('words');

-- blank-padded: trailing blanks do not count, others do
CREATE TABLE blanks (c char(6), t text, d char(300));
INSERT INTO blanks VALUES ('a', 'a', 'a'), ('a  ', 'a  ', 'a  '), (' a', ' a', ' a'), ('', '', ''), ('  ', '  ', '  '),
	('äöüßé', 'äöüßé', repeat('é', 300)), (NULL, NULL, NULL);
VACUUM blanks;
SELECT * FROM gpuconc_columns_test_diff('blanks');
SELECT gpuconc_columns_test_scan('blanks', '{c,t}') ORDER BY 1;

-- compressed and external values, short and long headers
CREATE TABLE toasted (id int, compressed text, external text, main text);
ALTER TABLE toasted ALTER external SET STORAGE EXTERNAL;
INSERT INTO toasted
SELECT i, repeat('abc' || i % 5, 5000), repeat(md5(i::text), 200), repeat('m', i * 40)
FROM generate_series(1, 60) AS i;
INSERT INTO toasted SELECT i, 'short', NULL, repeat('s', 126) FROM generate_series(61, 70) AS i;
VACUUM toasted;
SELECT pg_relation_size(reltoastrelid) > 0 AS has_toast FROM pg_class WHERE relname = 'toasted';
SELECT * FROM gpuconc_columns_test_diff('toasted');
SELECT complete FROM gpuconc_columns_test_served('toasted');
-- and through the delta
UPDATE toasted SET id = -id WHERE id % 2 = 0;
SELECT * FROM gpuconc_columns_test_diff('toasted');

-- too long for a dictionary, whether compressed or not
CREATE TABLE too_long (id int, compressed text, external text, just_fits text);
ALTER TABLE too_long ALTER external SET STORAGE EXTERNAL;
INSERT INTO too_long VALUES (1, repeat('x', 65537), repeat('y', 65537), repeat('z', 65536));
VACUUM too_long;
SELECT * FROM gpuconc_columns_test_load('too_long');
SELECT column_name, encoding, problem FROM gpuconc_cache WHERE relation = 'too_long'::regclass ORDER BY 1;
SELECT * FROM gpuconc_columns_test_diff('too_long', '{id,just_fits}');

-- a dictionary and its successor may take half of the cache, no more
CREATE TABLE too_many (id int, t text);
INSERT INTO too_many SELECT i, repeat(md5(i::text), 10) FROM generate_series(1, 60000) AS i;
VACUUM too_many;
SELECT code, detail FROM gpuconc_columns_test_load('too_many');
SELECT column_name, encoding, problem FROM gpuconc_cache WHERE relation = 'too_many'::regclass ORDER BY 1;
SELECT * FROM gpuconc_columns_test_diff('too_many', '{id}');

DROP TABLE words, blanks, toasted, too_long, too_many;
SELECT a.used = b.used AS all_given_back FROM gpuconc_columns_test_arena() AS a, arena_before AS b;
