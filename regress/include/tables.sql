-- Tables of the regression tests, in their three states.
CREATE SCHEMA cached;
CREATE SCHEMA delta;
CREATE SCHEMA mixed;

CREATE DOMAIN public.small_int AS int4 CHECK (VALUE > -1000000);
CREATE DOMAIN public.money_amount AS numeric(12,2);
CREATE DOMAIN public.code_text AS varchar(10);
CREATE DOMAIN public.day AS date;

-- "types": every type, values of modest size, about one NULL in seven.
CREATE TABLE cached.types (
	id int4 PRIMARY KEY,
	b bool, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8,
	n numeric(12,2), nw numeric(30,10), n0 numeric(9,0),
	d date, ts timestamp, tz timestamptz,
	tx text, vc varchar(20), bc char(10),
	di small_int, dn money_amount, dt code_text, dd day,
	nn int4 NOT NULL, nt text NOT NULL
) WITH (autovacuum_enabled = off);
INSERT INTO cached.types
SELECT i,
	CASE WHEN i % 7 <> 1 THEN i % 3 = 0 END,
	CASE WHEN i % 7 <> 2 THEN (i * 31) % 200 - 100 END,
	CASE WHEN i % 7 <> 3 THEN (i * 7919) % 10007 - 5000 END,
	CASE WHEN i % 7 <> 4 THEN (i * 104729::int8) % 1000003 * 10007 - 5000000000 END,
	CASE WHEN i % 7 <> 5 THEN ((i * 37) % 1001 - 500) / 8.0 END,
	CASE WHEN i % 7 <> 6 THEN ((i * 41) % 100003 - 50000) / 64.0 END,
	CASE WHEN i % 7 <> 0 THEN ((i * 7919) % 100003 - 50000) / 100.0 END,
	CASE WHEN i % 7 <> 1 THEN (i * 104729::int8 % 1000003) * 567.0123456789 END,
	CASE WHEN i % 7 <> 2 THEN (i * 17) % 1999 - 999 END,
	CASE WHEN i % 7 <> 3 THEN date '1995-01-01' + (i * 13) % 2500 END,
	CASE WHEN i % 7 <> 4 THEN timestamp '1995-01-01' + (i * 13) % 2500 * interval '1 day 1.000001 sec' END,
	CASE WHEN i % 7 <> 5 THEN timestamptz '1995-01-01 UTC' + (i * 11) % 2500 * interval '7 hours' END,
	CASE WHEN i % 7 <> 6 THEN (ARRAY['', 'a', 'ab', 'Ab', 'äöü', '日本語', 'x%y_z', 'trailing  ', repeat('long', 300)])[1 + i % 9] END,
	CASE WHEN i % 7 <> 0 THEN 'v' || i % 101 END,
	CASE WHEN i % 7 <> 1 THEN (ARRAY['c', 'c ', 'cc', 'd', '', 'é'])[1 + i % 6] END,
	CASE WHEN i % 7 <> 2 THEN i % 50 END,
	CASE WHEN i % 7 <> 3 THEN i % 50 / 4.0 END,
	CASE WHEN i % 7 <> 4 THEN 'd' || i % 11 END,
	CASE WHEN i % 7 <> 5 THEN date '2020-02-27' + i % 10 END,
	i % 17,
	chr(65 + i % 26)
FROM generate_series(1, 3000) AS i;

-- "extremes": each type's ends and special values, alone in a row, then together.
CREATE TABLE cached.extremes (
	id int4,
	i2 int2, i4 int4, i8 int8, f4 float4, f8 float8,
	n numeric(18,4), nw numeric(38,6), d date, ts timestamp, tz timestamptz, tx text, bc char(4),
	one int4 DEFAULT 1
) WITH (autovacuum_enabled = off);
INSERT INTO cached.extremes VALUES
	(1, -32768, -2147483648, -9223372036854775808, '-Infinity', '-Infinity',
		-99999999999999.9999, -99999999999999999999999999999999.999999,
		'-infinity', '-infinity', '-infinity', '', ''),
	(2, 32767, 2147483647, 9223372036854775807, 'Infinity', 'Infinity',
		99999999999999.9999, 99999999999999999999999999999999.999999,
		'infinity', 'infinity', 'infinity', U&'\+01F600', 'abcd'),
	(3, 0, 0, 0, 'NaN', 'NaN', 0, 0, '4713-01-01 BC', '4713-01-01 00:00:00 BC', '4713-01-02 00:00:00+00 BC', ' ', ' '),
	(4, -1, -1, -1, '-0', '-0', -0.0001, -0.000001, '5874897-12-31', '294276-12-31 23:59:59.999999', '294276-12-31 23:59:59.999999+00', 'a ', 'a'),
	(5, 1, 1, 1, 0, 0, 0.0001, 0.000001, '2000-01-01', '2000-01-01 00:00:00', '2000-01-01 00:00:00+00', 'a', 'a '),
	(6, -32767, -2147483647, -9223372036854775807, '1.17549435e-38', '2.2250738585072014e-308',
		1.5, 2.5, '1999-12-31', '1999-12-31 23:59:59.999999', '1999-12-31 23:59:59.999999+00', repeat('x', 3000), 'é'),
	(7, 32766, 2147483646, 9223372036854775806, '3.4028235e+38', '1.7976931348623157e+308',
		-1.5, -2.5, '1582-10-15', '1582-10-15 12:00:00', '1582-10-15 12:00:00+00', 'Z', 'Z'),
	(8, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(9, 100, 100000, 10000000000, '-3.4028235e+38', '-1.7976931348623157e+308',
		12345678901234.5678, 1, '2024-02-29', '2024-02-29 23:59:59.5', '2024-02-29 23:59:59.5+00', E'new\nline', 'q"q'),
	(10, NULL, 7, NULL, 'NaN', NULL, NULL, 7, NULL, '2024-02-29 23:59:59.5', NULL, 'a', NULL);

-- A small star: sales over customers, products, days, and shops below regions.
CREATE TABLE cached.region (r_id int4 PRIMARY KEY, r_name text NOT NULL)
	WITH (autovacuum_enabled = off);
INSERT INTO cached.region SELECT i, 'region ' || i FROM generate_series(1, 5) AS i;
CREATE TABLE cached.shop (s_id int4 PRIMARY KEY, s_region int4, s_name varchar(20), s_open date)
	WITH (autovacuum_enabled = off);
INSERT INTO cached.shop
SELECT i, CASE WHEN i % 10 <> 0 THEN i % 6 END, 'shop ' || i, date '1990-01-01' + i * 40
FROM generate_series(1, 40) AS i;
CREATE TABLE cached.customer (c_id int8 PRIMARY KEY, c_name text, c_city varchar(10), c_region int4, c_code char(6))
	WITH (autovacuum_enabled = off);
INSERT INTO cached.customer
SELECT i, 'customer ' || i, 'city ' || i % 23, i % 5 + 1, 'C' || i % 31
FROM generate_series(1, 500) AS i;
CREATE TABLE cached.product (p_id int4 PRIMARY KEY, p_brand text, p_price numeric(8,2), p_weight float8, p_code char(6))
	WITH (autovacuum_enabled = off);
INSERT INTO cached.product
SELECT i * 7, 'brand ' || i % 20, i * 1.25, i / 8.0, 'C' || i % 37
FROM generate_series(1, 200) AS i;
CREATE TABLE cached.calendar (day date PRIMARY KEY, y int2, m int2, weekend bool)
	WITH (autovacuum_enabled = off);
INSERT INTO cached.calendar
SELECT x, extract(year FROM x), extract(month FROM x), extract(isodow FROM x) > 5
FROM (SELECT date '1994-01-01' + i AS x FROM generate_series(0, 1500) AS i) AS days;
-- Dictionaries in another order and with other values than customer's.
CREATE TABLE cached.city (city text, people int4) WITH (autovacuum_enabled = off);
INSERT INTO cached.city SELECT 'city ' || i % 30, i * 100 FROM generate_series(59, 1, -1) AS i;
CREATE TABLE cached.sales (
	id int4 PRIMARY KEY, customer int4, product int8, shop int2, day date, at timestamp,
	city text, quantity int4, price numeric(10,2), discount numeric(4,3), weight float8, note text)
	WITH (autovacuum_enabled = off);
INSERT INTO cached.sales
SELECT i,
	CASE WHEN i % 97 <> 0 THEN (i * 7919) % 520 + 1 END,
	(i * 31) % 1500, i % 45,
	date '1994-01-01' + (i * 13) % 1600,
	timestamp '1994-01-01' + (i * 13) % 1600 * interval '1 day',
	'city ' || (i * 3) % 29,
	(i * 11) % 50, (i * 104729::int8) % 100000 / 100.0, i % 11 / 100.0, i % 1000 / 16.0,
	CASE WHEN i % 5 <> 0 THEN 'note ' || i % 300 END
FROM generate_series(1, 20000) AS i;

SELECT settle();
VACUUM (FREEZE, ANALYZE) cached.types, cached.extremes, cached.region, cached.shop, cached.customer,
	cached.product, cached.calendar, cached.city, cached.sales;
SELECT copy_states(t, NULL) FROM unnest(ARRAY['types', 'extremes', 'region', 'shop', 'customer',
	'product', 'calendar', 'city', 'sales']) AS t;
SELECT settle();
VACUUM (FREEZE, ANALYZE) mixed.types, mixed.extremes, mixed.region, mixed.shop, mixed.customer,
	mixed.product, mixed.calendar, mixed.city, mixed.sales;
SELECT mix('types', 'id % 2000 < 2'), mix('extremes', 'id = 5'), mix('region', 'r_id = 3'),
	mix('shop', 's_id = 7'), mix('customer', 'c_id % 100 = 0'), mix('product', 'p_id % 700 = 0'),
	mix('calendar', 'm = 12 AND y = 1995'), mix('city', 'people = 500'), mix('sales', 'id % 4000 < 20');
