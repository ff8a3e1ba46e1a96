-- Full joins in one node with what is around them: rows of either side without a match,
-- NULL and repeated keys, conditions, chains, and every sink.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA full_join;
SET search_path = full_join, public;

CREATE TABLE a (id int NOT NULL, k int, x int, t text, n numeric(8,2), d date, f float8);
INSERT INTO a SELECT i, CASE WHEN i % 7 > 0 THEN i % 500 END, i % 13, CASE WHEN i % 11 > 0 THEN 't' || i % 60 END, i % 100 / 4.0, date '2001-01-01' + i % 90, i % 64 / 8.0 FROM generate_series(1, 5003) AS i;
CREATE TABLE b (id int NOT NULL, k int, y int, t text, n numeric(8,2), d date, f float8);
INSERT INTO b SELECT i, CASE WHEN i % 5 > 0 THEN i % 700 END, nullif(i % 17, 3), CASE WHEN i % 9 > 0 THEN 't' || i % 70 END, i % 90 / 4.0, date '2001-02-01' + i % 90, i % 50 / 8.0 FROM generate_series(1, 1500) AS i;
CREATE TABLE c (k int PRIMARY KEY, z int, t text);
INSERT INTO c SELECT i * 3, i % 19, 't' || i % 80 FROM generate_series(0, 300) AS i;
CREATE TABLE none (LIKE b);
CREATE TABLE voids (LIKE b);
INSERT INTO voids (id, y) SELECT i, i FROM generate_series(1, 33) AS i;
SELECT settle();
VACUUM ANALYZE a, b, c, none, voids;

-- the rows, and whether one node has all joins
CREATE FUNCTION check_full(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('search_path', 'full_join, public', true);
	RETURN check_here(query) || CASE WHEN EXISTS (SELECT FROM plan_of(query) AS line WHERE line ~ 'Nested Loop|Join$|SubPlan|Seq Scan') THEN ', in pieces' ELSE '' END;
EXCEPTION WHEN feature_not_supported THEN
	RETURN check_here(query);
END $$;

-- plans
SELECT plan_of('SELECT count(*), sum(x), sum(y) FROM a FULL JOIN b USING (k)');
SELECT plan_of('SELECT k, count(*) FROM a FULL JOIN b USING (k) LEFT JOIN c USING (k) WHERE coalesce(x, y) < 5 GROUP BY k');

-- key types, with empty sides and sides of NULLs only
SELECT c, t, check_full(format('SELECT count(*), sum(a.x), sum(o.y), count(a.id), count(o.id), count(a.%1$s), count(o.%1$s) FROM a FULL JOIN %2$s o ON a.%1$s = o.%1$s', c, t)), check_full(format('SELECT %1$s, count(*), sum(o.y), min(a.id), max(o.id) FROM a FULL JOIN %2$s o USING (%1$s) GROUP BY %1$s', c, t))
FROM unnest('{k,t,n,d}'::text[]) AS c, unnest('{b,none,voids}'::text[]) AS t;
SELECT check_full('SELECT count(*), sum(a.x), sum(b.y), count(a.id), count(b.id) FROM a FULL JOIN b USING (f)'), check_full('SELECT l.id, r.id, l.y, r.y FROM none l FULL JOIN voids r USING (k)'), check_full('SELECT l.id, r.id, l.y FROM none l FULL JOIN none r USING (k)'), check_full('SELECT count(*), count(a.id), count(c.z), sum(c.z) FROM a FULL JOIN c USING (k)'), check_full('SELECT count(*), count(a.id), count(c.z), sum(c.z) FROM c FULL JOIN a ON a.k = c.k');
-- rows
SELECT q, check_full(q) FROM unnest(ARRAY[
	'SELECT a.id, b.id, a.t, b.t, a.n, b.n, a.d, b.f FROM a FULL JOIN b USING (k)', 'SELECT k, a.x, b.y FROM a FULL JOIN b USING (k) WHERE a.id IS NULL', 'SELECT k, a.x, b.y FROM a FULL JOIN b USING (k) WHERE b.id IS NULL', 'SELECT k, a.x, b.y FROM a FULL JOIN b USING (k) WHERE a.id IS NULL OR b.id IS NULL', 'SELECT * FROM a FULL JOIN b ON a.k = b.k AND a.x = b.y WHERE coalesce(a.id, 0) < 90',
	'SELECT k, coalesce(a.t, b.t), coalesce(a.n, b.n), a.x + b.y, CASE WHEN a.id IS NULL THEN ''b'' WHEN b.id IS NULL THEN ''a'' ELSE ''both'' END FROM a FULL JOIN b USING (k) WHERE k > 450 OR k IS NULL', 'SELECT a.t LIKE ''t1%'', upper(b.t), extract(month FROM a.d), extract(month FROM b.d) FROM a FULL JOIN b ON a.id = b.id', 'SELECT k, a.id, b.id FROM a FULL JOIN b USING (k) ORDER BY k, a.id, b.id LIMIT 50', 'SELECT k, a.id, b.id FROM a FULL JOIN b USING (k) ORDER BY b.id DESC NULLS LAST, a.id LIMIT 50'
]) AS q;
-- aggregates: dense and hashed groups, extremes, averages, FILTER, DISTINCT, HAVING, grouping sets
SELECT q, check_full(q) FROM unnest(ARRAY[
	'SELECT b.y, a.x, count(*), sum(a.id), avg(b.n), min(a.d), max(b.d) FROM a FULL JOIN b USING (k) GROUP BY b.y, a.x', 'SELECT a.id, b.id, count(*) FROM a FULL JOIN b USING (k) GROUP BY a.id, b.id', 'SELECT coalesce(a.t, b.t), count(*), count(a.n), sum(b.n) FROM a FULL JOIN b USING (t) GROUP BY 1', 'SELECT count(*) FILTER (WHERE a.id IS NULL), count(*) FILTER (WHERE b.id IS NULL), sum(b.y) FILTER (WHERE a.x > 3 OR a.x IS NULL) FROM a FULL JOIN b USING (k)',
	'SELECT sum(CASE WHEN a.id IS NOT NULL AND b.id IS NULL THEN 1 ELSE 0 END), sum(CASE WHEN a.id IS NULL AND b.id IS NOT NULL THEN 1 ELSE 0 END), sum(CASE WHEN a.id IS NOT NULL AND b.id IS NOT NULL THEN 1 ELSE 0 END) FROM a FULL JOIN b ON a.k = b.k AND a.x = b.y', 'SELECT count(DISTINCT a.x), count(DISTINCT b.y) FROM a FULL JOIN b USING (k)', 'SELECT count(DISTINCT b.y) FROM a FULL JOIN b USING (k)', 'SELECT a.x, count(DISTINCT b.y) FROM a FULL JOIN b USING (k) GROUP BY a.x', 'SELECT DISTINCT a.x, b.y FROM a FULL JOIN b USING (k)', 'SELECT k, sum(a.x), sum(b.y) FROM a FULL JOIN b USING (k) GROUP BY k HAVING sum(b.y) > 20 OR sum(a.x) IS NULL', 'SELECT k, sum(b.y) s FROM a FULL JOIN b USING (k) GROUP BY k ORDER BY s DESC NULLS LAST, k LIMIT 7',
	'SELECT a.x, b.y, count(*), grouping(a.x, b.y) FROM a FULL JOIN b USING (k) GROUP BY ROLLUP (a.x, b.y)', 'SELECT stddev(a.x), variance(b.y), bool_or(a.x > 11), bit_or(b.y) FROM a FULL JOIN b USING (k)', 'SELECT sum(a.f), avg(b.f) FROM a FULL JOIN b USING (k) WHERE false', 'SELECT min(a.t), max(b.t), min(a.n), max(b.n) FROM a FULL JOIN b USING (k)', 'SELECT sum(a.n * b.n), sum(coalesce(a.n, 0) - coalesce(b.n, 0)) FROM a FULL JOIN b USING (k)', 'SELECT a.x % 3, b.y / 2, count(*) FROM a FULL JOIN b USING (k) GROUP BY 1, 2'
]) AS q;
-- conditions on the match: of both sides, of one
SELECT q, check_full('SELECT count(*), sum(a.x), sum(b.y), count(a.id), count(b.id), sum(a.id), sum(b.id) FROM a FULL JOIN b ON ' || q) FROM unnest(ARRAY[
	'a.k = b.k AND a.x < b.y', 'a.k = b.k AND a.x <> b.y AND a.n > b.n', 'a.k = b.k AND a.x > 6', 'a.k = b.k AND b.y > 6', 'a.k = b.k AND a.x > 6 AND b.y < 9', 'a.k = b.k AND a.t LIKE ''t2%''', 'a.k = b.k AND a.t < b.t', 'a.k = b.k AND coalesce(a.x, b.y) > 3', 'a.k = b.k AND false', 'a.id = b.id AND a.x < b.y', 'a.k = b.k AND a.t = b.t AND a.n = b.n', 'a.k + 1 = b.k', 'a.k = b.y AND b.k = a.x', 'a.k = b.k AND a.x IS NULL'
]) AS q;
-- filters above, on the side that may be NULL: PostgreSQL keeps the join full if none of them is strict
SELECT q, check_full('SELECT count(*), sum(a.x), sum(b.y), count(a.id), count(b.id) FROM a FULL JOIN b USING (k) WHERE ' || q) FROM unnest(ARRAY[
	'coalesce(a.x, 20) > 6', 'coalesce(b.y, 20) > 6', 'a.x IS NULL', 'b.y IS NULL', '(a.x > 6) IS NOT TRUE', '(b.y > 6) IS NOT FALSE', 'a.x IS DISTINCT FROM b.y', 'k = 7', 'k IS NULL', 'k > 480', 'k IN (3, 499, 600)', 'coalesce(a.t, b.t) LIKE ''t3%''', 'a.x > 6 OR b.y > 6', 'a.x > 6', 'b.y > 6', 'a.x > 6 AND b.y > 6', 'coalesce(a.x, 1) + coalesce(b.y, 1) > 9', 'coalesce(a.id, 0) IN (SELECT id FROM b WHERE y = 2)', 'NOT EXISTS (SELECT FROM c WHERE c.k = coalesce(a.k, b.k))', 'NOT EXISTS (SELECT FROM c WHERE c.k = a.k)', 'EXISTS (SELECT FROM c WHERE c.k = coalesce(a.k, b.k))'
]) AS q;
-- filtered sides, joined sides, joins below and behind, chains, nested
SELECT q, check_full(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(x), sum(y) FROM (SELECT * FROM a WHERE x < 4) a FULL JOIN (SELECT * FROM b WHERE y > 4) b USING (k)', 'SELECT count(*), sum(a.x), sum(b.y), sum(c.z) FROM (a JOIN c ON a.k = c.k) FULL JOIN b ON a.x = b.k', 'SELECT count(*), sum(a.x), sum(b.y), sum(c.z) FROM (a JOIN c ON a.k = c.k AND a.x < c.z) FULL JOIN b ON c.z = b.k', 'SELECT count(*), sum(a.x), sum(b.y), sum(c.z) FROM b FULL JOIN (a LEFT JOIN c ON a.k = c.k) ON c.z = b.k', 'SELECT count(*), sum(a.x), sum(b.y), sum(c.z) FROM a FULL JOIN (b JOIN c ON b.k = c.k) ON a.k = b.k', 'SELECT count(*), sum(a.x), sum(b.y), sum(c.z) FROM a FULL JOIN (b LEFT JOIN c ON b.k = c.k AND b.y > 4) ON a.k = b.k',
	'SELECT count(*), sum(a.x), sum(b.y), sum(c.z) FROM a FULL JOIN b USING (k) LEFT JOIN c USING (k)', 'SELECT count(*), sum(a.x), sum(b.y), sum(c.z) FROM a FULL JOIN b USING (k) LEFT JOIN c ON c.k = a.k', 'SELECT count(*), sum(a.x), sum(b.y), sum(c.z) FROM a FULL JOIN b USING (k) LEFT JOIN c ON c.k = b.k AND c.z > coalesce(a.x, 0)', 'SELECT k, sum(a.x), sum(b.y), sum(c.z), count(*) FROM a FULL JOIN b USING (k) FULL JOIN c USING (k) GROUP BY k', 'SELECT k, a.id, b.id, c.z, v.y FROM a FULL JOIN b USING (k) FULL JOIN c USING (k) FULL JOIN voids v USING (k) WHERE a.id < 99 OR a.id IS NULL', 'SELECT count(*), sum(a.x), sum(b.y), sum(c.z) FROM a FULL JOIN (b FULL JOIN c USING (k)) USING (k)', 'SELECT count(*), sum(a.x), sum(b.y), sum(c.z) FROM (b FULL JOIN c USING (k)) FULL JOIN a USING (k)',
	'SELECT count(*), sum(a.x), sum(s.z), sum(s.y) FROM a LEFT JOIN (SELECT b.y, c.z, coalesce(b.k, c.k) AS k FROM b FULL JOIN c USING (k)) s USING (k)', 'SELECT count(*), sum(a.x) FROM a WHERE EXISTS (SELECT FROM b FULL JOIN c USING (k) WHERE coalesce(b.k, c.k) = a.k)', 'SELECT count(*), sum(a.x) FROM a WHERE NOT EXISTS (SELECT FROM b FULL JOIN c USING (k) WHERE coalesce(b.k, c.k) = a.k)', 'SELECT count(*), sum(a.x), sum(b.y), sum(c.z) FROM a FULL JOIN b USING (k) JOIN c USING (k)', 'SELECT count(*), sum(c.z) FROM c JOIN (SELECT coalesce(a.k, b.k) AS k FROM a FULL JOIN b USING (k)) s ON s.k = c.k', 'SELECT count(*), sum(l.x), sum(r.x) FROM a l FULL JOIN a r ON l.id = r.k', 'SELECT a.x, count(*), sum(c.z) FROM a FULL JOIN b USING (k) FULL JOIN c ON c.k = b.y WHERE coalesce(a.id, 1) % 3 = 1 GROUP BY a.x'
]) AS q;
-- constants below the join, which it makes NULL
SELECT q, check_full(q) FROM unnest(ARRAY[
	'SELECT l.one, r.two, count(*) FROM (SELECT k, 1 AS one FROM a) l FULL JOIN (SELECT k, 2 AS two FROM b) r USING (k) GROUP BY l.one, r.two', 'SELECT l.s, r.s, count(*) FROM (SELECT k, coalesce(x, 5) AS s FROM a) l FULL JOIN (SELECT k, coalesce(y, 6) AS s FROM b) r USING (k) GROUP BY l.s, r.s', 'SELECT count(*), count(l.s), count(r.s) FROM (SELECT k, x IS NULL AS s FROM a) l FULL JOIN (SELECT k, y IS NULL AS s FROM b) r USING (k)', 'SELECT count(*) FROM (SELECT k, 1 AS one FROM a) l FULL JOIN (SELECT k, 2 AS two FROM b) r USING (k) WHERE l.one IS NULL', 'SELECT count(*), sum(CASE WHEN l.w THEN 1 END) FROM (SELECT k, t LIKE ''t1%'' AS w FROM a) l FULL JOIN (SELECT k, t LIKE ''t2%'' AS w FROM b) r ON l.k = r.k AND l.w = r.w'
]) AS q;
-- aggregated subqueries on either side, aggregates above, row sources, CTEs
SELECT q, check_full(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(l.s), sum(r.s), count(l.k), count(r.k) FROM (SELECT k, sum(x) s FROM a GROUP BY k) l FULL JOIN (SELECT k, sum(y) s FROM b GROUP BY k) r ON l.k = r.k', 'SELECT l.k, r.k, l.m, r.m FROM (SELECT k, avg(n) m FROM a GROUP BY k) l FULL JOIN (SELECT k, max(n) m FROM b GROUP BY k) r ON l.k = r.k WHERE l.m > r.m OR l.k IS NULL', 'SELECT count(*), sum(l.m + 1) FROM (SELECT k, avg(n) m FROM a GROUP BY k) l FULL JOIN b ON l.k = b.k WHERE coalesce(l.m, 0) < 9', 'SELECT count(*), max(s) FROM (SELECT k, sum(b.y) AS s FROM a FULL JOIN b USING (k) GROUP BY k) q', 'SELECT c.z, sum(q.s) FROM c JOIN (SELECT coalesce(a.k, b.k) AS k, sum(b.y) AS s FROM a FULL JOIN b USING (k) GROUP BY 1) q ON c.k = q.k GROUP BY c.z',
	'SELECT count(*), sum(x), sum(g) FROM a FULL JOIN generate_series(480, 520) AS g ON a.k = g', 'SELECT count(*), sum(x), sum(v.w) FROM a FULL JOIN (VALUES (1, 2), (2, 3), (2, 4), (NULL, 5), (999, 7)) AS v(k, w) ON a.k = v.k', 'SELECT g, v.w FROM generate_series(1, 3) AS g FULL JOIN (VALUES (1, 2), (5, 3)) AS v(k, w) ON g = v.k', 'WITH l AS (SELECT x, k FROM a GROUP BY x, k), r AS (SELECT y, k FROM b GROUP BY y, k) SELECT sum(CASE WHEN l.x IS NOT NULL AND r.y IS NULL THEN 1 ELSE 0 END), sum(CASE WHEN l.x IS NULL AND r.y IS NOT NULL THEN 1 ELSE 0 END), sum(CASE WHEN l.x IS NOT NULL AND r.y IS NOT NULL THEN 1 ELSE 0 END) FROM l FULL JOIN r ON l.x = r.y AND l.k = r.k', 'SELECT k, x, y, max(x) OVER (PARTITION BY k) FROM (SELECT coalesce(a.k, b.k) AS k, a.x, b.y FROM a FULL JOIN b USING (k)) s WHERE k > 400', 'SELECT count(*) FROM a FULL JOIN b ON true', 'SELECT count(*), sum(x) FROM a FULL JOIN b USING (k) WHERE 1 = (SELECT 1)', 'SELECT count(*), sum(x) FROM a FULL JOIN b USING (k) WHERE coalesce(x, 3) > (SELECT min(z) + 2 FROM c)'
]) AS q;
-- left joins with a far larger inner side: that is streamed, and the build returns its rows without a match
SELECT plan_of('SELECT count(*), sum(z), sum(x) FROM c LEFT JOIN a ON a.k = c.k AND x > 5');
SELECT q, check_full(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(c.z), sum(a.x), count(a.id) FROM c LEFT JOIN a USING (k)', 'SELECT c.k, c.z, a.id, a.x, a.t FROM c LEFT JOIN a USING (k)', 'SELECT c.z, count(a.id), sum(a.x), count(*) FROM c LEFT JOIN a ON a.k = c.k AND a.x > 9 GROUP BY c.z', 'SELECT n, count(*) FROM (SELECT c.k, count(a.id) AS n FROM c LEFT JOIN a ON a.k = c.k AND a.t NOT LIKE ''t1%'' GROUP BY c.k) s GROUP BY n', 'SELECT count(*), sum(v.id), sum(a.x) FROM voids v LEFT JOIN a USING (k)', 'SELECT count(*), sum(v.y), sum(a.x) FROM voids v LEFT JOIN a ON a.k = v.id', 'SELECT count(*), sum(n.y), sum(a.x) FROM none n LEFT JOIN a USING (k)',
	'SELECT count(*), sum(c.z), sum(a.x) FROM c LEFT JOIN a ON a.k = c.k AND a.x < c.z', 'SELECT count(*), sum(c.z), sum(a.x) FROM c LEFT JOIN a ON a.x = c.z AND a.id < 90', 'SELECT count(*), sum(c.z), sum(a.x) FROM c LEFT JOIN a ON a.x = c.z AND a.k = c.k AND c.z > 4', 'SELECT count(*), sum(c.z), sum(a.x) FROM c LEFT JOIN a USING (k) WHERE coalesce(a.x, 7) > 5', 'SELECT count(*), sum(c.z), sum(a.x) FROM c LEFT JOIN a USING (k) WHERE c.z > 5 AND (a.x > 5) IS NOT FALSE', 'SELECT count(*), sum(c.z) FROM c LEFT JOIN a USING (k) WHERE a.id IS NULL', 'SELECT count(*), sum(c.z), sum(s.x), sum(s.one) FROM c LEFT JOIN (SELECT k, x, 1 AS one FROM a WHERE id % 3 = 1) s USING (k)',
	'SELECT count(*), sum(v.w), sum(a.x) FROM (VALUES (1, 2), (2, 3), (2, 4), (NULL, 5), (999, 7)) AS v(k, w) LEFT JOIN a USING (k)', 'SELECT g, count(a.id), sum(a.x) FROM generate_series(495, 505) AS g LEFT JOIN a ON a.k = g GROUP BY g', 'SELECT count(*), sum(c.z), sum(a.x), sum(b.y) FROM c LEFT JOIN (a JOIN b ON a.id = b.id) ON a.k = c.k', 'SELECT count(*), sum(c.z), sum(a.x), sum(b.y) FROM c LEFT JOIN (a LEFT JOIN b ON a.id = b.id) ON a.k = c.k', 'SELECT count(*), sum(c.z), sum(a.x), sum(v.y) FROM c LEFT JOIN voids v ON v.id = c.z LEFT JOIN a ON a.k = c.k', 'SELECT count(*), sum(c.z), sum(a.x), sum(v.y) FROM c JOIN voids v ON v.id = c.z LEFT JOIN a ON a.k = v.id', 'SELECT count(*), sum(c.z), sum(a.x), sum(v.y) FROM c LEFT JOIN a USING (k) JOIN voids v ON v.id = c.z', 'SELECT DISTINCT c.z, a.x FROM c LEFT JOIN a USING (k)', 'SELECT c.k, a.id FROM c LEFT JOIN a USING (k) ORDER BY c.k DESC, a.id LIMIT 40', 'SELECT c.z, count(DISTINCT a.x) FROM c LEFT JOIN a USING (k) GROUP BY c.z'
]) AS q;
-- sizes around words and tiles, of either side; nothing, one row, many for one key
CREATE TABLE s (n int, k int, v int);
INSERT INTO s SELECT n, i * 2 % (n + 1), i FROM unnest('{1,31,32,33,1023,1024,1025,8193}'::int[]) AS n, generate_series(1, n) AS i;
SELECT settle();
VACUUM ANALYZE s;
SELECT n, check_full(format('SELECT count(*), sum(l.v), sum(r.v), count(l.v), count(r.v) FROM (SELECT k, v FROM s WHERE n = %s) l FULL JOIN (SELECT k, v FROM s WHERE n = 1024) r ON l.k = r.v', n)), check_full(format('SELECT l.v, r.v FROM (SELECT k, v FROM s WHERE n = 33) l FULL JOIN (SELECT k, v FROM s WHERE n = %s AND v < 700) r ON l.v = r.k', n)), check_full(format('SELECT count(*), sum(l.v), sum(r.v) FROM s l FULL JOIN (SELECT n, v FROM s WHERE n <= %s) r ON l.v = r.n', n))
FROM unnest('{0,1,31,32,33,1023,1024,1025,8193}'::int[]) AS n;
-- the estimate of the build is far too low: it is filled twice
SELECT check_full('SELECT count(*), sum(l.v), sum(r.v) FROM (SELECT * FROM s WHERE n * 2 = n + n AND v + 0 = v AND k * 1 = k) l FULL JOIN (SELECT * FROM s WHERE n * 2 = n + n AND v + 0 = v AND k * 1 = k) r ON l.v = r.k AND l.n = r.n');
-- data that others change, rescans, prepared statements
SELECT check_same('SELECT c_region, s_region, count(*), sum(c_id) FROM customer FULL JOIN shop ON c_region = s_id GROUP BY c_region, s_region'), check_same('SELECT count(*), sum(price), count(c_id), sum(quantity) FROM (SELECT * FROM sales WHERE quantity < 9) s FULL JOIN (SELECT * FROM customer WHERE c_region > 1) c ON customer = c_id');
INSERT INTO a SELECT id + 10000, k + 300, x, t, n, d, f FROM a WHERE id < 400;
DELETE FROM b WHERE id % 4 = 1;
SELECT check_full('SELECT count(*), sum(a.x), sum(b.y), count(a.k), count(b.k) FROM a FULL JOIN b USING (k)'), check_full('SELECT a.t, b.t, count(*) FROM a FULL JOIN b USING (k) GROUP BY a.t, b.t');
SELECT check_full('SELECT g, (SELECT sum(coalesce(x, y)) FROM (SELECT * FROM a WHERE x < g) a FULL JOIN b USING (k)) FROM generate_series(1, 4) AS g');
PREPARE p (int) AS SELECT count(*), sum(a.x), sum(b.y) FROM (SELECT * FROM a WHERE x > $1) a FULL JOIN b ON a.k = b.k AND b.y <> $1;
SET gpuconc.debug_offload = require;
EXECUTE p (3); EXECUTE p (20); EXECUTE p (NULL);
SET gpuconc.debug_offload = forbid;
EXECUTE p (3); EXECUTE p (20); EXECUTE p (NULL);
RESET gpuconc.debug_offload;
-- joins without an equality before it, in either side, and behind it
SELECT plan_of('SELECT count(*), sum(b.y) FROM a FULL JOIN b USING (k) LEFT JOIN c ON c.z > b.y AND c.k < 90');
SELECT q, check_full(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(a.x), sum(b.y), sum(c.z), count(c.k) FROM a FULL JOIN b USING (k) LEFT JOIN c ON c.z > coalesce(b.y, a.x) AND c.k < 90',
	'SELECT a.id, b.id, c.k FROM a FULL JOIN b USING (k) LEFT JOIN c ON c.z > b.y AND c.k < a.x WHERE coalesce(a.id, b.id) < 400',
	'SELECT b.id, count(*) FROM a FULL JOIN b USING (k) WHERE EXISTS (SELECT FROM c WHERE c.z > b.y AND c.k < coalesce(a.x, 5)) GROUP BY b.id',
	'SELECT count(*), sum(b.id), sum(a.id) FROM a FULL JOIN b USING (k) WHERE NOT EXISTS (SELECT FROM c WHERE c.z < b.y AND c.k > coalesce(a.id, 9))',
	'SELECT count(*), sum(x), sum(z), sum(y), count(b.id) FROM (SELECT a.*, c.z FROM a, c WHERE a.id < c.k AND c.z < a.x) s FULL JOIN b USING (k)',
	'SELECT count(*), sum(x), sum(z), sum(y), count(s.id) FROM a FULL JOIN (SELECT b.*, c.z FROM b, c WHERE b.id < c.k AND c.z < b.y) s USING (k)',
	'SELECT count(*), sum(x), sum(y), count(s.z) FROM (SELECT a.*, c.z FROM a LEFT JOIN c ON a.id < c.k AND c.z < a.x WHERE a.id < 2000) s FULL JOIN b USING (k) LEFT JOIN c d ON d.z = b.id',
	'SELECT count(*), sum(c.z), sum(x), sum(y) FROM c LEFT JOIN (a FULL JOIN b USING (k)) ON c.z < coalesce(a.x, b.y) AND c.k < 60',
	'SELECT count(*), sum(a.x), sum(b.y), sum(m) FROM a FULL JOIN b USING (k) LEFT JOIN (SELECT max(z) AS m FROM c) s ON s.m > b.y',
	'SELECT count(*), sum(a.x), sum(m) FROM a FULL JOIN (SELECT max(z) AS m FROM c) s ON s.m = a.x',
	'SELECT count(*), sum(a.x), sum(b.y) FROM a FULL JOIN b USING (k) WHERE b.y > (SELECT avg(z) FROM c) OR a.id IS NULL',
	'SELECT count(*), sum(a.x), sum(c.z), count(f.k) FROM a FULL JOIN b USING (k) FULL JOIN c f ON f.k = a.id LEFT JOIN c ON c.z < b.y AND c.k < 9',
	'SELECT k, a.id, b.id FROM a FULL JOIN b USING (k) ORDER BY b.id DESC NULLS LAST, a.id LIMIT 20',
	'SELECT k, a.id, b.id FROM a FULL JOIN b USING (k) ORDER BY a.id DESC NULLS FIRST, b.id LIMIT 2000',
	'SELECT a.id, b.id, c.k FROM a FULL JOIN b USING (k) LEFT JOIN c ON c.z > b.y AND c.k < 300 ORDER BY b.id, a.id, c.k LIMIT 50',
	'SELECT upper(a.t), count(*), min(lower(b.t)) FROM a FULL JOIN b USING (k) GROUP BY 1',
	'SELECT count(*), sum(x), sum(y) FROM a FULL JOIN b USING (k) WHERE a.id NOT IN (SELECT z FROM c) AND coalesce(b.y, 1) > 0']) AS q;
SELECT check_full('SELECT count(*), sum(a.x) FROM a FULL JOIN c ON true WHERE coalesce(a.id, 1) < 20'), check_full('SELECT count(*), sum(x), sum(m) FROM a FULL JOIN (SELECT max(z) AS m FROM c) s ON true'), check_full('SELECT count(*), sum(x), sum(m) FROM (SELECT max(z) AS m FROM c WHERE k < 0) s FULL JOIN none ON true LEFT JOIN a ON true');
-- a filter on an earlier full join's rows comes before the next one
SELECT check_full('SELECT count(*), sum(s.x), sum(s.y), count(c.k) FROM (SELECT a.id, a.x, b.y FROM a FULL JOIN b USING (k) WHERE coalesce(a.x, 0) + coalesce(b.y, 0) > 9) s FULL JOIN c ON s.id = c.k');
-- inner joins above: by a key, by several conditions, without an equality, of groups, of two full joins, below other joins
SELECT q, check_full(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(c.z), count(a.id), count(b.id) FROM (a FULL JOIN b USING (k)) JOIN c ON c.k = coalesce(a.x, b.y)', 'SELECT c.z, a.id, b.id, b.t FROM c JOIN (a FULL JOIN b USING (k)) ON c.k = coalesce(b.y, a.x) * 3 AND coalesce(a.x, 1) + c.z > 9 WHERE coalesce(a.t, b.t) > ''t58''',
	'SELECT count(*), sum(c.z), count(a.id), count(b.id) FROM (a FULL JOIN b USING (k)) JOIN c ON c.k < coalesce(b.y, a.x) AND c.z < 3', 'SELECT s.n, count(*), count(a.id), count(b.id) FROM (a FULL JOIN b USING (k)) JOIN (SELECT y, count(*) AS n FROM b GROUP BY y) s ON s.y = coalesce(a.x, b.y) GROUP BY s.n',
	'SELECT count(*), sum(c.z), count(a.id), count(b.id), count(d.k), count(e.id) FROM (a FULL JOIN b USING (k)) JOIN c ON c.k = coalesce(a.x, b.y) JOIN c d ON d.k = c.k LEFT JOIN b e ON e.id = d.z + a.x', 'SELECT count(*), count(a.id), count(b.id), count(c.k), count(d.id) FROM (a FULL JOIN b USING (k)) JOIN (c FULL JOIN b d USING (k)) ON coalesce(a.x, b.y) = coalesce(c.k, d.y + 400)',
	'SELECT count(*), count(s.x), count(s.y), count(d.id) FROM (SELECT c.k, a.x, b.y FROM (a FULL JOIN b USING (k)) JOIN c ON c.k = coalesce(a.x, b.y)) s FULL JOIN b d ON d.id = s.k', 'SELECT count(*), count(s.x), count(s.y) FROM b d LEFT JOIN (SELECT c.k, a.x, b.y FROM (a FULL JOIN b USING (k)) JOIN c ON c.k = coalesce(a.x, b.y)) s ON d.id = s.k'
]) AS q;
-- a far larger inner side is streamed only where there is an equality
SELECT q, check_full(q) FROM unnest(ARRAY['SELECT c.k, a.id, a.x FROM c LEFT JOIN a ON a.id < c.z AND a.x > c.k', 'SELECT c.k, a.id, a.x FROM c LEFT JOIN a ON a.k = c.k AND a.x > c.z', 'SELECT m, count(a.id), sum(a.x) FROM (SELECT max(z) AS m FROM c) s LEFT JOIN a ON a.x > s.m - 9 GROUP BY m']) AS q;
-- an error is PostgreSQL's
SELECT check_error('SELECT sum(1 / coalesce(a.x, 0)) FROM full_join.a a FULL JOIN full_join.b b USING (k)', '{public}');
