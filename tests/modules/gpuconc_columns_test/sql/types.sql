-- Every kind of column: NULLs, extremes, and what the encodings make of them.
\pset format unaligned
CREATE EXTENSION gpuconc_columns_test CASCADE;
-- the worker takes some memory for itself when it starts
DO $$
BEGIN
	WHILE (SELECT state = 'starting' FROM gpuconc_devices) LOOP
		PERFORM pg_sleep(0.01);
	END LOOP;
END
$$;
CREATE TEMP TABLE arena_before AS SELECT used FROM gpuconc_columns_test_arena();

CREATE TABLE kinds (
	id int,
	b bool, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8,
	n numeric(12, 3), d date, ts timestamp, tz timestamptz,
	t text, v varchar(20), c char(8));

-- extremes
INSERT INTO kinds VALUES
	(1, true, -32768, -2147483648, -9223372036854775808, '-infinity', '-infinity',
	 -999999999.999, '-infinity', '-infinity', '-infinity', '', '', ''),
	(2, false, 32767, 2147483647, 9223372036854775807, 'infinity', 'infinity',
	 999999999.999, 'infinity', 'infinity', 'infinity', repeat('x', 1000), 'y', 'z'),
	(3, NULL, 0, 0, 0, 'NaN', 'NaN', 0, '4713-01-01 BC', '4713-01-01 00:00:00 BC',
	 '4713-01-02 00:00:00+00 BC', 'äöü €', 'ß', 'é'),
	(4, NULL, 1, 1, 1, '-0', '-0', -0.001, '5874897-12-31', '294276-12-31 23:59:59.999999',
	 '294276-12-31 23:59:59.999999+00', ' leading', 'trailing  ', 'blank  '),
	(5, NULL, -1, -1, -1, '1.17549435e-38', '2.2250738585072014e-308', 0.001, '2000-01-01',
	 '2000-01-01', '2000-01-01 00:00:00+00', E'a\nb\tc', '%_\\', 'a b'),
	(6, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
VACUUM kinds;
SELECT * FROM gpuconc_columns_test_diff('kinds');
SELECT complete, served, delta FROM gpuconc_columns_test_served('kinds');
SELECT column_name, encoding, chunks, rows, pages_cached, pages_served, problem FROM gpuconc_cache
WHERE relation = 'kinds'::regclass ORDER BY 1;

-- many rows, narrow and wide ranges, many NULLs
INSERT INTO kinds
SELECT i, i % 3 = 0, i % 200, i * 7919, i * 104729::bigint, i / 3.0, i / 7.0,
	i / 11.0, '1992-01-01'::date + i % 3000, '1992-01-01'::timestamp + i * interval '1 hour 1 us',
	'1992-01-01 00:00:00+00'::timestamptz + i * interval '17 min',
	CASE WHEN i % 5 <> 0 THEN 'text ' || i % 100 END, 'v' || i, 'c' || i % 10
FROM generate_series(7, 6000) AS i;
UPDATE kinds SET i4 = NULL, t = NULL, n = NULL WHERE id % 7 = 0;
SELECT * FROM gpuconc_columns_test_diff('kinds');
VACUUM kinds;
SELECT * FROM gpuconc_columns_test_diff('kinds');
SELECT complete, delta FROM gpuconc_columns_test_served('kinds');

-- each column alone, in an order of its own
SELECT gpuconc_evict('kinds') > 0 AS evicted;
SELECT attname, missing, extra
FROM pg_attribute, gpuconc_columns_test_diff('kinds', ARRAY[attname])
WHERE attrelid = 'kinds'::regclass AND attnum > 0 ORDER BY attname DESC;
SELECT count(*), sum(rows) / count(*) AS rows FROM gpuconc_cache WHERE relation = 'kinds'::regclass;
SELECT * FROM gpuconc_columns_test_diff('kinds');

-- widths: one chunk each
CREATE TABLE widths (w1 int, w2 int, w4 int, w8 int8, n1 int, base0 int);
INSERT INTO widths SELECT 1000000 + i % 256, -1000000 + i % 65536, i * 65537, i * 4294967296,
	CASE WHEN i % 2 = 0 THEN i % 100 END, i % 256 FROM generate_series(0, 300) AS i;
VACUUM widths;
SELECT * FROM gpuconc_columns_test_diff('widths');
SELECT column_name, encoding FROM gpuconc_cache WHERE relation = 'widths'::regclass ORDER BY 1;

-- nothing but NULL
CREATE TABLE nulls (b bool, i int, n numeric, f float8, t text, c char(3));
INSERT INTO nulls SELECT FROM generate_series(1, 500);
VACUUM nulls;
SELECT * FROM gpuconc_columns_test_diff('nulls');
SELECT complete FROM gpuconc_columns_test_served('nulls');
SELECT column_name, encoding, rows FROM gpuconc_cache WHERE relation = 'nulls'::regclass ORDER BY 1;

-- domains are looked through, also over other domains and with a length
CREATE DOMAIN posint AS int CHECK (VALUE > 0);
CREATE DOMAIN code AS char(5);
CREATE DOMAIN code2 AS code NOT NULL;
CREATE DOMAIN money2 AS numeric(10, 2);
CREATE TABLE domains (p posint, c code2, m money2);
INSERT INTO domains SELECT i, 'x' || i, i / 4.0 FROM generate_series(1, 100) AS i;
VACUUM domains;
SELECT * FROM gpuconc_columns_test_diff('domains');
SELECT complete FROM gpuconc_columns_test_served('domains');

-- small types, as integers in their order; the ends of each
CREATE TABLE small (n name, m money, t timetz, a macaddr, b macaddr8, l pg_lsn);
INSERT INTO small VALUES
	('', '-92233720368547758.08', '00:00+15:59:59', '00:00:00:00:00:00', '00:00:00:00:00:00:00:00', '0/0'),
	(repeat('n', 63), '92233720368547758.07', '24:00-15:59:59', 'ff:ff:ff:ff:ff:ff', 'ff:ff:ff:ff:ff:ff:ff:ff', 'FFFFFFFF/FFFFFFFF'),
	('ä', '0', '24:00+15:59:59', '80:00:00:00:00:00', '80:00:00:00:00:00:00:00', '80000000/0'),
	(' ', '-0.01', '00:00-15:59:59', '7f:ff:ff:ff:ff:ff', '7f:ff:ff:ff:ff:ff:ff:ff', '7FFFFFFF/FFFFFFFF'),
	(NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO small SELECT 'n' || i % 10, i::money, time '00:00' + i * interval '1 second', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05', '16/B374D848'
FROM generate_series(1, 300) AS i;
VACUUM small;
SELECT * FROM gpuconc_columns_test_diff('small');
SELECT complete, served, delta FROM gpuconc_columns_test_served('small');
SELECT column_name, encoding, rows, problem FROM gpuconc_cache WHERE relation = 'small'::regclass ORDER BY 1;

-- what is refused, and why
CREATE COLLATION nd (provider = libc, locale = 'C');
SET allow_system_table_mods = on;
-- only ICU can make one, and not every server is built with it
UPDATE pg_collation SET collisdeterministic = false WHERE collname = 'nd';
RESET allow_system_table_mods;
CREATE TABLE refused (
	a lseg, b varbit, c bpchar, d box, e circle, f point, g xid8, h money[], i name COLLATE nd, j text COLLATE nd,
	gone int, k int GENERATED ALWAYS AS (1 + 1) STORED);
ALTER TABLE refused DROP COLUMN gone;
SELECT attname, gpuconc_columns_test_reason('refused', attname)
FROM pg_attribute WHERE attrelid = 'refused'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum;
SELECT gpuconc_columns_test_reason('refused', 'ctid');
SELECT * FROM gpuconc_columns_test_load('refused', '{a}');
-- prewarm takes what it can
INSERT INTO refused (b, j) VALUES ('1', 'x');
VACUUM refused;
SELECT gpuconc_prewarm('refused');
SELECT column_name FROM gpuconc_cache WHERE relation = 'refused'::regclass ORDER BY 1;

DROP TABLE kinds, widths, nulls, domains, small, refused;
DROP COLLATION nd;
DROP DOMAIN posint, code2, code, money2;
SELECT a.used = b.used AS all_given_back FROM gpuconc_columns_test_arena() AS a, arena_before AS b;
