-- numeric as integers: conversions, scales, and what cannot be cached.
\pset format unaligned
CREATE TEMP TABLE arena_before AS SELECT used FROM gpuconc_columns_test_arena();

-- there and back; the scale is kept, too
SELECT n, gpuconc_columns_test_numeric(n) FROM (VALUES
	(0::numeric), (0.000), (1), (-1), (0.1), (0.10), (-0.0001), (10000), (99999999), (100000000),
	(12345678.9012), (0.00000001), (123456789012345678), (9223372036854775807),
	(-9223372036854775808), (9223372036854775808), (1e20), (1.5e-20),
	(170141183460469231731687303715884105727), (-170141183460469231731687303715884105727),
	(170141183460469231731687303715884105728), (1e37), (1e38), (2e38), (1e39),
	('NaN'), ('Infinity'), ('-Infinity'), (1e1000), (1e-1000), (1e-40),
	(0.00000000000000000000000000000000000001), (5000), (0.5000), (50.05), (10000.0001)) AS v(n);

-- random values of all sizes and scales
SELECT count(*) AS differ FROM (
	SELECT ((i * 7919::numeric ^ (i % 9)) % 10::numeric ^ 30)::numeric(38, 0) AS m, i % 12 AS s
	FROM generate_series(1, 5000) AS i) AS x,
	LATERAL (SELECT round(m / 10::numeric ^ s, s) AS n) AS y
WHERE gpuconc_columns_test_numeric(n)::text IS DISTINCT FROM n::text
	OR gpuconc_columns_test_numeric(-n)::text IS DISTINCT FROM (-n)::text;

-- a column of one scale, whether declared or not
CREATE TABLE one_scale (declared numeric(14, 4), free numeric, whole numeric);
INSERT INTO one_scale SELECT i * 1.0001, (i * 0.01)::numeric(10, 2), i FROM generate_series(-5000, 5000) AS i;
VACUUM one_scale;
SELECT * FROM gpuconc_columns_test_diff('one_scale');
SELECT complete FROM gpuconc_columns_test_served('one_scale');
SELECT column_name, encoding FROM gpuconc_cache WHERE relation = 'one_scale'::regclass ORDER BY 1;

-- scales that differ, with too many digits: within a chunk, and from chunk to chunk
CREATE TABLE scales (id int, n numeric);
INSERT INTO scales SELECT i, CASE WHEN i = 100 THEN 1e-30 ELSE i * 1e12 END FROM generate_series(1, 200) AS i;
VACUUM scales;
SELECT * FROM gpuconc_columns_test_load('scales');
SELECT column_name, encoding, problem FROM gpuconc_cache WHERE relation = 'scales'::regclass ORDER BY 1;
SELECT * FROM gpuconc_columns_test_scan('scales') LIMIT 1;
SELECT * FROM gpuconc_columns_test_diff('scales', '{id}');

TRUNCATE scales;
INSERT INTO scales SELECT i, CASE WHEN i > 15000 THEN 1e-30 ELSE i * 1e12 END FROM generate_series(1, 20000) AS i;
VACUUM scales;
SELECT code, detail, chunks > 2 AS several FROM gpuconc_columns_test_load('scales');
SELECT column_name, encoding, problem FROM gpuconc_cache WHERE relation = 'scales'::regclass ORDER BY 1;
SELECT * FROM gpuconc_columns_test_diff('scales', '{id}');

-- a problem that is there already does not keep others from being added
ALTER TABLE scales ADD COLUMN more int DEFAULT 7;
SELECT * FROM gpuconc_columns_test_diff('scales', '{more,id}');
SELECT column_name, problem FROM gpuconc_cache WHERE relation = 'scales'::regclass ORDER BY 1;

-- in the delta
CREATE TABLE late_scale (n numeric);
INSERT INTO late_scale SELECT i * 1e12 FROM generate_series(1, 100) AS i;
VACUUM late_scale;
SELECT * FROM gpuconc_columns_test_diff('late_scale');
INSERT INTO late_scale VALUES (5), (1e-32);
SELECT * FROM gpuconc_columns_test_scan('late_scale') LIMIT 1;

-- out of range
CREATE TABLE ranges (nan numeric, inf numeric, big numeric, ok numeric);
INSERT INTO ranges VALUES ('NaN', 'Infinity', 1e39, 1e18);
VACUUM ranges;
SELECT * FROM gpuconc_columns_test_load('ranges');
SELECT column_name, encoding, problem FROM gpuconc_cache WHERE relation = 'ranges'::regclass ORDER BY 1;
SELECT * FROM gpuconc_columns_test_diff('ranges', '{ok}');

DROP TABLE one_scale, scales, late_scale, ranges;
SELECT a.used = b.used AS all_given_back FROM gpuconc_columns_test_arena() AS a, arena_before AS b;
