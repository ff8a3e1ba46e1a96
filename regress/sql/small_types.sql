-- name, money, timetz, macaddr, macaddr8 and pg_lsn, and domains over them, over the three states of a table.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
SET client_min_messages = warning;
SET lc_monetary = 'C';
DROP TABLE IF EXISTS cached.small, delta.small, mixed.small;
CREATE DOMAIN public.some_money AS money CHECK (VALUE <> '77777.77');
CREATE DOMAIN public.some_name AS name;
CREATE DOMAIN public.some_lsn AS pg_lsn;
CREATE DOMAIN public.lsn_again AS some_lsn;
CREATE TABLE cached.small (id int, n name, m money, t timetz, a macaddr, b macaddr8, l pg_lsn, n2 name, dm some_money, t2 timetz, a2 macaddr, b2 macaddr8, dl lsn_again, dn some_name, x text, g int) WITH (autovacuum_enabled = off);
INSERT INTO cached.small SELECT i,
	CASE WHEN i % 7 > 0 THEN (ARRAY['abc', 'Abd', 'ab c', 'zz', 'ä', ''])[1 + i % 6] || i % 3 END,
	CASE WHEN i % 11 > 0 THEN ((i * 7919 % 2001) - 1000)::money / 100 END,
	CASE WHEN i % 13 > 0 THEN (time '00:00' + (i % 50 * 1800) * interval '1 second' || (ARRAY['+00', '-05', '+05:30', '-15:59:59', '+15:59:59'])[1 + i % 5])::timetz END,
	CASE WHEN i % 5 > 0 THEN (lpad(to_hex(i * 2654435761 % 281474976710656), 12, '0'))::macaddr END,
	CASE WHEN i % 6 > 0 THEN (lpad(to_hex(i * 9223372036854775::bigint - 5), 16, '0'))::macaddr8 END,
	CASE WHEN i % 9 > 0 THEN (to_hex(i * 4294967::bigint % 4294967296) || '/' || to_hex(i))::pg_lsn END,
	(ARRAY['abc0', 'zz1', 'ä2'])[1 + i % 3], ((i % 40) - 20)::money / 100, (time '12:00' + i % 7 * interval '1 hour' || (ARRAY['+00', '+01'])[1 + i % 2])::timetz,
	(lpad(to_hex(i % 20 * 2654435761 % 281474976710656), 12, '0'))::macaddr, (lpad(to_hex(i % 20 * 9223372036854775::bigint - 5), 16, '0'))::macaddr8, (to_hex(i % 30 * 4294967::bigint % 4294967296) || '/' || to_hex(i % 30))::pg_lsn, 'dn' || i % 5, (ARRAY['abc0', 'zz1', 'none'])[1 + i % 3], i % 10
FROM generate_series(1, 1000) AS i;
INSERT INTO cached.small (id, n, m, t, a, b, l, g) VALUES
	(2001, repeat('n', 63), '-92233720368547758.08', '00:00+15:59:59', '00:00:00:00:00:00', '00:00:00:00:00:00:00:00', '0/0', 1), (2002, repeat('n', 62) || 'm', '92233720368547758.07', '24:00-15:59:59', 'ff:ff:ff:ff:ff:ff', 'ff:ff:ff:ff:ff:ff:ff:ff', 'FFFFFFFF/FFFFFFFF', 1),
	(2003, '', '0', '24:00+15:59:59', '80:00:00:00:00:00', '80:00:00:00:00:00:00:00', '80000000/0', 2), (2004, ' ', '0.01', '00:00-15:59:59', '7f:ff:ff:ff:ff:ff', '7f:ff:ff:ff:ff:ff:ff:ff', '7FFFFFFF/FFFFFFFF', 2),
	(2005, 'a', '-0.01', '12:00:00.000001+00', '00:00:00:00:00:01', '00:00:00:00:00:00:00:01', '0/1', 3), (2006, 'A', '0', '11:00:00.000001-01', '01:00:00:00:00:00', '01:00:00:00:00:00:00:00', '1/0', 3), (2007, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE delta.small (LIKE cached.small) WITH (autovacuum_enabled = off);
CREATE TABLE mixed.small (LIKE cached.small) WITH (autovacuum_enabled = off);
INSERT INTO delta.small TABLE cached.small;
INSERT INTO mixed.small TABLE cached.small;
VACUUM (FREEZE, ANALYZE) cached.small, mixed.small;
ANALYZE delta.small;
WITH gone AS (DELETE FROM mixed.small WHERE id % 10 = 3 OR id > 2003 RETURNING *) INSERT INTO mixed.small SELECT * FROM gone;
RESET client_min_messages;

-- each column: counted, grouped, returned, the least and the greatest
SELECT k, check_same(format('SELECT count(*), count(%1$I), count(DISTINCT %1$I) FROM small', k)) AS counts,
	check_same(format('SELECT %1$I, count(*) FROM small GROUP BY %1$I', k)) AS groups,
	check_same(format('SELECT id, %1$I, %1$I IS NULL FROM small WHERE id > 0', k)) AS "values"
FROM unnest('{n,m,t,a,b,l,dm,dl,dn}'::text[]) AS k;
SELECT check_same('SELECT min(m), max(m), min(t), max(t), min(l), max(l), min(dm), max(dm), min(dl), max(dl), max(n::text), min(dn) FROM small'), check_same('SELECT max(m), min(t), max(l) FROM small WHERE id < 0'),
	check_same('SELECT g, min(m), max(m), min(t), max(t), min(l), max(l), min(dm), max(dl), max(n::text), max(none) IS NULL FROM (SELECT *, NULL::money AS none FROM small) q GROUP BY g');
-- comparisons with constants, as results and as conditions
CREATE FUNCTION public.each_op(k text, v text, sep text) RETURNS text RETURN
	(SELECT string_agg(format('%I %s %L', k, op, v), sep) FROM unnest('{=,<>,<,<=,>,>=,IS DISTINCT FROM,IS NOT DISTINCT FROM}'::text[]) AS op);
SELECT k, check_same(format('SELECT id, %s FROM small', string_agg(each_op(k, v, ', '), ', '))) AS results,
	check_same(format('SELECT count(*), min(id), max(id) FROM small WHERE %I > %L', k, min(v))) AS greater, check_same(format('SELECT count(*), min(id), max(id) FROM small WHERE %I = %L', k, max(v))) AS equal
FROM (VALUES ('n', 'abc0'), ('n', ''), ('n', repeat('n', 63)), ('n', repeat('n', 70)), ('n', 'nowhere'), ('m', '0'), ('m', '-0.01'), ('m', '92233720368547758.07'), ('m', '-92233720368547758.08'), ('t', '00:00+15:59:59'), ('t', '12:00:00.000001+00'), ('t', '11:00:00.000001-01'), ('t', '24:00-15:59:59'),
	('a', '00:00:00:00:00:00'), ('a', 'ff:ff:ff:ff:ff:ff'), ('a', '80:00:00:00:00:00'), ('b', '00:00:00:00:00:00:00:00'), ('b', 'ff:ff:ff:ff:ff:ff:ff:ff'), ('b', '7f:ff:ff:ff:ff:ff:ff:ff'), ('l', '0/0'), ('l', 'FFFFFFFF/FFFFFFFF'), ('l', '80000000/0'), ('dm', '0.05'), ('dl', '0/1'), ('dn', 'dn3')) AS _(k, v) GROUP BY k ORDER BY k;
-- columns with each other, a name with a text
SELECT check_same('SELECT id, n = n2, n <> n2, n IS DISTINCT FROM n2, n = x, x <> n2, m = dm, m < dm, m >= dm, t = t2, t < t2, t <= t2, a = a2, a > a2, b = b2, b < b2, l = dl, l <= dl, n = ''abc0''::text, ''zz1''::text <> n FROM small');
SELECT check_same('SELECT count(*) FROM small WHERE m > dm OR t < t2 OR a = a2 OR b >= b2 OR l = dl OR n = n2');
-- lists
SELECT check_same('SELECT id, n IN (''abc0'', '''', ''zz1''), n NOT IN (''abc0'', ''nowhere''), m IN (''0'', ''-0.01'', ''92233720368547758.07''), m <> ALL (''{0,NULL}''), t IN (''00:00+00'', ''24:00-15:59:59''), a IN (''ff:ff:ff:ff:ff:ff'', ''00:00:00:00:00:00''), b IN (''ff:ff:ff:ff:ff:ff:ff:ff'', ''00:00:00:00:00:00:00:00''), l IN (''0/0'', ''FFFFFFFF/FFFFFFFF'') FROM small'),
	check_same('SELECT count(*) FROM small WHERE m BETWEEN ''-1'' AND ''5'' AND l > ''0/1'' AND t BETWEEN ''01:00+00'' AND ''20:00+00''');
-- orders
SELECT check_same(q) FROM unnest(ARRAY[
	'SELECT n, count(*) FROM small GROUP BY n ORDER BY n DESC NULLS LAST LIMIT 5', 'SELECT m, t, count(*) FROM small GROUP BY m, t ORDER BY m, t DESC LIMIT 50', 'SELECT a, count(*) FROM small GROUP BY a ORDER BY a LIMIT 9', 'SELECT b, l, count(*) FROM small GROUP BY b, l ORDER BY b DESC, l LIMIT 30',
	'SELECT t, l, id FROM small WHERE g < 9 ORDER BY t, l DESC, id LIMIT 20', 'SELECT n, m, id FROM small WHERE g < 9 ORDER BY n, m DESC, id LIMIT 20', 'SELECT g, max(t), min(m) FROM small GROUP BY g ORDER BY 2, 3, 1']) AS q;
SET gpuconc.debug_offload = require;
SELECT min(m), max(t), min(l), n FROM small WHERE id > 2000 GROUP BY n ORDER BY n DESC;
SELECT DISTINCT t FROM small WHERE id > 2000 ORDER BY t;
SELECT m, a, b, l FROM small WHERE id > 2000 ORDER BY b DESC, m;
RESET gpuconc.debug_offload;
-- joins, semi joins, row sources, unions
SELECT check_same(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(a.id) FROM small a JOIN small b ON a.n = b.n2 WHERE b.g < 3', 'SELECT count(*), sum(a.id) FROM small a JOIN small b ON a.n = b.x WHERE b.id < 20', 'SELECT count(*), sum(a.id) FROM small a JOIN small b ON a.m = b.dm AND a.t = b.t2 WHERE b.g < 3', 'SELECT count(*), sum(a.id) FROM small a JOIN small b ON a.a = b.a2 JOIN small c ON a.l = c.dl AND a.b = c.b2 WHERE c.id < 20',
	'SELECT a.n, a.t, count(b.id) FROM small a LEFT JOIN small b ON a.n = b.n2 AND b.id < 9 GROUP BY a.n, a.t', 'SELECT count(*) FROM small a WHERE EXISTS (SELECT FROM small b WHERE b.a2 = a.a) AND NOT EXISTS (SELECT FROM small b WHERE b.dl = a.l) AND m IN (SELECT dm FROM small WHERE g > 2)',
	'SELECT b.n, b.dm, b.a, min(a.l) FROM small a JOIN small b ON a.id = b.id GROUP BY 1, 2, 3', 'SELECT q.n, q.m, q.t, q.a, q.b, q.l, count(*) FROM small k JOIN (SELECT * FROM small ORDER BY id LIMIT 300) q ON k.n = q.n AND k.m = q.m GROUP BY 1, 2, 3, 4, 5, 6',
	'SELECT x, y, z, count(*) FROM (SELECT n AS x, m AS y, t AS z FROM small UNION ALL SELECT n2, dm, t2 FROM small UNION ALL SELECT ''u''::name, ''5''::money, ''01:00+00''::timetz FROM small) q GROUP BY x, y, z', 'SELECT g, mm FROM (SELECT g, max(m) AS mm, min(t) AS mt FROM small GROUP BY g) q WHERE mm > ''5'' AND mt < ''12:00+00''',
	'SELECT n, l, count(*), grouping(n) FROM small GROUP BY ROLLUP (n, l)', 'SELECT g, count(DISTINCT n), count(DISTINCT m), count(DISTINCT t) FROM small GROUP BY g']) AS q;
-- expressions; of a name, any
SELECT check_same('SELECT id, coalesce(n, n2, ''none''), coalesce(m, dm), coalesce(t, t2), coalesce(a, a2), CASE WHEN g < 3 THEN n WHEN g < 6 THEN n2 ELSE ''other'' END, CASE WHEN g < 5 THEN l ELSE dl END, nullif(n, ''abc0''), nullif(m, ''0''), nullif(t, t2), greatest(m, dm), least(t, t2), greatest(a, a2), least(b, b2), greatest(l, ''1/0''), n::text, length(n::text) + g, upper(n::text), n LIKE ''a%'', n < ''b'', n::text || ''!'' FROM small WHERE g < 9');
SELECT check_same('SELECT upper(n::text), coalesce(t, t2), count(*) FROM small WHERE CASE WHEN g < 5 THEN m > dm ELSE l > dl END AND n NOT LIKE ''%1'' GROUP BY 1, 2');
SELECT q, refusal(q) FROM unnest(ARRAY['SELECT max(m + dm) FROM small', 'SELECT max(m * 2) FROM small', 'SELECT max(m / dm) FROM small WHERE dm <> ''0''', 'SELECT sum(m::numeric) FROM small', 'SELECT max(l - dl) FROM small', 'SELECT max(l + 5) FROM small', 'SELECT max(t + interval ''1 hour'') FROM small', 'SELECT max(t::time) FROM small', 'SELECT max(extract(hour FROM t)) FROM small', 'SELECT a::macaddr8, count(*) FROM small GROUP BY 1', 'SELECT trunc(a), count(*) FROM small GROUP BY 1', 'SELECT ~ a, count(*) FROM small GROUP BY 1', 'SELECT count(*) FROM small WHERE n < n2', 'SELECT count(*) FROM small WHERE t::text = ''''']) AS q;
-- PostgreSQL adds money up, of rows that a node returns
-- sums of money: in any order of rows the same, if no sum of so many of these leaves 64 bits
CREATE TABLE public.cash (id int, g int, m money, big money, none money, wide money) WITH (autovacuum_enabled = off);
INSERT INTO public.cash SELECT i, i % 9, CASE WHEN i % 7 > 0 THEN ((i * 7919 % 20011) - 9000)::money / 100 END, CASE WHEN i % 2 = 0 THEN '92233720368547758.07'::money ELSE '-92233720368547758.08' END, NULL, i % 5 * '9000000000000'::money FROM generate_series(1, 1025) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) public.cash;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT sum(m), sum(none), count(m) FROM cash', 'SELECT g, sum(m), sum(m) FILTER (WHERE id % 5 = 0), max(m) FROM cash GROUP BY g', 'SELECT g, sum(m) FROM cash GROUP BY g ORDER BY sum(m) DESC LIMIT 3', 'SELECT g, sum(m) FROM cash GROUP BY g HAVING sum(m) > ''100'' ORDER BY 2', 'SELECT sum(m) FROM cash WHERE id < 0', 'SELECT sum(big) FROM cash WHERE id = 2',
	'SELECT g, sum(m) FROM cash GROUP BY ROLLUP (g)', 'SELECT sum(CASE WHEN g < 4 THEN m END), sum(coalesce(m, ''1.5'')) FROM cash', 'SELECT a.g, sum(b.m) FROM cash a JOIN cash b USING (id) GROUP BY 1', 'SELECT m, count(*), sum(m) FROM cash GROUP BY m', 'SELECT x, sum(y) FROM (SELECT g AS x, m AS y FROM cash UNION ALL SELECT id, big FROM cash WHERE id = 9) AS s WHERE x < 4 GROUP BY x']) AS q;
-- beside DISTINCT, and in subqueries
SELECT q, check_same(q, '{public}') FROM unnest(ARRAY['SELECT sum(DISTINCT m), count(DISTINCT g) FROM cash', 'SELECT sum(m), sum(wide), count(DISTINCT g) FROM cash', 'SELECT g, sum(m), count(DISTINCT id), sum(none), sum(DISTINCT m) FROM cash GROUP BY g', 'SELECT sum(m), count(DISTINCT g) FROM cash WHERE id < 0', 'SELECT sum(s), max(s) FROM (SELECT g, sum(m) AS s FROM cash GROUP BY g) AS q', 'SELECT id, s FROM cash JOIN (SELECT g, sum(m) AS s, count(DISTINCT m) FROM cash GROUP BY g) AS q USING (g) WHERE s > ''1.5''']) AS q;
SELECT refusal(q) FROM unnest(ARRAY['SELECT sum(big) FROM cash', 'SELECT sum(big), count(DISTINCT g) FROM cash', 'SELECT sum(s) FROM (SELECT g, sum(big) AS s FROM cash GROUP BY g) AS q']) AS q;
DROP TABLE public.cash;
SELECT check_same('SELECT sum(m), sum(dm) FROM small WHERE g < 9 AND id < 2000');
-- parameters
CREATE FUNCTION check_execute(query text, type text, VARIADIC calls text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	verdicts text[] := '{}';
BEGIN
	FOR i IN 1 .. 2 LOOP
		PERFORM set_config('plan_cache_mode', ('{force_custom_plan,force_generic_plan}'::text[])[i], true);
		EXECUTE format('PREPARE device(%s) AS %s', type, query);
		FOR k IN 1 .. cardinality(calls) LOOP
			verdicts := verdicts || check_here(format('EXECUTE device(%s)', calls[k]));
		END LOOP;
		DEALLOCATE device;
	END LOOP;
	RETURN array_to_string(verdicts, '; ');
END $$;
SELECT check_execute('SELECT id FROM small WHERE n = $1 OR m = $2 OR t > $3', 'name, money, timetz', '''abc0'', ''0'', ''23:00+00''', '''nowhere'', ''92233720368547758.07'', ''24:00-15:59:59''', 'NULL, ''1'', ''12:00+05''');
SELECT check_execute('SELECT id FROM small WHERE n = $1 OR a < $2 OR b = $3 OR l >= $4', 'text, macaddr, macaddr8, pg_lsn', '''abc0'', ''00:00:00:00:00:01'', ''ff:ff:ff:ff:ff:ff:ff:ff'', ''FFFFFFFF/FFFFFFFF''', '''nowhere'', ''80:00:00:00:00:00'', ''00:00:00:00:00:00:00:00'', ''0/1''');
SELECT check_execute('SELECT count(*), max(m) FROM small WHERE m = ANY ($1) OR l = ANY ($2) OR t = ANY ($3)', 'money[], pg_lsn[], timetz[]', '''{0,1}'', ''{0/0}'', ''{}''', '''{NULL,-0.01}'', ''{}'', ''{24:00-15:59:59}''');

-- names in the order of another collation, where there is one
SELECT 'en-x-icu' AS icu FROM pg_collation WHERE collname = 'en-x-icu' UNION ALL SELECT 'C' ORDER BY 1 DESC LIMIT 1 \gset
SELECT check_same(format('SELECT n COLLATE %1$I, count(*) FROM small GROUP BY 1 ORDER BY 1 LIMIT 7', :'icu')), check_same(format('SELECT n COLLATE %1$I, id FROM small ORDER BY n COLLATE %1$I DESC NULLS LAST, id LIMIT 300', :'icu'));
-- names of a row source beside texts
SELECT check_same('SELECT count(*), max(s.id) FROM small s JOIN (SELECT n FROM small ORDER BY id LIMIT 50) q ON q.n = s.x');
-- zones that have no integer: the column is PostgreSQL's until they are gone; as constants, no row has them
CREATE TABLE cached.far (id int, t timetz) WITH (autovacuum_enabled = off);
INSERT INTO cached.far SELECT i, '12:00+01' FROM generate_series(1, 10) AS i;
INSERT INTO cached.far SELECT 11, timetz '12:00+00' AT TIME ZONE interval '1000 hours';
VACUUM cached.far;
SELECT check_same('SELECT id FROM small WHERE t IN (''12:00+00''::timetz AT TIME ZONE interval ''1000 hours'', ''24:00-15:59:59'')', '{cached}');
SELECT max(t), count(*) FROM far;
SELECT column_name, problem FROM gpuconc_cache WHERE relation = 'cached.far'::regclass AND problem IS NOT NULL;
DELETE FROM cached.far WHERE id = 11;
VACUUM cached.far;
SELECT check_same('SELECT max(t), count(*) FROM far', '{cached}');
-- from one type to another
ALTER TABLE cached.far ALTER COLUMN t TYPE time;
VACUUM cached.far;
SELECT check_same('SELECT max(t), count(*) FROM far', '{cached}');
DROP TABLE cached.far, cached.small, delta.small, mixed.small;
DROP FUNCTION check_execute, public.each_op;
DROP DOMAIN public.some_money, public.some_name, public.lsn_again, public.some_lsn;
