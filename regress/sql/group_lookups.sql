-- Functions of what groups have as columns: keys, extremes.  PostgreSQL computes such a function of all values that
-- the column may have, so these must be known: a key's are those of the column that it groups by.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- a key, where groups are joined, in each place that an expression may stand in
SELECT check_same('SELECT extract(week FROM s.d)::int4, count(*) FROM types t LEFT JOIN (SELECT DISTINCT i4 % 50 AS k, d FROM types) s ON s.k = t.nn GROUP BY 1');
SELECT check_same('SELECT t.id, extract(week FROM s.dd)::int4 FROM types t JOIN (SELECT DISTINCT nn, dd FROM types) s ON s.nn = t.id');
SELECT check_same('SELECT count(*) FROM types t LEFT JOIN (SELECT DISTINCT dd, di FROM types) s ON s.di = t.id WHERE extract(week FROM s.dd)::int4 IS DISTINCT FROM t.nn');
SELECT check_same('SELECT sum(extract(week FROM s.dd)::int4 * t.nn) FROM types t FULL JOIN (SELECT DISTINCT dd, di FROM types) s ON s.di = t.id');
SELECT check_same('SELECT t.nn, max(extract(week FROM s.dd)::int4) FROM types t RIGHT JOIN (SELECT DISTINCT dd, di FROM types) s ON s.di = t.id GROUP BY t.nn');
-- ... where groups are scanned
SELECT check_same('SELECT extract(week FROM d)::int4, count(*) FROM (SELECT DISTINCT d FROM types) s GROUP BY 1');
SELECT check_same('SELECT count(*) FROM (SELECT d, count(*) FROM types GROUP BY d OFFSET 0) s WHERE extract(week FROM d)::int4 = 7');
-- ... of groups of groups
SELECT check_same('SELECT extract(week FROM d)::int4, count(*) FROM (SELECT d, n % 3 AS m FROM (SELECT d, nn, count(*) AS n FROM types GROUP BY d, nn) g GROUP BY d, n % 3) s GROUP BY 1');
-- other kinds of keys
SELECT check_same('SELECT to_hex(s.i2::int4), count(*) FROM types t JOIN (SELECT DISTINCT i2, nn FROM types) s ON s.nn = t.id GROUP BY 1');
SELECT check_same('SELECT to_hex(s.nn), count(*) FROM types t JOIN (SELECT DISTINCT nn, dd FROM types) s ON s.nn = t.id GROUP BY 1');
SELECT check_same('SELECT chr(s.nn + 65), count(*) FROM types t JOIN (SELECT DISTINCT nn, b FROM types) s ON s.nn = t.id GROUP BY 1');
SELECT check_same('SELECT s.b::text, count(*) FROM types t JOIN (SELECT DISTINCT b, nn FROM types) s ON s.nn = t.id GROUP BY 1');
SELECT check_same('SELECT upper(s.vc), count(*) FROM types t JOIN (SELECT DISTINCT vc, nn FROM types) s ON s.nn = t.id GROUP BY 1');
-- a key that is computed, of which the values are not known before
SELECT check_same('SELECT extract(week FROM s.e)::int4, count(*) FROM types t JOIN (SELECT DISTINCT d + 3 AS e, nn FROM types) s ON s.nn = t.id GROUP BY 1');
SELECT check_same('SELECT to_hex(s.e), count(*) FROM types t JOIN (SELECT DISTINCT i4 / 100 AS e, nn FROM types) s ON s.nn = t.id GROUP BY 1');
-- extremes; other aggregates have values of their own
SELECT check_same('SELECT extract(week FROM s.e)::int4, count(*) FROM types t JOIN (SELECT nn, max(d) AS e FROM types GROUP BY nn) s ON s.nn = t.id GROUP BY 1');
SELECT check_same('SELECT to_hex(s.e), count(*) FROM types t JOIN (SELECT nn, min(i4) AS e FROM types WHERE id < 40 GROUP BY nn) s ON s.nn = t.id GROUP BY 1');
SELECT check_same('SELECT to_hex(s.e), count(*) FROM types t JOIN (SELECT nn, bit_or(i4) AS e FROM types GROUP BY nn) s ON s.nn = t.id GROUP BY 1');
-- UNION, and UNION ALL of groups
SELECT check_same('SELECT extract(week FROM d)::int4, count(*) FROM (SELECT d FROM types UNION SELECT dd FROM types) s GROUP BY 1');
SELECT check_same('SELECT extract(week FROM d)::int4, count(*) FROM (SELECT DISTINCT d FROM types UNION ALL SELECT DISTINCT dd FROM types) s GROUP BY 1');
SELECT check_same('SELECT t.id, extract(week FROM s.d)::int4 FROM types t JOIN (SELECT d, nn FROM types UNION SELECT dd, i2 FROM types) s ON s.nn = t.id');

-- the scale of numerics that are compared with those of a list is that of the column, too
SELECT check_same('SELECT count(*), sum(t.nn) FROM types t LEFT JOIN (SELECT DISTINCT dn, di FROM types) s ON s.di = t.id WHERE (s.dn IN (1.25, 2.50, 7, 3.125)) IS NOT TRUE');
SELECT check_same('SELECT s.dn IN (1.25, 2.50, 7, 3.125), count(*) FROM types t LEFT JOIN (SELECT DISTINCT dn, di FROM types) s ON s.di = t.id GROUP BY 1');
SELECT check_same('SELECT s.e IN (12.25, 12.00, 11.75, 3.125), count(*) FROM types t JOIN (SELECT nn, max(dn) AS e FROM types WHERE id < 200 GROUP BY nn) s ON s.nn = t.id GROUP BY 1');
SELECT check_same('SELECT s.e IN (12.25, 12.00, 24.5, 19.75, 17.00, 3.125), count(*) FROM types t JOIN (SELECT nn, sum(dn) AS e FROM types WHERE id < 40 GROUP BY nn) s ON s.nn = t.id GROUP BY 1');
SELECT check_same('SELECT s.e IN (13.25, 12.50, 7, 3.125), count(*) FROM types t LEFT JOIN (SELECT DISTINCT dn + 1.5 AS e, di FROM types) s ON s.di = t.id GROUP BY 1');
