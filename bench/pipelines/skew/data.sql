-- Tables for the queries beside this file.  psql -v orders=3000000 -f data.sql; twelve lines of each order lie together.
--
-- Skew is that of JCC-H's kind: customers and parts by a power of a number that is drawn evenly, so that few of them have
-- most orders and lines.  Numbers are drawn by hash functions, so that each run has the same.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
DROP TABLE IF EXISTS skew_line, skew_order, skew_customer, skew_part;

CREATE TABLE skew_customer AS
	SELECT i * 1000003::bigint AS k, abs(hashint4(i)) % 10 AS segment FROM generate_series(0, :orders / 2) i;
CREATE TABLE skew_part AS
	SELECT i * 1000003::bigint AS k, abs(hashint4(i + 1)) % 10 AS kind FROM generate_series(0, :orders) i;
CREATE TABLE skew_order AS
	SELECT i AS o, (power((hashint4(i) & 1048575) / 1048576.0::float8, 3) * (:orders / 2))::int AS c,
		abs(hashint4(i + 7)) % 50 AS day
	FROM generate_series(0, :orders - 1) i;
CREATE TABLE skew_line AS
	SELECT i / 12 AS o, (power((hashint4(i) & 1048575) / 1048576.0::float8, 4) * :orders)::int AS p,
		abs(hashint4(i + 3)) % 10000 AS s, abs(hashint4(i + 5)) % 1000 AS v
	FROM generate_series(0, 12 * :orders - 1) i;
ALTER TABLE skew_customer ADD PRIMARY KEY (k);
ALTER TABLE skew_part ADD PRIMARY KEY (k);
ALTER TABLE skew_order ADD PRIMARY KEY (o);
VACUUM (ANALYZE) skew_customer, skew_part, skew_order, skew_line;
