-- Which groups are returned, chosen on the device: HAVING, and the first few in an order.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA topk;
SET search_path = topk, public;

CREATE TABLE f (id int, k int, t text, n numeric(12,2), w numeric(30,10), i8 int8, f4 float4, f8 float8, z float8, d date, v int NOT NULL, u int);
INSERT INTO f SELECT i, i % 3000, 't' || i % 3001, (i * 7919 % 20011 - 10000) / 100.0, (i * 104729::int8 % 1000003 - 500000) * 567.0123456789,
	(i * 104729::int8 % 1000003 - 500000) * 9000000000000, (i % 64 - 32) / 4.0, CASE i % 3000 WHEN 5 THEN 'NaN' WHEN 6 THEN 'Infinity' WHEN 7 THEN '-Infinity' ELSE (i % 512 - 256) / 8.0 END,
	CASE WHEN i % 2 = 0 THEN 0 ELSE '-0'::float8 END, date '1999-12-01' + i % 90, i % 97 - 48, CASE WHEN i % 3000 > 40 THEN i * 31 % 100003 - 50000 END
FROM generate_series(1, 12000) AS i;
CREATE TABLE g AS SELECT i AS k, 't' || i % 37 AS name, i % 40 AS x FROM generate_series(0, 3100) AS i;
CREATE TABLE many AS SELECT i * 7 % 300007 AS k, i % 17001 AS j, i % 1000 AS v FROM generate_series(1, 320000) AS i;
CREATE TABLE none (k int, v int);
SELECT settle();
VACUUM ANALYZE f, g, many, none;

-- Rows in their order, and as sets.  Does the plan choose on the device?
CREATE FUNCTION check_top(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	chosen text := 'all';
	got text[];
	used bigint;
BEGIN
	PERFORM set_config('search_path', 'topk, public', true), set_config('gpuconc.debug_offload', 'prefer', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ '^ *Choose' THEN
			chosen := concat_ws('; ', nullif(chosen, 'all'), regexp_replace(line, '^ *', ''));
		END IF;
	END LOOP;
	SELECT offloaded INTO used FROM gpuconc_stat_get();
	got := rows_of(query, 'prefer');
	-- ties are in no order
	IF (CASE WHEN query ~ 'WITH TIES' THEN difference(rows_of(query, 'forbid'), got) IS NOT NULL ELSE got IS DISTINCT FROM rows_of(query, 'forbid') END) THEN
		RETURN 'DIFFERENT: ' || query || E'\n' || coalesce(difference(rows_of(query, 'forbid'), got), 'in another order');
	END IF;
	RETURN format('%s%s rows, %s', CASE WHEN used = (SELECT offloaded FROM gpuconc_stat_get()) THEN 'NOT OFFLOADED, ' END, cardinality(got), chosen);
END $$;

-- each aggregate and type, both directions, NULLs at either end, ties at the limit
SELECT q, check_top('SELECT k, ' || q || ' FROM f GROUP BY k ORDER BY 2 DESC, k LIMIT 10') AS most, check_top('SELECT k, ' || q || ' FROM f GROUP BY k ORDER BY 2, k DESC LIMIT 7') AS least,
	check_top('SELECT k, ' || q || ' FROM f GROUP BY k ORDER BY 2 DESC NULLS LAST, k LIMIT 33') AS nulls_last, check_top('SELECT k, ' || q || ' FROM f GROUP BY k ORDER BY 2 NULLS FIRST, k LIMIT 50') AS nulls_first
FROM unnest(ARRAY['sum(v)', 'sum(u)', 'count(*)', 'count(u)', 'min(u)', 'max(v)', 'sum(n)', 'min(n)', 'sum(w)', 'avg(w)', 'sum(i8)', 'min(i8)', 'avg(n)', 'avg(v)', 'max(d)', 'sum(f8)', 'min(f8)', 'max(f8)', 'sum(f4)', 'avg(f8)', 'sum(CASE WHEN f8 BETWEEN -100 AND 100 THEN f8 END)', 'max(z)', 'sum(v) - 2 * max(v)', 'abs(sum(u))', 'sum(n * v)', '-sum(v)', 'CASE WHEN sum(v) > 0 THEN max(u) END', 'sum(v) FILTER (WHERE u > 0)', 'min(t)', 'max(t)', 'bool_and(v > 0)', 'sum(v)::float8 / count(*)']) AS q;
-- zero and minus zero are equal: the second key decides
SELECT check_top('SELECT k, max(z), min(v) FROM f GROUP BY k ORDER BY 2 DESC, k DESC LIMIT 3'), check_top('SELECT k, max(z) FROM f GROUP BY k ORDER BY 2, k LIMIT 3'), check_top('SELECT k, max(-z) FROM f GROUP BY k ORDER BY 2, k LIMIT 5 OFFSET 2');
-- limits
SELECT q, check_top('SELECT k, sum(v) FROM f GROUP BY k ORDER BY 2, 1 ' || q) FROM unnest(ARRAY['', 'LIMIT 0', 'LIMIT 1', 'LIMIT 31', 'LIMIT 32', 'LIMIT 33', 'LIMIT 3000', 'LIMIT 5000', 'LIMIT 200000', 'LIMIT 5 OFFSET 7', 'LIMIT 5 OFFSET 2998', 'LIMIT 5 OFFSET 4000', 'OFFSET 2990', 'LIMIT NULL', 'LIMIT ALL OFFSET 2995', 'LIMIT (SELECT 5)', 'LIMIT 2 + 3', 'FETCH FIRST 5 ROWS ONLY', 'FETCH FIRST 5 ROWS WITH TIES', 'LIMIT 9223372036854775807', 'LIMIT 5 OFFSET 9223372036854775807']) AS q;
SELECT check_top('SELECT k, count(*) FROM f GROUP BY k ORDER BY 2 FETCH FIRST 5 ROWS WITH TIES'), check_top('SELECT k % 10 AS k, max(v) FROM f GROUP BY 1 ORDER BY 2 DESC FETCH FIRST 2 ROWS WITH TIES'), check_top('SELECT k, sum(v) FROM f WHERE k < 100 GROUP BY k ORDER BY 2 DESC, 1 OFFSET 4 FETCH FIRST 5 ROWS WITH TIES');
SELECT * FROM (SELECT k FROM f GROUP BY k ORDER BY sum(v) LIMIT -1) x;
-- keys, texts, ties of all, no rows, one group, a constant
SELECT q, check_top(q) FROM unnest(ARRAY[
	'SELECT k FROM f GROUP BY k ORDER BY k DESC LIMIT 5', 'SELECT k, t, sum(v) FROM f GROUP BY k, t ORDER BY 3, 1, 2 LIMIT 5', 'SELECT t, sum(v) FROM f GROUP BY t ORDER BY t DESC LIMIT 5', 'SELECT t, sum(v) FROM f GROUP BY t ORDER BY t, 2 LIMIT 5', 'SELECT t, sum(v) FROM f GROUP BY t ORDER BY 2, t LIMIT 5', 'SELECT k % 7, count(*) > 5 FROM f GROUP BY 1 ORDER BY 2, 1 LIMIT 2', 'SELECT k, 1 FROM f GROUP BY k ORDER BY sum(v - v), k LIMIT 3', 'SELECT k FROM none GROUP BY k ORDER BY sum(v) LIMIT 5', 'SELECT sum(v) FROM none ORDER BY 1 LIMIT 5', 'SELECT sum(v) FROM f ORDER BY 1 LIMIT 5', 'SELECT sum(v) FROM f GROUP BY 3 + 4 ORDER BY 1 LIMIT 5', 'SELECT d, count(*), sum(n) FROM f GROUP BY d ORDER BY 3 DESC, d LIMIT 4', 'SELECT n, count(*) FROM f GROUP BY n ORDER BY 2 DESC, n LIMIT 4', 'SELECT d, n > 0, count(*) FROM f GROUP BY 1, 2 ORDER BY n > 0, 3, 1 LIMIT 4', 'SELECT u, count(*) FROM f GROUP BY u ORDER BY u NULLS FIRST LIMIT 4', 'SELECT u, count(*) FROM f GROUP BY u ORDER BY u DESC NULLS LAST LIMIT 4', 'SELECT v, sum(n) FROM f GROUP BY v ORDER BY v USING > LIMIT 4'
]) AS q;
-- HAVING: on the device, in part, and not there; with a limit, and without
SELECT q, check_top('SELECT k, sum(v) FROM f GROUP BY k HAVING ' || q || ' ORDER BY 2, 1 LIMIT 10') AS limited, check_top('SELECT k, sum(v) FROM f GROUP BY k HAVING ' || q || ' ORDER BY 1') AS whole FROM unnest(ARRAY[
	'sum(v) > 100', 'sum(v) > 100000', 'count(*) = 4 AND k > 50', 'sum(u) IS NULL', 'avg(n) > 30', 'avg(n) < -50.5 OR max(i8) < 0', 'min(t) LIKE ''t1%''', 'bool_or(v > 30)', 'min(t) > ''t2'' AND sum(v) > 50', 'max(d) > date ''2000-02-01''', 'sum(f8) > 10', 'sum(n)::text LIKE ''%7''', 'sum(v) BETWEEN 10 AND 20', 'max(v) IN (1, 2, 3)', 'NOT (sum(v) > 0) AND sum(v) <> -5', 'sum(v) > (SELECT avg(x) FROM g)', 'k IN (SELECT x FROM g)', 'sum(v) % 7 = 3', 'random() < 2', 'sum(v) > 180 AND random() < 2', 'string_agg(t, '','') > ''t''', 'stddev(v) > 3', 'grouping(k) = 0'
]) AS q;
SELECT q, check_top('SELECT sum(v), count(*) FROM f HAVING ' || q) FROM unnest(ARRAY['count(*) > 5', 'count(*) < 5', 'sum(v) IS NULL', 'min(t) > ''a''']) AS q;
-- divisions by zero in groups that PostgreSQL looks at, too, and in such that it does not
SELECT check_error('SELECT k FROM topk.f GROUP BY k HAVING 1000 / (count(*) - 4) > 0 ORDER BY sum(v) LIMIT 1', '{topk}'), check_top('SELECT k FROM f GROUP BY k HAVING CASE WHEN count(*) <> 4 THEN 1000 / (count(*) - 4) > 0 ELSE true END ORDER BY sum(v), k LIMIT 1');
-- ... which PostgreSQL tests first, as that costs less
SELECT check_error('SELECT k FROM topk.f GROUP BY k HAVING count(*)::numeric + count(*)::numeric > 100 AND stddev(v) / avg(v - v) <> 1', '{topk}');
-- ... also where the target list divides
SELECT q, check_error('SELECT k, 1000 / (count(*) - 4) FROM topk.f GROUP BY k ORDER BY ' || q, '{topk}') FROM unnest(ARRAY['sum(v), k LIMIT 1', '2, 1 LIMIT 1', 'sum(v), 2']) AS q;
SELECT q, check_top('SELECT k, ' || q || ' FROM f GROUP BY k ORDER BY sum(v), 1 LIMIT 3') FROM unnest(ARRAY['100 / (count(*) + 1)', 'sum(n) * 2 + count(*)', 'sum(n) / 4', 'CASE WHEN sum(v) > 3 THEN min(d) END', 'sum(v) > 3 AND min(t) < ''t4''', 'k + 1', 'coalesce(max(u), -1)', 'sum(v)::numeric', 'sum(v)::int', 'sum(v) || ''x''']) AS q;

-- Of rows in an order no more are made than LIMIT wants, whatever they are sorted by; but all of those whose values may fail.
CREATE FUNCTION rows_out(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	PERFORM set_config('search_path', 'topk, public', true), set_config('gpuconc.debug_offload', 'require', true);
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ '^ *Stream:' THEN
			RETURN substring(line FROM '[0-9]+ out');
		END IF;
	END LOOP;
END $$;
SELECT q, rows_out(q), check_top(q) FROM unnest(ARRAY['SELECT t, avg(n), count(*), min(d), stddev(v) FROM f GROUP BY t ORDER BY t LIMIT 7', 'SELECT t, k, avg(v), GROUPING(t, k) FROM f GROUP BY ROLLUP (t, k) ORDER BY t DESC NULLS LAST, k, 4 LIMIT 7',
	'SELECT t, sum(f8) FROM f WHERE k > 100 GROUP BY t ORDER BY t LIMIT 7']) AS q;
SELECT check_error('SELECT t, sum(CASE WHEN k > 10 THEN 1e308::float8 END) FROM topk.f GROUP BY t ORDER BY t LIMIT 1', '{topk}');
-- HAVING by near values: how many groups are decoded, with single, constant and zero ones, NULLs, few digits left, and what is just at the bound
CREATE TABLE s AS SELECT g * 1000003::int8 AS k, CASE WHEN g % 11 = 0 THEN 7 WHEN g % 13 = 0 THEN r * 2 - 3 ELSE g * r * 7919 % 97 - 48 END AS v, CASE WHEN g % 5 > 0 THEN (g * 31 + r * 17) % 1003 - 500 END AS u,
	((g * r * 7919 % 20011 - 10000) / 100.0)::numeric(12,2) AS n, round(g * r / 7.0, r % 4) AS x, CASE WHEN g % 7 = 0 THEN 5 ELSE g * r * 90000000000 END AS b
FROM generate_series(1, 900) AS g, generate_series(1, 5) AS r WHERE r <= g % 5 + 1;
SELECT settle();
VACUUM ANALYZE s;
CREATE FUNCTION check_near(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	decoded text;
BEGIN
	PERFORM set_config('search_path', 'topk, public', true), set_config('gpuconc.debug_offload', 'require', true);
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		decoded := coalesce(decoded, substring(line FROM '^ *Stream:.* ([0-9]+) out'));
	END LOOP;
	RETURN format('%s decoded, %s', decoded, check_top(query));
END $$;
SELECT q, check_near('SELECT k, sum(v), avg(n) FROM s GROUP BY k HAVING ' || q || ' ORDER BY 1') FROM unnest(ARRAY[
	'CASE avg(v) WHEN 0 THEN 0 ELSE stddev_samp(v) * 1.000 / avg(v) END > 1', 'stddev_samp(n) / nullif(avg(n), 0) > 1', 'coalesce(stddev(u), 0) = 0', 'stddev(v) <= 0', 'stddev_pop(n) = 0', 'var_samp(x) <> var_pop(x)', 'avg(v) + 2 * stddev(v) > 90', 'avg(n) - stddev(n) >= avg(x)', 'stddev(v) < (SELECT 1.5)', 'stddev(u) BETWEEN 1 AND 20', 'stddev(v) > 50 OR k % 17 = 7', 'NOT stddev(v) > 3', 'stddev(v) FILTER (WHERE u > 0) > 40', 'stddev(v) > ''NaN''', 'stddev(v) < ''-Infinity''', 'stddev(v) = 1.4142135623730950', 'variance(v) = 2', 'variance(b) > 1e12', 'stddev(b) > 1', 'stddev(b) < 1e30', '-var_pop(b) > stddev(n)', 'count(DISTINCT u) > 3 AND stddev(v) > 20', 'stddev(DISTINCT v) > 40', 'variance(v) * 1e-250 * 1e-250 > 1', 'CASE WHEN stddev(v) > 40 AND avg(u) < 0 THEN avg(n) WHEN avg(x) > 50 THEN 3 END > 2',
	'nullif(nullif(nullif(nullif(nullif(nullif(nullif(nullif(stddev(v), 1), 2), NULL), avg(v)), stddev(u)), 7), 8), 9) > 20', 'coalesce(stddev(u), nullif(stddev(v), 0), stddev(n), stddev(x), var_pop(u), var_pop(n), avg(u), avg(x), avg(v), 99) > 350'
]) AS q;
SELECT q, check_near(q) FROM unnest(ARRAY['SELECT k + 1, stddev(v) FROM s WHERE k < 0 GROUP BY 1 HAVING stddev(v) > 1', 'SELECT * FROM (SELECT k, avg(v) AS mean, stddev(v) AS d FROM s GROUP BY k) x WHERE CASE WHEN mean <> 0 THEN d / mean END > 4 ORDER BY k', 'WITH x AS MATERIALIZED (SELECT k, avg(v) AS mean, stddev(v) AS d FROM s GROUP BY k HAVING stddev(v) > 20) SELECT a.k, a.d / b.mean FROM x a JOIN x b ON a.k = b.k + 1000003 WHERE b.mean <> 0 ORDER BY 1']) AS q;
-- errors of groups that are not returned, beside NULL and in PostgreSQL's order of conditions
SELECT q, check_error('SELECT k FROM topk.s GROUP BY k HAVING ' || q, '{topk}') FROM unnest(ARRAY['stddev(v) / avg(v) > 1000', 'var_samp(v) FILTER (WHERE u > 100000) > stddev(v) / avg(v)', 'count(*)::numeric + count(*)::numeric > 100 AND stddev(v) / avg(v) <> 1', '(stddev(v) / avg(v) > 1 AND stddev(v) > 1000000) OR k < 0', '(var_samp(v) FILTER (WHERE u > 100000) > 1 AND stddev(v) / avg(v) > 1) OR k < 0', 'CASE WHEN 1 / avg(v) > 0 OR stddev(v) >= 0 THEN 1.0 ELSE stddev(v) END > 2', 'count(*) > 100 AND stddev(v) / avg(v) <> 1']) AS q;
-- sizes: dense groups, hashed ones, wrong estimates, and very few or nearly all chosen
SELECT q, check_top('SELECT ' || q || ' AS k, sum(v) FROM many GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20') AS few, check_top('SELECT ' || q || ' AS k, sum(v), count(*) FROM many GROUP BY 1 HAVING sum(v) > 990 ORDER BY 1') AS chosen, check_top('SELECT ' || q || ' AS k, sum(v) FROM many GROUP BY 1 ORDER BY 2, 1 LIMIT 9 OFFSET 20000') AS later
FROM unnest(ARRAY['k', 'j', 'k % 31', 'k % 32', 'k % 33', 'k % 1000', 'k % 16384', 'k % 17000', '(k + 1) * 1000003::int8', 'k + j * 100000::int8', 'k % 2 + 9000000000', 'k * 0']) AS q;
SELECT check_top('SELECT k, sum(v) FROM many WHERE k * 2 = k + k AND j * 2 = j + j GROUP BY k HAVING sum(v) >= 0 ORDER BY 2, 1 LIMIT 3'), check_top('SELECT k, sum(v) FROM many WHERE k * 3 = k + k + k AND j * 2 = j + j GROUP BY k HAVING sum(v) * 2 >= 0 ORDER BY 1');
-- over joins, subqueries, and below other nodes
SELECT q, check_top(q) FROM unnest(ARRAY[
	'SELECT g.name, sum(f.v) FROM f JOIN g USING (k) GROUP BY g.name ORDER BY 2 DESC, 1 LIMIT 5', 'SELECT g.k, g.x, sum(f.v) FROM f JOIN g USING (k) GROUP BY g.k, g.x ORDER BY 3 DESC, 1 LIMIT 5', 'SELECT x.s, count(*) FROM (SELECT k, sum(v) s FROM f GROUP BY k) x GROUP BY x.s ORDER BY 2 DESC, 1 LIMIT 5', 'SELECT x.s, count(*) FROM g, (SELECT k, sum(v) s FROM f GROUP BY k) x WHERE x.k = g.k GROUP BY x.s HAVING count(*) > 2 ORDER BY 1 LIMIT 5', 'SELECT count(*), sum(y.v) FROM f y, (SELECT k, sum(v) s FROM f GROUP BY k ORDER BY 2, 1 LIMIT 5) x WHERE x.k = y.k',
	'SELECT DISTINCT ON (sum(v)) sum(v), k FROM f GROUP BY k ORDER BY 1, 2 LIMIT 5', 'SELECT DISTINCT sum(v) FROM f GROUP BY k ORDER BY 1 LIMIT 5', 'SELECT k, sum(v), rank() OVER (ORDER BY sum(v) DESC) FROM f GROUP BY k ORDER BY 2 DESC, 1 LIMIT 5', 'SELECT k, sum(sum(v)) OVER () FROM f GROUP BY k ORDER BY 2, 1 LIMIT 5', 'SELECT k, generate_series(1, 3) FROM f GROUP BY k ORDER BY sum(v), 1, 2 LIMIT 5', 'SELECT * FROM (SELECT k, sum(v) s FROM f GROUP BY k UNION ALL SELECT k, x FROM g) y ORDER BY 2, 1 LIMIT 5', '(SELECT k, sum(v) s FROM f GROUP BY k ORDER BY 2, 1 LIMIT 5) UNION ALL (SELECT k, max(v) FROM f GROUP BY k ORDER BY 2 DESC, 1 LIMIT 2)', 'SELECT s, k FROM (SELECT sum(v) AS s, k FROM f GROUP BY k) x ORDER BY s % 10, k LIMIT 5', 'SELECT g.x, (SELECT y.k FROM f y WHERE y.v > g.x GROUP BY y.k ORDER BY sum(y.v), y.k LIMIT 1) FROM g WHERE g.k < 4 ORDER BY 1', 'SELECT g.k, y.s FROM g, LATERAL (SELECT k % 10 AS r, sum(v) s FROM f WHERE f.v > g.k GROUP BY 1 ORDER BY 2, 1 LIMIT 2) y WHERE g.k < 5 ORDER BY 1, 2', 'SELECT k, count(*) FROM f GROUP BY GROUPING SETS ((k), ()) ORDER BY 2 DESC, 1 LIMIT 2'
]) AS q;
-- grouping sets: NULLs of keys and of sets, duplicate sets, no rows, HAVING, DISTINCT
SELECT q, check_top(q) FROM unnest(ARRAY[
	'SELECT k, d, sum(n), GROUPING(k, d) FROM f GROUP BY CUBE (k, d) ORDER BY 3 DESC, 1, 2, 4 LIMIT 20', 'SELECT u % 50 AS u, v, avg(n), GROUPING(u % 50, v) FROM f GROUP BY ROLLUP (u % 50, v) ORDER BY 1 NULLS FIRST, 2, 4, 3 LIMIT 70', 'SELECT u % 50 AS u, v, count(*), GROUPING(u % 50, v) FROM f GROUP BY GROUPING SETS ((u % 50, v), (v), (v), ()) ORDER BY 1 DESC, 4, 2, 3 LIMIT 33 OFFSET 3', 'SELECT k, t, min(u) FROM f GROUP BY ROLLUP (k, t) ORDER BY 3, 1, 2 LIMIT 9', 'SELECT k, v, sum(w) FROM f GROUP BY CUBE (k, v) ORDER BY 3 FETCH FIRST 5 ROWS WITH TIES',
	'SELECT k, v, sum(n) FROM f GROUP BY CUBE (k, v) HAVING count(*) > 4 AND GROUPING(v) = 1 ORDER BY 3, 1 LIMIT 5', 'SELECT k, v, count(*) AS c, sum(v) FROM f WHERE id < 0 GROUP BY CUBE (k, v) ORDER BY 3 LIMIT 5', 'SELECT k, count(*) FROM f WHERE id < 0 GROUP BY GROUPING SETS ((k), (), ()) HAVING count(*) > 0 ORDER BY 2 LIMIT 5', 'SELECT k, v, count(DISTINCT u), sum(n) FROM f GROUP BY ROLLUP (v, k) ORDER BY 3 DESC, 4, 1, 2 LIMIT 8', 'SELECT k, v, sum(n) / 4 FROM f GROUP BY ROLLUP (v, k) ORDER BY sum(n), 1, 2 LIMIT 8'
]) AS q;
-- an operator family of one's own
CREATE FUNCTION by_abs(int8, int8) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT CASE WHEN abs($1) < abs($2) THEN -1 WHEN abs($1) > abs($2) THEN 1 ELSE 0 END';
CREATE FUNCTION abs_lt(int8, int8) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT abs($1) < abs($2)';
CREATE FUNCTION abs_le(int8, int8) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT abs($1) <= abs($2)';
CREATE FUNCTION abs_eq(int8, int8) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT abs($1) = abs($2)';
CREATE FUNCTION abs_gt(int8, int8) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT abs($1) > abs($2)';
CREATE FUNCTION abs_ge(int8, int8) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT abs($1) >= abs($2)';
CREATE OPERATOR |<| (FUNCTION = abs_lt, LEFTARG = int8, RIGHTARG = int8);
CREATE OPERATOR |<=| (FUNCTION = abs_le, LEFTARG = int8, RIGHTARG = int8);
CREATE OPERATOR |=| (FUNCTION = abs_eq, LEFTARG = int8, RIGHTARG = int8);
CREATE OPERATOR |>=| (FUNCTION = abs_ge, LEFTARG = int8, RIGHTARG = int8);
CREATE OPERATOR |>| (FUNCTION = abs_gt, LEFTARG = int8, RIGHTARG = int8);
CREATE OPERATOR CLASS abs_ops FOR TYPE int8 USING btree AS OPERATOR 1 |<|, OPERATOR 2 |<=|, OPERATOR 3 |=|, OPERATOR 4 |>=|, OPERATOR 5 |>|, FUNCTION 1 by_abs(int8, int8);
SELECT check_top('SELECT k, sum(v) FROM f GROUP BY k ORDER BY sum(v) USING |<|, k LIMIT 3');
-- parameters, generic plans
SET plan_cache_mode = force_generic_plan;
SET gpuconc.debug_offload = require;
PREPARE top(int, int) AS SELECT k, sum(v) FROM f GROUP BY k HAVING sum(v) > $1 ORDER BY 2, 1 LIMIT $2;
EXECUTE top(50, 3);
EXECUTE top(-1000, 2);
EXECUTE top(51, 3);
EXECUTE top(NULL, 3);
PREPARE top3(int) AS SELECT k, sum(v) FROM f WHERE k > $1 GROUP BY k ORDER BY 2, 1 LIMIT 3;
EXECUTE top3(0);
EXECUTE top3(1500);
EXECUTE top3(5000);
RESET plan_cache_mode;
-- a cursor, and rows that come and go
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, sum(v) FROM f GROUP BY k ORDER BY 2 DESC, 1 LIMIT 4;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM c;
COMMIT;
SET gpuconc.debug_offload = prefer;
INSERT INTO f (k, v) VALUES (-5, 1000000), (-6, -1000000);
SELECT k, sum(v) FROM f GROUP BY k ORDER BY 2 DESC, 1 LIMIT 2;
SELECT k, sum(v) FROM f GROUP BY k ORDER BY 2, 1 LIMIT 2;
DELETE FROM f WHERE k = -5;
SELECT k, sum(v) FROM f GROUP BY k ORDER BY 2 DESC, 1 LIMIT 2;
-- most groups have one row or two: the next key decides on the device, too, so that there is room at once for what it chooses
CREATE FUNCTION check_ties(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before bigint := (SELECT retries FROM gpuconc_stat_get());
	verdict text := check_top(query);
BEGIN
	RETURN verdict || CASE WHEN before = (SELECT retries FROM gpuconc_stat_get()) THEN '' ELSE ', retried' END;
END $$;
CREATE TABLE pairs AS SELECT i::bigint * 7 % 300007 * 30000000000000 - 4000000000000000000 AS k, CASE WHEN i % 7 > 0 THEN i % 29989 END AS u, (i * 7919::bigint % 300007 / 8.0)::float8 AS f, (i / 8.0)::numeric(12,3) AS n, 't' || i % 40000 AS t FROM generate_series(1, 320000) AS i;
INSERT INTO pairs VALUES (9223372036854775807), (-9223372036854775808), (NULL);
SELECT settle();
VACUUM (FREEZE, ANALYZE) pairs;
SET gpuconc.debug_offload = prefer;
SELECT q, check_ties('SELECT k, u, f, n, count(*), sum(u) FROM pairs GROUP BY k, u, f, n ORDER BY count(*) ' || q || ' LIMIT 10') FROM unnest(ARRAY['DESC, k, u, f, n', ', k DESC, u, f, n', 'DESC, k NULLS FIRST, u, f, n', 'DESC, u, k, f, n', 'DESC, f DESC NULLS LAST, k, u, n', 'DESC, f, k, u, n', 'DESC, n, k, u, f', ', n DESC NULLS LAST, k, u, f', 'DESC, sum(u) DESC NULLS LAST, k, u, f, n', 'DESC, avg(n), k, u, f, n']) AS q;
SELECT q, check_ties(q) FROM unnest(ARRAY['SELECT k, count(*) FROM pairs GROUP BY k ORDER BY count(*) DESC, k DESC LIMIT 7 OFFSET 3', 'SELECT k, count(u) FROM pairs GROUP BY k ORDER BY count(u), k LIMIT 30', 'SELECT k, t, count(*) FROM pairs WHERE u > 5 GROUP BY k, t ORDER BY 3 DESC, 1, 2 LIMIT 10', 'SELECT k, count(*) FROM pairs GROUP BY k HAVING count(*) < 2 ORDER BY count(*) DESC, k LIMIT 10', 'SELECT count(*), k FROM pairs GROUP BY k ORDER BY 1 DESC, 2 FETCH FIRST 9 ROWS ONLY']) AS q;
-- most groups are far behind the first one, and near the last
CREATE TABLE skewed AS SELECT i::bigint * 7 % 300007 AS k, CASE WHEN i <= 40 THEN 1000000000000 / (i::bigint * i * i * i) ELSE i % 7 END AS w FROM generate_series(1, 300000) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) skewed;
SELECT q, check_ties('SELECT k, ' || q || ' FROM skewed GROUP BY k ORDER BY 2 DESC NULLS ' || CASE WHEN q ~ 'FIL' THEN 'FIRST' ELSE 'LAST' END || ', k LIMIT 10') FROM unnest(ARRAY['sum(w)', 'max(w)', 'sum(w * 1.5)', 'sum(nullif(w, 6))', 'sum(w) FILTER (WHERE w <> 1000000000000)', 'max(w / 2.0::float8)']) AS q;
SELECT check_ties('SELECT k, sum(-w) FROM skewed GROUP BY k ORDER BY 2, k LIMIT 10'), check_ties('SELECT k, sum(w) FROM skewed WHERE w = 3 GROUP BY k ORDER BY 2, k LIMIT 3'), check_ties('SELECT k, sum(w) FROM skewed WHERE w < 0 GROUP BY k ORDER BY 2, k LIMIT 3');
-- without an order, any groups will do
SELECT rest, cardinality(got) AS rows, (SELECT count(DISTINCT r) FROM unnest(got) AS r) AS groups, (SELECT array_agg(r) FROM unnest(got) AS r WHERE r <> ALL (groups)) AS wrong
FROM (SELECT rest, rows_of('SELECT k, count(*) FROM pairs ' || rest, 'require') AS got, rows_of('SELECT k, count(*) FROM pairs ' || regexp_replace(rest, 'LIMIT.*', ''), 'forbid') AS groups
	FROM unnest(ARRAY['WHERE k < -3990000000000000000 GROUP BY k LIMIT 10', 'WHERE k < -3990000000000000000 GROUP BY k LIMIT 100000', 'WHERE k < -3910000000000000000 GROUP BY k HAVING count(*) = 2 LIMIT 10 OFFSET 5']) AS rest) AS q;
EXPLAIN (COSTS OFF) SELECT k, u, count(*) FROM pairs GROUP BY k, u LIMIT 10;
EXPLAIN (COSTS OFF) SELECT k, u, count(*) FROM pairs GROUP BY k, u HAVING string_agg(t, ',') > 't' LIMIT 10;
EXPLAIN (COSTS OFF) SELECT DISTINCT count(*) FROM pairs GROUP BY k LIMIT 10;
EXPLAIN (COSTS OFF) SELECT k, generate_series(1, count(*)) FROM pairs GROUP BY k LIMIT 10;
-- plans
EXPLAIN (COSTS OFF) SELECT k, sum(v) FROM f GROUP BY k HAVING sum(v) > 5 AND min(t) > 't' ORDER BY 2 DESC, 1 LIMIT 2;
EXPLAIN (COSTS OFF, VERBOSE) SELECT k, sum(v) FROM f GROUP BY k ORDER BY 2 DESC, 1 LIMIT 2;
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
SELECT explained(o, 'SELECT k, sum(v) FROM f GROUP BY k HAVING avg(n) > 5 ORDER BY 2 DESC, 1 LIMIT 2') ~ 'Choose.*groups of f(, first 2 and ties|.*First.Rows.and.Ties\W+2)' FROM unnest(ARRAY['ANALYZE, VERBOSE', 'FORMAT JSON', 'ANALYZE, VERBOSE, FORMAT JSON', 'ANALYZE, BUFFERS, FORMAT XML', 'FORMAT YAML, VERBOSE']) AS o;

RESET search_path;
DROP SCHEMA topk CASCADE;
