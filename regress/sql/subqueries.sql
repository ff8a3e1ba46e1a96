-- Aggregated subqueries in FROM, computed inside the node of the outer query.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA subqueries;
SET search_path = subqueries, public;

-- facts of many groups, a dimension, and tables of odd sizes
CREATE TABLE f (id int, k int, kn int, t text, n numeric(12,2), n0 numeric(9,0), n7 numeric(18,7), w numeric(30,10), i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, d date, ts timestamp, b bool, v int NOT NULL);
INSERT INTO f SELECT i, i % 1000, CASE WHEN i % 11 > 0 THEN i % 33 END, CASE WHEN i % 13 > 0 THEN 't' || i % 29 END,
	CASE WHEN i % 7 > 0 THEN (i * 7919 % 20011 - 10000) / 100.0 END, i % 31 - 15, CASE WHEN i % 17 = 0 THEN 0.0000001 ELSE (i % 101 - 50) / 1e7 END, (i * 104729::int8 % 1000003) * 567.0123456789,
	CASE WHEN i % 5 > 0 THEN i % 200 - 100 END, i * 31 % 100003 - 50000, (i * 104729::int8 % 1000003) * 1000003, (i % 64 - 32) / 4.0, CASE WHEN i % 9 > 0 THEN (i % 512 - 256) / 8.0 END,
	date '1999-12-01' + i % 90, timestamp '2000-01-01' + i % 50 * interval '1 hour', i % 3 = 0, i % 97
FROM generate_series(1, 20000) AS i;
CREATE TABLE g (k int PRIMARY KEY, name text, n numeric(12,2), d date, x int, big int8);
INSERT INTO g SELECT i, 't' || i % 37, (i - 500) / 100.0, date '1999-12-01' + i % 100, nullif(i % 40, 3), i * 1000 FROM generate_series(0, 1100) AS i;
CREATE TABLE many (k int, j int, c text, v int);
INSERT INTO many SELECT i * 7 % 300007, i % 17001, 'c' || i % 40000, i % 1000 FROM generate_series(1, 320000) AS i;
CREATE TABLE none (k int, v int, n numeric(8,2));
CREATE TABLE few AS SELECT i AS k FROM generate_series(1, 20) AS i;
CREATE TABLE nulls (k int, v int, n numeric(6,3), f float8);
INSERT INTO nulls SELECT nullif(i % 5, 0), CASE WHEN i % 5 = 2 THEN NULL ELSE i END, CASE WHEN i % 5 <> 3 THEN i / 8.0 END, CASE WHEN i % 5 <> 4 THEN i / 4.0 END FROM generate_series(1, 100) AS i;
SELECT settle();
VACUUM ANALYZE f, g, many, none, few, nulls;

CREATE FUNCTION check_sub(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('search_path', 'subqueries, public', true);
	RETURN check_here(query);
END $$;
-- Is a table below a subquery read by the node itself?
CREATE FUNCTION embedded(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result bool := false;
BEGIN
	PERFORM set_config('search_path', 'subqueries, public', true), set_config('gpuconc.debug_offload', 'prefer', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		result := result OR line ~ '^ *Group: ';
		-- these are made of groups, too
		IF line ~ '^ *Grouping Sets: ' THEN
			RETURN false;
		END IF;
	END LOOP;
	PERFORM set_config('gpuconc.debug_offload', 'allow', true);
	RETURN result;
END $$;

-- joined: as build, streamed, by keys of each type, several, an aggregate's value
SELECT q, embedded(q), check_sub(q) FROM unnest(ARRAY[
	'SELECT g.name, sum(x.s), count(*) FROM g, (SELECT k, sum(v) s FROM f GROUP BY k) x WHERE x.k = g.k GROUP BY g.name',
	'SELECT g.k, x.s FROM g JOIN (SELECT k, sum(v) s FROM f GROUP BY k) x USING (k) WHERE x.s > 900',
	'SELECT f.t, sum(f.v * x.m) FROM f, (SELECT k, min(x) m FROM g GROUP BY k) x WHERE x.k = f.k GROUP BY f.t',
	'SELECT count(*), sum(x.c), sum(f.v) FROM f, (SELECT kn, t, count(*) c FROM f GROUP BY kn, t) x WHERE x.kn = f.kn AND x.t = f.t',
	'SELECT x.t, x.c, count(*) FROM g, (SELECT t, count(*) c FROM f GROUP BY t) x WHERE x.t = g.name GROUP BY x.t, x.c',
	'SELECT count(*), sum(x.c) FROM g, (SELECT n, count(*) c FROM f GROUP BY n) x WHERE x.n = g.n',
	'SELECT x.d, sum(x.c), count(*) FROM g, (SELECT d, count(*) c FROM f GROUP BY d) x WHERE x.d = g.d GROUP BY x.d',
	'SELECT count(*), sum(g.x) FROM g, (SELECT kn, count(*) c FROM f GROUP BY kn) x WHERE x.c = g.k',
	'SELECT count(*), sum(g.x) FROM g, (SELECT kn, max(k) m FROM f GROUP BY kn) x WHERE x.m = g.k',
	'SELECT count(*), sum(g.x) FROM g, (SELECT k, sum(v) m FROM f GROUP BY k) x WHERE x.m = g.k',
	'SELECT count(*), sum(g.x) FROM g, (SELECT k, max(i8) m FROM f GROUP BY k) x WHERE x.m = g.big',
	'SELECT count(*), sum(f.v) FROM f, (SELECT k, min(n) m FROM f GROUP BY k) x WHERE x.k = f.k AND x.m = f.n',
	'SELECT count(*), sum(f.v) FROM f, (SELECT k, min(d) m FROM f GROUP BY k) x WHERE x.k = f.k AND x.m = f.d',
	'SELECT count(*), sum(f.v) FROM f, (SELECT k, max(ts) m FROM f GROUP BY k) x WHERE x.k = f.k AND x.m > f.ts',
	'SELECT count(*), sum(f.v) FROM f, (SELECT b, k % 7 AS r, max(f8) m FROM f GROUP BY b, k % 7) x WHERE x.r = f.k AND x.b = f.b AND x.m >= f.f8',
	'SELECT count(*), sum(x.s - y.c) FROM (SELECT k, sum(v) s FROM f GROUP BY k) x, (SELECT kn, count(*) c FROM f GROUP BY kn) y WHERE x.k = y.kn',
	'SELECT x.s, y.c FROM (SELECT k, sum(v) s FROM f WHERE id < 500 GROUP BY k) x JOIN (SELECT k, count(n) c FROM f GROUP BY k) y ON x.k = y.k AND x.s > y.c * 5',
	'SELECT count(*), sum(x.m) FROM f, g, (SELECT name, max(k) m FROM g GROUP BY name) x WHERE f.k = g.k AND x.name = g.name AND x.m > f.v',
	'SELECT count(*) FROM f WHERE k IN (SELECT k FROM g GROUP BY k HAVING sum(x) > 20)', 'SELECT count(*) FROM f WHERE k NOT IN (SELECT max(k) FROM g GROUP BY name)', 'SELECT count(*), sum(x.s) FROM g LEFT JOIN (SELECT k, sum(v) s FROM f WHERE v < 5 GROUP BY k) x USING (k)',
	'SELECT g.k, x.c FROM g LEFT JOIN (SELECT k, count(*) c FROM f WHERE id < 999 GROUP BY k) x USING (k) WHERE g.x = 5'
]) AS q;
-- aggregates of aggregates, levels, HAVING, DISTINCT, joins inside
SELECT q, embedded(q), check_sub(q) FROM unnest(ARRAY[
	'SELECT c, count(*) FROM (SELECT k, count(*) c FROM f WHERE v < 50 GROUP BY k) x GROUP BY c',
	'SELECT max(s), min(s), sum(s), avg(s), count(s), count(*) FROM (SELECT k, sum(i4) s FROM f GROUP BY k) x',
	'SELECT sum(c), avg(c), max(m) FROM (SELECT c, max(s) m FROM (SELECT k, count(*) c, sum(i8) s FROM f WHERE v < 30 GROUP BY k) x GROUP BY c) y',
	'SELECT c2, sum(s) FROM (SELECT c, count(*) c2, sum(s) s FROM (SELECT s % 7 AS c, sum(v) AS s FROM (SELECT k, v, sum(i4) s FROM f GROUP BY k, v) x GROUP BY s % 7) y GROUP BY c) z GROUP BY c2',
	'SELECT count(*), sum(s) FROM (SELECT s, sum(q) AS z FROM (SELECT q, sum(s) AS s FROM (SELECT k, t, count(*) AS q, sum(i4) AS s FROM f GROUP BY k, t) a GROUP BY q) b GROUP BY s) c, g WHERE g.k = c.z % 1000',
	'SELECT count(*), sum(s) FROM (SELECT kn, sum(v) s FROM f GROUP BY kn HAVING count(*) > 600 AND sum(v) % 2 = 0) x, g WHERE x.kn = g.k',
	'SELECT count(*), sum(s) FROM (SELECT kn, sum(v) s FROM f GROUP BY kn HAVING avg(n) > 0) x, g WHERE x.kn = g.k', 'SELECT count(*) FROM (SELECT k FROM f GROUP BY k HAVING max(d) > date ''2000-02-27'' OR bool_or(b)) x, g WHERE x.k = g.k',
	'SELECT count(*), sum(g.x) FROM (SELECT DISTINCT kn, t FROM f) x, g WHERE x.kn = g.k', 'SELECT x.t, count(*) FROM (SELECT DISTINCT t, 5 AS c, v % 3 AS r FROM f) x, g WHERE x.r = g.k GROUP BY x.t', 'SELECT count(*) FROM (SELECT DISTINCT k FROM many) x', 'SELECT c, count(*) FROM (SELECT DISTINCT c, v FROM many) x GROUP BY c',
	'SELECT g2.name, sum(x.s) FROM g g2, (SELECT g.x, sum(f.v) s FROM f, g, few WHERE f.k = g.k AND g.x = few.k AND f.d < date ''2000-01-15'' GROUP BY g.x) x WHERE g2.k = x.x GROUP BY g2.name',
	'SELECT count(*), max(x.c) FROM g, (SELECT few.k, count(f.id) c FROM few LEFT JOIN f ON f.k = few.k AND f.v > 90 GROUP BY few.k) x WHERE x.k = g.k', 'SELECT c, count(*) FROM (SELECT g.k, count(f.id) c FROM g LEFT JOIN f ON f.k = g.k AND f.v > 90 GROUP BY g.k) x GROUP BY c',
	'SELECT count(*), sum(c) FROM (SELECT k, count(*) c FROM f WHERE EXISTS (SELECT FROM g WHERE g.k = f.v AND g.x > 30) GROUP BY k) x, g WHERE g.k = x.c',
	'SELECT count(*), sum(s) FROM (SELECT CASE WHEN v < 50 THEN kn END AS kk, sum(CASE WHEN b THEN v ELSE -v END) s FROM f GROUP BY 1) x, g WHERE x.kk = g.k', 'SELECT count(*), sum(y) FROM (SELECT extract(month FROM d) AS m, t LIKE ''t1%'' AS l, sum(v) AS y FROM f GROUP BY 1, 2) x, few WHERE few.k = x.m AND x.l',
	'SELECT x.k, x.s FROM (SELECT k, sum(v) s FROM f GROUP BY k ORDER BY 2) x JOIN g USING (k) WHERE g.x = 7 AND x.s BETWEEN 500 AND 1500', 'SELECT count(*) FROM (SELECT k, name, count(*) c FROM g GROUP BY k, name) x, few WHERE few.k = x.k AND x.name > ''t1'''
]) AS q;
-- averages next to what they are compared with: the last digit decides
SELECT q, embedded(q), check_sub(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(f.id) FROM f, (SELECT k, avg(n) a FROM f GROUP BY k) x WHERE x.k = f.k AND f.n > x.a', 'SELECT count(*), sum(f.id) FROM f, (SELECT kn, avg(n) a FROM f GROUP BY kn) x WHERE x.kn = f.kn AND f.n < 0.2 * x.a',
	'SELECT count(*), sum(f.id) FROM f, (SELECT v, avg(n7) a FROM f GROUP BY v) x WHERE x.v = f.v AND f.n7 >= x.a', 'SELECT count(*), sum(f.id) FROM f, (SELECT k, avg(n0) a FROM f GROUP BY k) x WHERE x.k = f.k AND f.n0 = x.a', 'SELECT count(*), sum(f.id) FROM f, (SELECT k, avg(i4) a, avg(i2) b, avg(i8) c FROM f GROUP BY k) x WHERE x.k = f.k AND f.i4 > x.a AND f.i2 <= x.b AND f.i8 <> x.c',
	'SELECT count(*), sum(f.id) FROM f, (SELECT k, avg(f8) a, avg(f4) b FROM f GROUP BY k) x WHERE x.k = f.k AND f.f8 > x.a AND f.f4 <= x.b', 'SELECT count(*), sum(f.id) FROM f, (SELECT k, avg(w) a FROM f GROUP BY k) x WHERE x.k = f.k AND f.w < x.a', 'SELECT count(*), sum(f.id) FROM f, (SELECT k, avg(n) a, sum(n) / count(n) b FROM f GROUP BY k) x WHERE x.k = f.k AND f.n > x.a',
	'SELECT count(*) FROM (SELECT k, avg(n) a FROM f GROUP BY k) x, (SELECT k, avg(n) a FROM f WHERE id > 0 GROUP BY k) y WHERE x.k = y.k AND x.a = y.a', 'SELECT sum(a), avg(a), max(a), min(a) FROM (SELECT k, avg(n) a FROM f GROUP BY k) x', 'SELECT g.k, x.a FROM g, (SELECT k, avg(n) a FROM f GROUP BY k) x WHERE g.k = x.k AND g.x = 5', 'SELECT g.k, x.a + 1 FROM g, (SELECT k, avg(n) a FROM f GROUP BY k) x WHERE g.k = x.k AND g.x = 5',
	'SELECT sum(g.n * x.a), sum(x.a + 1), sum(CASE WHEN x.a > 0 THEN x.a ELSE 0 END) FROM g, (SELECT k, avg(n) a FROM f GROUP BY k) x WHERE g.k = x.k', 'SELECT x.a, count(*) FROM g, (SELECT k, avg(n0) a FROM f GROUP BY k) x WHERE g.k = x.k GROUP BY x.a', 'SELECT count(*) FROM g, (SELECT k, avg(n0) a FROM f GROUP BY k) x WHERE g.k = x.k AND x.a IN (0.5, 0, 1)', 'SELECT count(*) FROM g, (SELECT k, avg(n0) a FROM f GROUP BY k) x WHERE g.k = x.k AND round(x.a, 2) = 0.5',
	'SELECT count(*) FROM g, (SELECT k, avg(n0) a FROM f GROUP BY k) x WHERE g.k = x.k AND x.a::int = 1', 'SELECT count(*) FROM g, (SELECT k, avg(n0) a FROM f GROUP BY k) x WHERE g.k = x.k AND x.a::numeric(10,3) = 0.5 AND -x.a < 3 AND abs(x.a) < 3', 'SELECT count(*), sum(x.a::float8) FROM g, (SELECT k, avg(n0) a FROM f GROUP BY k) x WHERE g.k = x.k AND x.a::float8 < 0.5'
]) AS q;
CREATE TABLE digits (k int, n numeric(20,4), lo numeric(18,12), hi numeric(18,12), sc numeric(24,12));
INSERT INTO digits SELECT i % 200, (i % 200 - 100) * 10 + i * 37 % 1009 / 10000.0 + CASE WHEN i % 200 = 150 THEN 1e5 ELSE 0 END, 0, 0, (i % 7 - 3) / 1e9 FROM generate_series(1, 200 * 7) AS i;
UPDATE digits SET lo = a - 0.000000000001, hi = a FROM (SELECT k, avg(n) a FROM digits GROUP BY k) x WHERE x.k = digits.k;
SELECT settle();
VACUUM (FULL) digits;
VACUUM ANALYZE digits;
SELECT q, embedded(q), check_sub(q) FROM unnest(ARRAY[
	'SELECT y.k, count(*) FROM digits y, (SELECT k, avg(n) a FROM digits GROUP BY k) x WHERE y.k = x.k AND y.lo < x.a GROUP BY y.k', 'SELECT count(*) FROM digits y, (SELECT k, avg(n) a FROM digits GROUP BY k) x WHERE y.k = x.k AND y.hi = x.a', 'SELECT count(*) FROM digits y, (SELECT k, avg(n) a FROM digits GROUP BY k) x WHERE y.k = x.k AND y.hi < x.a', 'SELECT count(*) FROM digits y, (SELECT k, avg(n) a FROM digits GROUP BY k) x WHERE y.k = x.k AND y.hi >= x.a + 0',
	'SELECT count(*), sum(y.n) FROM digits y, (SELECT k, avg(sc) a FROM digits GROUP BY k) x WHERE y.k = x.k AND y.sc > x.a', 'SELECT count(*), sum(y.n) FROM digits y, (SELECT k, avg(n * sc) a FROM digits GROUP BY k) x WHERE y.k = x.k AND y.sc > x.a', 'SELECT count(*) FROM digits y, (SELECT k, avg(lo) a FROM digits GROUP BY k) x WHERE y.k = x.k AND y.lo = x.a', 'SELECT k, count(*) FROM digits GROUP BY k HAVING avg(n) > max(lo)', 'SELECT k FROM digits GROUP BY k HAVING avg(n) = min(hi)'
]) AS q;
-- sums, extremes and counts of each type, NULLs among them
SELECT q, embedded(q), check_sub(q) FROM unnest(ARRAY[
	'SELECT g.k, x.* FROM g, (SELECT kn, sum(i2) a, sum(i4) b, count(i2) c, count(*) d FROM f GROUP BY kn) x WHERE x.kn = g.k', 'SELECT g.k, x.a FROM g, (SELECT kn, sum(i8) a FROM f GROUP BY kn) x WHERE x.kn = g.k', 'SELECT g.k, x.* FROM g, (SELECT kn, sum(n) a, sum(n0) b, sum(n7) c FROM f GROUP BY kn) x WHERE x.kn = g.k', 'SELECT g.k, x.a FROM g, (SELECT kn, sum(w) a FROM f GROUP BY kn) x WHERE x.kn = g.k', 'SELECT g.k, x.* FROM g, (SELECT kn, sum(f4) a, sum(f8) b, avg(f8) c, avg(f4) e FROM f GROUP BY kn) x WHERE x.kn = g.k',
	'SELECT g.k, x.* FROM g, (SELECT kn, min(i2) a, max(i4) b, min(i8) c, max(f4) d, min(f8) e, max(n) h, min(n7) i, max(d) j, min(ts) l FROM f GROUP BY kn) x WHERE x.kn = g.k', 'SELECT g.k, x.* FROM g, (SELECT kn, min(w) a FROM f GROUP BY kn) x WHERE x.kn = g.k', 'SELECT g.k, x.a FROM g, (SELECT kn, min(t) a FROM f GROUP BY kn) x WHERE x.kn = g.k',
	'SELECT g.k, x.* FROM g, (SELECT kn, sum(v) FILTER (WHERE b) a, count(*) FILTER (WHERE v < 3) b, min(n) FILTER (WHERE k > 990) c, count(i2) FILTER (WHERE i2 > 50) d FROM f GROUP BY kn) x WHERE x.kn = g.k', 'SELECT count(*), sum(a), min(b) FROM (SELECT kn, sum(v) FILTER (WHERE v < 0) a, max(f8) FILTER (WHERE k = 5) b FROM f GROUP BY kn) x', 'SELECT k, v, c, e, m, h FROM (SELECT k, sum(v) v, count(v) c, sum(n) e, min(f) m, avg(n) h FROM nulls GROUP BY k) x JOIN few USING (k)',
	'SELECT coalesce(x.k, -1), count(x.v), count(*), sum(x.c) FROM (SELECT k, max(v) v, count(n) c FROM nulls GROUP BY k) x GROUP BY 1', 'SELECT count(*) FROM (SELECT k, sum(v) v FROM nulls GROUP BY k) x WHERE v IS NULL', 'SELECT count(*) FROM (SELECT k, sum(v) v FROM nulls GROUP BY k) x WHERE k IS NULL AND v IS NOT NULL', 'SELECT count(*) FROM few, (SELECT k, avg(n) a FROM nulls GROUP BY k) x WHERE (x.a > few.k) IS NOT TRUE', 'SELECT count(*), sum(x.s) FROM f, (SELECT kn, t, b, sum(v) s FROM f GROUP BY kn, t, b) x WHERE f.kn IS NOT DISTINCT FROM x.kn AND f.t = x.t AND f.b = x.b AND f.id < 3000'
]) AS q;
-- no rows, one group, no group
SELECT q, embedded(q), check_sub(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(x.s) FROM g, (SELECT k, sum(v) s FROM none GROUP BY k) x WHERE x.k = g.k', 'SELECT count(*), sum(c) FROM (SELECT k, count(*) c FROM none GROUP BY k) x', 'SELECT g.k, x.* FROM g, (SELECT count(*) c, sum(v) s, max(n) m FROM none) x WHERE g.k < 3', 'SELECT count(*) FROM g, (SELECT count(*) c FROM none) x WHERE x.c = g.k', 'SELECT count(*) FROM g, (SELECT avg(n) a FROM none) x WHERE g.n > x.a', 'SELECT count(*) FROM g, (SELECT avg(n) a FROM f) x WHERE g.n > x.a', 'SELECT g.k FROM g, (SELECT max(n) m FROM g) x WHERE g.n = x.m', 'SELECT g.k FROM g, (SELECT max(sx) m FROM (SELECT name, sum(x) sx FROM g GROUP BY name) y) x WHERE g.k = x.m',
	'SELECT x.c + y.c FROM (SELECT count(*) c FROM f) x, (SELECT count(*) c FROM none) y', 'SELECT x.c, sum(g.x) FROM g, (SELECT count(*) c FROM f HAVING count(*) > 5) x GROUP BY x.c', 'SELECT x.c, sum(g.x) FROM g, (SELECT count(*) c FROM f HAVING count(*) < 5) x GROUP BY x.c', 'SELECT x.c, sum(g.x) FROM g, (SELECT count(*) c FROM f WHERE id < 0) x GROUP BY x.c', 'SELECT count(*) FROM g, (SELECT 5 AS five, count(*) c FROM f GROUP BY 1) x WHERE g.k = x.five', 'SELECT count(*) FROM g, (SELECT 5 AS five, count(*) c FROM none GROUP BY 1) x WHERE g.k = x.five', 'SELECT count(*), max(m) FROM (SELECT max(v) m FROM f WHERE false) x, g', 'SELECT x.s, y.k, y.s FROM (SELECT sum(v) s FROM f) x, (SELECT kn AS k, sum(v) s FROM f GROUP BY kn) y WHERE y.s > 0.03 * x.s'
]) AS q;
-- sizes: dense, hashed, above what is gathered, estimates that are far off
SELECT n, check_sub(format('SELECT count(*), sum(x.s), sum(x.c) FROM (SELECT k %% %1$s AS r, sum(v) s, count(*) c FROM many WHERE %1$s > 0 GROUP BY 1) x JOIN g ON g.k = x.r', greatest(n, 1))),
	check_sub(format('SELECT count(*), sum(s), sum(c) FROM (SELECT k, sum(v) s, count(*) c FROM many WHERE k < %s GROUP BY k) x', n))
FROM unnest(ARRAY[0, 1, 2, 31, 32, 33, 1000, 1023, 1024, 1025, 17000, 300000]) AS n;
SELECT q, embedded(q), check_sub(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(x.s), max(x.c) FROM (SELECT j, sum(v) s, count(*) c FROM many GROUP BY j) x', 'SELECT s, count(*) FROM (SELECT k, sum(v) s FROM many GROUP BY k) x GROUP BY s', 'SELECT count(*), sum(many.v + x.s) FROM many, (SELECT k, sum(v) s FROM many GROUP BY k) x WHERE many.k = x.k', 'SELECT count(*), sum(many.v + x.s) FROM many, (SELECT c, sum(v) s FROM many GROUP BY c) x WHERE many.c = x.c', 'SELECT count(*), sum(many.v + x.s) FROM many, (SELECT k, j, sum(v) s FROM many GROUP BY k, j) x WHERE many.k = x.k AND many.j = x.j AND many.v > 500',
	'SELECT count(*), sum(x.s) FROM (SELECT k * 3 + j * 7 AS e, sum(v) s FROM many GROUP BY 1) x', 'SELECT count(*), sum(x.s) FROM (SELECT (k + 1) * 1000003::int8 AS e, sum(v) s FROM many GROUP BY 1) x', 'SELECT count(*), sum(x.s) FROM (SELECT k + j AS e, c, sum(v) s FROM many WHERE k - j > -400000 AND v * 2 >= 0 AND j + 1 > 0 AND k * 2 >= 0 GROUP BY 1, 2) x', 'SELECT e % 100, count(*), sum(x.s) FROM (SELECT (k % 50000) * 4000000000 AS e, sum(v) s FROM many GROUP BY 1) x GROUP BY 1', 'SELECT count(*), max(m) FROM (SELECT e, max(s) m FROM (SELECT (k + 1) * 1000003::int8 AS e, j, sum(v) s FROM many WHERE k * 2 = k + k AND j * 2 = j + j GROUP BY 1, 2) x GROUP BY e) y'
]) AS q;
-- queries that stay PostgreSQL's: the subquery is a row source, or nothing is offloaded
SELECT q, embedded(q), check_sub(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(x.s) FROM g, (SELECT k, sum(v) s FROM f GROUP BY k ORDER BY 2, 1 LIMIT 100) x WHERE x.k = g.k', 'SELECT count(*), sum(x.s) FROM g, (SELECT k, sum(v) s FROM f GROUP BY k ORDER BY 2, 1 OFFSET 100) x WHERE x.k = g.k', 'SELECT count(*), sum(x.r) FROM g, (SELECT k, rank() OVER (ORDER BY sum(v), k) r FROM f GROUP BY k) x WHERE x.k = g.k', 'SELECT count(*), sum(x.s) FROM g, (SELECT generate_series(1, 2) AS r, k, sum(v) s FROM f GROUP BY k) x WHERE x.k = g.k', 'SELECT count(*) FROM g, (SELECT k, random() AS r FROM f GROUP BY k) x WHERE x.k = g.k AND x.r < 2', 'SELECT count(*) FROM g, (SELECT k, sum(v) s FROM f WHERE random() < 2 GROUP BY k) x WHERE x.k = g.k', 'SELECT count(*) FROM g, (SELECT k, sum(v) s FROM f GROUP BY k HAVING random() < 2) x WHERE x.k = g.k',
	'SELECT count(*), sum(s) FROM g, LATERAL (SELECT kn, sum(v) s FROM f WHERE f.kn = g.k GROUP BY kn) x', 'SELECT count(*), sum(s) FROM few, LATERAL (SELECT sum(v + few.k) s FROM f WHERE f.kn > few.k) x', 'SELECT g.k, y.m FROM g, LATERAL (SELECT max(x.s) m FROM (SELECT kn, sum(v) s FROM f WHERE f.v < g.x GROUP BY kn) x, few WHERE few.k = x.kn) y WHERE g.k < 9', 'SELECT count(*), sum(x.s) FROM g, (SELECT k, sum(v) s FROM f GROUP BY ROLLUP (k)) x WHERE x.k = g.k', 'SELECT count(*), sum(x.s) FROM g, (SELECT k, count(*) s FROM f GROUP BY k UNION ALL SELECT k, 1 FROM g) x WHERE x.k = g.k', 'SELECT count(*), sum(x.s) FROM g, (SELECT DISTINCT k, sum(v) s FROM f GROUP BY k, t) x WHERE x.k = g.k', 'SELECT count(*) FROM g, (SELECT DISTINCT ON (k) k, v FROM f ORDER BY k, v, id) x WHERE x.k = g.k AND x.v > 3', 'SELECT count(*), max(a) FROM g, (SELECT k, string_agg(t, '','' ORDER BY id) a FROM f GROUP BY k) x WHERE x.k = g.k',
	'SELECT count(*), sum(x.s) FROM g, (SELECT k, sum(v) s FROM f TABLESAMPLE BERNOULLI (100) GROUP BY k) x WHERE x.k = g.k', 'SELECT count(*), sum(x.s) FROM g, (SELECT f.k, sum(v) s FROM f, generate_series(1, 3) r WHERE f.v = r GROUP BY f.k) x WHERE x.k = g.k', 'SELECT count(*), sum(x.f8) FROM g, (SELECT f8, count(*) c FROM f GROUP BY f8) x WHERE x.c = g.k', 'SELECT count(x), max(x.c) FROM g, (SELECT k, count(*) c FROM f GROUP BY k) x WHERE x.k = g.k'
]) AS q;
-- a sequence in a column that nothing reads is drawn from once a group all the same
CREATE SEQUENCE drawn;
SET gpuconc.debug_offload = prefer;
SELECT count(*), sum(x.s) FROM g, (SELECT kn, sum(v) s, nextval('drawn') FROM f GROUP BY kn) x WHERE x.kn = g.k;
SELECT last_value FROM drawn;
-- InitPlans outside and inside, correlated subplans, rescans, UNION ALL, views, CTEs
CREATE VIEW per_k AS SELECT k, sum(v) AS s, avg(n) AS a, count(*) AS c FROM f GROUP BY k;
CREATE VIEW per_s AS SELECT s, count(*) AS c, max(k) AS k FROM per_k GROUP BY s HAVING count(*) > 1;
CREATE VIEW barred WITH (security_barrier) AS SELECT kn, sum(v) AS s FROM f WHERE v > 10 GROUP BY kn;
SELECT q, embedded(q), check_sub(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(s) FROM per_k JOIN g USING (k) WHERE g.x = 5 AND per_k.c > 3', 'SELECT count(*), sum(p.c) FROM per_s p JOIN g ON g.k = p.k', 'SELECT count(*), sum(p.s) FROM per_k p JOIN per_s r ON p.k = r.k', 'SELECT count(*), sum(s) FROM barred b JOIN g ON b.kn = g.k WHERE b.s > 100', 'WITH w AS MATERIALIZED (SELECT k, sum(v) s FROM f GROUP BY k) SELECT count(*), sum(s) FROM w JOIN g USING (k)', 'WITH w AS (SELECT kn, sum(v) s FROM f GROUP BY kn) SELECT count(*), max(w.s) FROM w JOIN g ON w.kn = g.k WHERE w.s > (SELECT avg(s) FROM w)', 'SELECT count(*) FROM per_k JOIN g USING (k) WHERE per_k.s > (SELECT avg(x) * 50 FROM g)', 'SELECT count(*), sum(s) FROM (SELECT kn, sum(v) s FROM f WHERE v > (SELECT min(k) + 3 FROM few) GROUP BY kn) x JOIN g ON g.k = x.kn', 'SELECT count(*), sum(s) FROM (SELECT kn, sum(v) s FROM f GROUP BY kn HAVING sum(v) > (SELECT max(k) * 100 FROM few)) x JOIN g ON g.k = x.kn',
	'SELECT few.k, (SELECT sum(x.s) FROM g, (SELECT kn, sum(v) s FROM f WHERE v > few.k GROUP BY kn) x WHERE x.kn = g.k) FROM few', 'SELECT few.k, (SELECT sum(x.s + few.k) FROM g, (SELECT kn, sum(v) s FROM f GROUP BY kn HAVING sum(v) > few.k * 1000) x WHERE x.kn = g.k AND g.x > few.k) FROM few', 'SELECT few.k FROM few WHERE EXISTS (SELECT FROM g, (SELECT kn, count(*) c FROM f WHERE v = few.k GROUP BY kn) x WHERE x.kn = g.k AND x.c > 8 OFFSET 0)', 'SELECT few.k, x.m FROM few, (SELECT max(s) m FROM (SELECT kn, sum(v) s FROM f GROUP BY kn) y, g WHERE g.k = y.kn GROUP BY g.name) x WHERE x.m > few.k * 1500',
	'SELECT 1, count(*), sum(s) FROM per_k JOIN g USING (k) UNION ALL SELECT 2, count(*), sum(s) FROM (SELECT t, sum(v) s FROM f GROUP BY t) x JOIN g ON g.name = x.t', 'SELECT count(*), sum(s) FROM (SELECT k, s FROM per_k WHERE c > 5 UNION ALL SELECT k, x FROM g) y JOIN g USING (k)', 'SELECT count(*), sum(y.z) FROM (SELECT k, s + coalesce(x, 0) AS z FROM per_k JOIN g USING (k) OFFSET 0) y JOIN g USING (k)', 'SELECT s, count(*), rank() OVER (ORDER BY count(*), s) FROM per_k JOIN g USING (k) GROUP BY s'
]) AS q;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off;
SELECT check_sub('SELECT a.k, b.m FROM (SELECT k FROM few OFFSET 0) a LEFT JOIN (SELECT max(x.s) AS m, g.x FROM (SELECT kn, sum(v) s FROM f GROUP BY kn) x, g WHERE g.k = x.kn GROUP BY g.x) b ON b.x < a.k AND b.m > a.k * 700');
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_material; RESET enable_memoize;
SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SELECT check_sub('SELECT count(*), sum(s) FROM per_k JOIN g USING (k) WHERE g.x = 5 AND per_k.c > 3'), check_sub('SELECT g.k, s FROM per_k JOIN g USING (k) WHERE g.x = 5 AND per_k.c > 3');
RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;
SET max_parallel_workers_per_gather = 0;
SELECT check_sub('SELECT count(*), sum(s) FROM per_k JOIN g USING (k) WHERE g.x = 5 AND per_k.c > 3');
RESET max_parallel_workers_per_gather;
-- partitions and children below a subquery
CREATE TABLE hp (k int, v int) PARTITION BY HASH (k);
CREATE TABLE hp0 PARTITION OF hp FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hp1 PARTITION OF hp FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO hp SELECT i % 50, i FROM generate_series(1, 1000) AS i;
CREATE TABLE child () INHERITS (few);
INSERT INTO child VALUES (3), (4);
SELECT check_sub('SELECT count(*), sum(s) FROM (SELECT k, sum(v) s FROM hp GROUP BY k) x JOIN g USING (k)'), check_sub('SELECT count(*), sum(s) FROM (SELECT k, count(*) s FROM few GROUP BY k) x JOIN g USING (k)'), check_sub('SELECT count(*), sum(s) FROM (SELECT k, count(*) s FROM ONLY few GROUP BY k) x JOIN g USING (k)');
DROP TABLE child;
VACUUM ANALYZE few;

-- errors are PostgreSQL's; where it computes no row, there is none
CREATE TABLE large (k int, f float8, f4 float4, i int8, z int);
INSERT INTO large SELECT i % 4, 1.5e308, 3e38, 9e18, i % 3 FROM generate_series(1, 32) AS i;
SELECT settle();
VACUUM ANALYZE large;
SELECT q, check_error(q, '{subqueries}') FROM unnest(ARRAY['SELECT count(*), max(x.s) FROM few, (SELECT k, sum(f) s FROM large GROUP BY k) x WHERE x.k = few.k', 'SELECT count(*), max(x.s) FROM few, (SELECT k, sum(f4) s FROM large GROUP BY k) x WHERE x.k = few.k', 'SELECT count(*), max(x.s) FROM few, (SELECT k, avg(f) s FROM large GROUP BY k) x WHERE x.k = few.k', 'SELECT count(*), max(x.s) FROM few, (SELECT k, 10 / min(z) s FROM large GROUP BY k) x WHERE x.k = few.k',
	'SELECT count(*) FROM few, (SELECT k, sum(i + i) s FROM large GROUP BY k) x WHERE x.k = few.k AND x.s > 0', 'SELECT count(*) FROM few, (SELECT k FROM large GROUP BY k HAVING sum(i)::int8 > 3) x WHERE x.k = few.k', 'SELECT k FROM large GROUP BY k HAVING sum(f) > 0', 'SELECT k FROM large GROUP BY k ORDER BY sum(f4) LIMIT 2', 'SELECT k, sum(f4) FROM large GROUP BY k', 'SELECT k, sum(f4) FROM large GROUP BY k HAVING count(*) > 100', 'SELECT k, avg(f) FROM large GROUP BY k ORDER BY max(z) LIMIT 1', 'SELECT count(*), max(x.s) FROM few, (SELECT k, sum(f) s FROM large GROUP BY k HAVING count(*) > 100) x WHERE x.k = few.k', 'SELECT k FROM large GROUP BY k HAVING 10 / min(z) > 3', 'SELECT k FROM large GROUP BY k HAVING sum(i)::int8 > 3 ORDER BY max(f) LIMIT 1']) AS q;
SELECT q, check_sub(q) FROM unnest(ARRAY['SELECT count(*), max(x.s) FROM few, (SELECT k, sum(f / 8) s FROM large GROUP BY k) x WHERE x.k = few.k', 'SELECT count(*), max(x.s) FROM few, (SELECT k, sum(i) s FROM large GROUP BY k) x WHERE x.k = few.k', 'SELECT count(*) FROM few, (SELECT k, 10 / min(z) s FROM large WHERE z > 0 GROUP BY k) x WHERE x.k = few.k AND x.s > 9', 'SELECT k FROM large GROUP BY k HAVING sum(i) > 7e19', 'SELECT k, sum(f4 / 4) FROM large GROUP BY k HAVING sum(f4 / 4) > 0']) AS q;

-- parameters, generic plans: each value has its own answer
SET plan_cache_mode = force_generic_plan;
SET gpuconc.debug_offload = require;
PREPARE p(int, numeric, text) AS SELECT count(*), sum(x.s) FROM g, (SELECT kn, sum(v) s, avg(n) a FROM f WHERE v > $1 AND t <> $3 GROUP BY kn HAVING count(*) > $1) x WHERE x.kn = g.k AND x.a < $2;
EXECUTE p(5, 1.5, 't1');
EXECUTE p(50, 1.5, 't2');
EXECUTE p(50, -1.25, 't2');
EXECUTE p(50, 1.5, 'x');
EXECUTE p(NULL, 1.5, 'x');
EXECUTE p(50, NULL, 'x');
EXECUTE p(5, 1.5, 't1');
SET gpuconc.debug_offload = forbid;
EXECUTE p(5, 1.5, 't1');
EXECUTE p(50, 1.5, 't2');
EXECUTE p(50, -1.25, 't2');
EXECUTE p(50, 1.5, 'x');
SET gpuconc.debug_offload = prefer;
RESET plan_cache_mode;
-- the rows below a subquery change
SELECT count(*), sum(x.s) FROM g, (SELECT kn, sum(v) s FROM f GROUP BY kn) x WHERE x.kn = g.k;
BEGIN;
INSERT INTO f (kn, v) VALUES (1, 1000), (NULL, 5), (40, 7);
SELECT count(*), sum(x.s) FROM g, (SELECT kn, sum(v) s FROM f GROUP BY kn) x WHERE x.kn = g.k;
DELETE FROM f WHERE kn = 2;
SELECT count(*), sum(x.s) FROM g, (SELECT kn, sum(v) s FROM f GROUP BY kn) x WHERE x.kn = g.k;
ROLLBACK;
SELECT count(*), sum(x.s) FROM g, (SELECT kn, sum(v) s FROM f GROUP BY kn) x WHERE x.kn = g.k;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT g.k, x.s FROM g, (SELECT kn, sum(v) s FROM f WHERE kn < 4 GROUP BY kn) x WHERE x.kn = g.k ORDER BY 1;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH ALL FROM c;
COMMIT;

-- permissions and row security of the table below
CREATE ROLE regress_subqueries;
GRANT USAGE ON SCHEMA subqueries TO regress_subqueries;
GRANT SELECT ON g, per_k TO regress_subqueries;
GRANT SELECT (kn, v, b) ON f TO regress_subqueries;
CREATE TABLE own AS SELECT kn AS k, v, i % 2 = 0 AS mine FROM f, generate_series(1, 2) AS i;
ALTER TABLE own ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON own USING (mine AND v <> 5);
GRANT SELECT ON own TO regress_subqueries;
SELECT settle();
VACUUM ANALYZE own;
SELECT count(*), sum(x.s) FROM g, (SELECT k, sum(v) s FROM own GROUP BY k) x WHERE x.k = g.k;
SET ROLE regress_subqueries;
SELECT count(*), sum(x.s) FROM subqueries.g, (SELECT k, sum(v) s FROM subqueries.f GROUP BY k) x WHERE x.k = g.k;
SELECT count(*), sum(x.s) FROM subqueries.g, (SELECT kn, sum(v) s FROM subqueries.f GROUP BY kn) x WHERE x.kn = g.k;
SELECT count(*), sum(x.s) FROM subqueries.g, subqueries.per_k x WHERE x.k = g.k;
SELECT count(*), sum(x.s) FROM subqueries.g, subqueries.per_s x WHERE x.k = g.k;
SELECT count(*), sum(x.s) FROM subqueries.g, (SELECT k, sum(v) s FROM subqueries.own GROUP BY k) x WHERE x.k = g.k;
SELECT count(*), sum(x.s) FROM (SELECT s, count(*) c FROM (SELECT k, sum(v) s FROM subqueries.own GROUP BY k) y GROUP BY s) x;
SELECT k, sum(v) FROM subqueries.own GROUP BY k HAVING count(*) > 1 ORDER BY 2 DESC, 1 LIMIT 2;
SET gpuconc.debug_offload = forbid;
SELECT count(*), sum(x.s) FROM subqueries.g, (SELECT k, sum(v) s FROM subqueries.own GROUP BY k) x WHERE x.k = g.k;
SELECT count(*), sum(x.s) FROM (SELECT s, count(*) c FROM (SELECT k, sum(v) s FROM subqueries.own GROUP BY k) y GROUP BY s) x;
SELECT k, sum(v) FROM subqueries.own GROUP BY k HAVING count(*) > 1 ORDER BY 2 DESC, 1 LIMIT 2;
RESET ROLE;
SET gpuconc.debug_offload = prefer;

-- plans
EXPLAIN (COSTS OFF) SELECT g.name, sum(x.s) FROM g, (SELECT kn, sum(v) s FROM f WHERE v > 3 GROUP BY kn HAVING count(*) > 3) x WHERE x.kn = g.k AND x.s > 5 GROUP BY g.name;
EXPLAIN (COSTS OFF) SELECT c, count(*) FROM (SELECT k, count(*) c FROM f GROUP BY k) x GROUP BY c HAVING count(*) > 1;
EXPLAIN (COSTS OFF) SELECT count(*) FROM g, (SELECT DISTINCT kn FROM f, few WHERE f.v = few.k) x WHERE x.kn = g.k;
CREATE FUNCTION explained(options text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text := '';
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		result := result || line || E'\n';
	END LOOP;
	RETURN result;
END $$;
SELECT o, bool_and(explained(o, q) ~ 'GpuconcAggregate') FROM unnest(ARRAY['VERBOSE', 'ANALYZE', 'ANALYZE, VERBOSE', 'FORMAT JSON', 'ANALYZE, VERBOSE, FORMAT JSON', 'ANALYZE, BUFFERS, FORMAT XML', 'FORMAT YAML, VERBOSE']) AS o,
	unnest(ARRAY['SELECT g.name, sum(x.s) FROM g, (SELECT kn, sum(v) s FROM f WHERE v > 3 GROUP BY kn HAVING count(*) > 3) x WHERE x.kn = g.k AND x.s > 5 GROUP BY g.name', 'SELECT sum(c) FROM (SELECT c, count(*) FROM (SELECT k, count(*) c FROM f GROUP BY k) x GROUP BY c HAVING count(*) > 1) y', 'SELECT count(*) FROM g, (SELECT DISTINCT kn FROM f, few WHERE f.v = few.k) x WHERE x.kn = g.k', 'SELECT count(*) FROM f, (SELECT k, avg(n) a FROM f GROUP BY k) x WHERE x.k = f.k AND f.n > x.a']) AS q GROUP BY o ORDER BY 1;

-- lookup tables of columns that have the same numbers in two query levels
CREATE TABLE outer_level (k int, n int, d date);
INSERT INTO outer_level SELECT i, i % 50, date '2000-01-01' + i FROM generate_series(1, 200) AS i;
CREATE TABLE inner_level (id int, t varchar(200), w int);
INSERT INTO inner_level SELECT i % 50, 'text ' || i % 30, i FROM generate_series(1, 1000) AS i;
SELECT settle();
VACUUM ANALYZE outer_level, inner_level;
SELECT check_sub('SELECT o.n % 3, extract(year FROM o.d), count(*), sum(x.s) FROM outer_level o, (SELECT id, sum(w) s FROM inner_level WHERE length(t) > 6 GROUP BY id) x WHERE x.id = o.n AND extract(dow FROM o.d) < 4 AND to_char(o.n, ''999'') ~ ''[1-4]'' GROUP BY 1, 2');
SELECT check_sub('SELECT count(*), sum(x.s) FROM outer_level o, (SELECT id, sum(w) s FROM inner_level WHERE upper(t) LIKE ''%7'' GROUP BY id) x, (SELECT w % 50 id, count(*) s FROM inner_level WHERE to_char(id, ''99'') LIKE ''%1'' GROUP BY 1) y WHERE x.id = o.n AND y.id = o.n');

RESET gpuconc.debug_offload;
RESET search_path;
DROP SCHEMA subqueries CASCADE;
DROP ROLE regress_subqueries;

SET search_path = cached, public;
-- InitPlans: scalar subqueries that an aggregated subquery, or its HAVING, uses, at any depth
SELECT plan_of('SELECT count(*), sum(c) FROM shop JOIN (SELECT shop, count(*) AS c FROM sales WHERE price > (SELECT avg(price) FROM sales) GROUP BY 1 HAVING count(*) > (SELECT min(s_region) FROM shop)) x ON shop = s_id');
SELECT check_whole('SELECT count(*), sum(c) FROM shop JOIN (SELECT shop, count(*) AS c FROM sales WHERE price > (SELECT avg(price) FROM sales) GROUP BY 1) x ON shop = s_id');
SELECT check_whole('SELECT s_name, c FROM shop JOIN (SELECT shop, count(*) AS c FROM sales GROUP BY 1 HAVING sum(price) > (SELECT sum(price) / 50 FROM sales)) x ON shop = s_id');
SELECT check_whole('SELECT count(*) FROM (SELECT shop, max(c) AS m FROM (SELECT shop, customer, count(*) AS c FROM sales WHERE quantity > (SELECT avg(quantity) FROM sales) GROUP BY 1, 2) x WHERE c < (SELECT count(*) FROM city) GROUP BY 1) y WHERE m > (SELECT min(s_region) FROM shop)');
SELECT check_whole('SELECT count(*) FROM shop JOIN (SELECT shop, sum(price) AS p FROM sales WHERE quantity > (SELECT s_region FROM shop WHERE s_id < 0) GROUP BY 1) x ON shop = s_id');
SELECT check_error('SELECT count(*) FROM shop JOIN (SELECT shop, sum(price) AS p FROM sales WHERE quantity > (SELECT s_region FROM shop) GROUP BY 1) x ON shop = s_id');
SELECT check_whole('WITH revenue AS (SELECT shop, sum(price) AS p FROM sales GROUP BY 1) SELECT s_name, p FROM shop, revenue WHERE s_id = shop AND p = (SELECT max(p) FROM revenue)');
-- columns that equal a constant, of which nothing is left above their subqueries
SELECT check_whole(q) FROM unnest(ARRAY['SELECT count(*), sum(a.p) FROM (SELECT shop, 5 AS c, max(price) AS p FROM sales GROUP BY 1) a, (SELECT shop, 5 AS c, max(price) AS p FROM sales GROUP BY 1) b WHERE a.shop = b.shop AND a.c = 5 AND b.c = 5', 'SELECT count(*), sum(a.p) FROM (SELECT shop, shop % 3 AS c, max(price) AS p FROM sales GROUP BY shop) a, (SELECT shop, shop % 3 AS c, max(price) AS p FROM sales GROUP BY shop) b WHERE a.shop = b.shop AND a.c = 1 AND b.c = 1',
	'SELECT count(*), sum(a.p) FROM (SELECT shop, ''a'' AS c, max(price) AS p FROM sales GROUP BY 1 UNION ALL SELECT customer, ''b'', max(price) FROM sales GROUP BY 1) a, (SELECT shop, ''a'' AS c, max(price) AS p FROM sales GROUP BY 1 UNION ALL SELECT customer, ''b'', max(price) FROM sales GROUP BY 1) b WHERE a.shop = b.shop AND a.c = ''a'' AND b.c = ''a''']) AS q;
-- ... in a level that is executed again for each row
SELECT check_same('SELECT k, (SELECT count(*) FROM shop JOIN (SELECT shop, count(*) AS c FROM sales WHERE quantity > (SELECT avg(quantity) + k FROM sales) GROUP BY 1) x ON shop = s_id WHERE s_region > k) FROM generate_series(0, 3) k');
