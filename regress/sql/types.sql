-- Every type: reading, comparing, grouping, aggregating, over the three states of
-- a table (see include/setup.sql), with NULLs and at the ends of the types' ranges.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
-- Must fail: check_same() really compares, and require really requires.
SELECT difference('{a,b,b}', '{a,b,c}');
SELECT difference('{a,b,b}', '{b,a,b}') IS NULL AS same;
SELECT check_same('SELECT pg_backend_pid() FROM types TABLESAMPLE SYSTEM (100)');
CREATE FUNCTION pg_temp.mode() RETURNS text LANGUAGE sql STABLE
	AS $$SELECT current_setting('gpuconc.debug_offload')$$;
SELECT check_same($$SELECT count(*), max(pg_temp.mode()) FROM types$$);
SELECT check_same($$SELECT count(*) FROM types HAVING pg_temp.mode() = 'require'$$);
SELECT check_near($$SELECT count(*) AS n, CASE WHEN pg_temp.mode() = 'require' THEN 1 ELSE 1.001 END AS x FROM types$$);
SELECT check_error($$SELECT count(*) FROM types HAVING 1 / length(pg_temp.mode()) > 0$$);
SELECT check_error($$SELECT count(*) FROM types HAVING 1 / (length(pg_temp.mode()) - 6) = 0$$);

-- each column: counted, its ends, its values
SELECT c, check_same(format('SELECT count(*), count(%1$I) FROM types', c)) AS counts,
	check_same(format('SELECT %1$I, count(*) FROM types GROUP BY %1$I', c)) AS groups,
	check_same(format('SELECT id FROM types WHERE %1$I IS NULL', c)) AS nulls,
	check_same(format('SELECT id, %1$I FROM types WHERE %1$I IS NOT NULL', c)) AS "values"
FROM unnest('{b,i2,i4,i8,n,nw,n0,d,ts,tz,tx,vc,bc,di,dn,dt,dd,nn,nt}'::text[]) AS c;
SELECT c, check_same(format('SELECT count(*), count(%1$I) FROM types', c)) AS counts,
	check_same(format('SELECT id, %1$I FROM types WHERE %1$I IS NOT NULL', c)) AS "values"
FROM unnest('{f4,f8}'::text[]) AS c;
SELECT c, check_same(format('SELECT min(%1$I), max(%1$I) FROM types', c)) AS extremes,
	check_same(format('SELECT nn, min(%1$I), max(%1$I) FROM types GROUP BY nn', c)) AS grouped
FROM unnest('{i2,i4,i8,f4,f8,n,nw,n0,d,ts,tz,tx,vc,bc,di,dn,dt,dd,nn,nt}'::text[]) AS c;
SELECT c, check_same(format('SELECT sum(%1$I), avg(%1$I) FROM types', c)) AS all_rows,
	check_same(format('SELECT nn, sum(%1$I), avg(%1$I), count(%1$I) FROM types GROUP BY nn', c)) AS grouped,
	check_same(format('SELECT sum(%1$I), avg(%1$I) FROM types WHERE %1$I IS NULL', c)) AS only_nulls,
	check_same(format('SELECT sum(%1$I), avg(%1$I), min(%1$I) FROM types WHERE id < 0', c)) AS no_rows
FROM unnest('{i2,i4,i8,n,nw,n0,di,dn,nn}'::text[]) AS c;
SELECT c, check_near(format('SELECT sum(%1$I) AS s, avg(%1$I) AS a FROM types', c)) AS all_rows,
	check_near(format('SELECT nn, sum(%1$I) AS s, avg(%1$I) AS a FROM types GROUP BY nn ORDER BY nn', c)) AS grouped
FROM unnest('{f4,f8}'::text[]) AS c;

-- comparisons with a constant and with a column of the same type
SELECT c, op, id,
	check_same(format('SELECT id FROM types WHERE %1$I %2$s %3$L', c, op, to_jsonb(k) ->> c)) AS constant,
	check_same(format('SELECT count(*) FROM types WHERE %1$I %2$s %1$I', c, op)) AS "column"
FROM unnest('{i2,i4,i8,f4,f8,n,nw,n0,d,ts,tz,di,dn,dd}'::text[]) AS c,
	unnest('{=,<>,<,<=,>,>=,IS DISTINCT FROM,IS NOT DISTINCT FROM}'::text[]) AS op,
	cached.types AS k
WHERE id IN (1234, 1237) AND to_jsonb(k) ->> c IS NOT NULL ORDER BY c, op, id;
SELECT c, op, id,
	check_same(format('SELECT id FROM types WHERE %1$I %2$s %3$L', c, op, to_jsonb(k) ->> c)) AS constant,
	check_same(format('SELECT count(*) FROM types WHERE %1$I %2$s %1$I', c, op)) AS "column"
FROM unnest('{b,tx,vc,bc,dt}'::text[]) AS c,
	unnest('{=,<>,IS DISTINCT FROM,IS NOT DISTINCT FROM}'::text[]) AS op,
	cached.types AS k
WHERE id IN (1234, 1237) AND to_jsonb(k) ->> c IS NOT NULL ORDER BY c, op, id;

-- the ends of each type's range
SELECT c, check_same(format('SELECT id, %1$I FROM extremes', c)) AS "values",
	check_same(format('SELECT min(%1$I), max(%1$I), count(%1$I) FROM extremes', c)) AS ends
FROM unnest('{i2,i4,i8,f4,f8,n,d,ts,tz,tx,bc}'::text[]) AS c;
SELECT c, op, string_agg(DISTINCT check_same(format('SELECT id FROM extremes WHERE %1$I %2$s %3$L', c, op, to_jsonb(k) ->> c)),
	E'\n' COLLATE "C") AS verdicts
FROM unnest('{i2,i4,i8,f4,f8,n,d,ts,tz}'::text[]) AS c,
	unnest('{=,<>,<,<=,>,>=,IS DISTINCT FROM,IS NOT DISTINCT FROM}'::text[]) AS op,
	cached.extremes AS k
WHERE to_jsonb(k) ->> c IS NOT NULL
GROUP BY c, op ORDER BY c, op;
-- each value against each
SELECT c, op, check_same(format('SELECT a.id, b.id FROM extremes a JOIN extremes b ON a.one = b.one WHERE a.%1$I %2$s b.%1$I', c, op))
FROM unnest('{i2,i4,i8,f4,f8,n,d,ts,tz}'::text[]) AS c, unnest('{=,<>,<,>=,IS DISTINCT FROM}'::text[]) AS op;
SELECT c, op, check_same(format('SELECT a.id, b.id FROM extremes a JOIN extremes b ON a.one = b.one WHERE a.%1$I %2$s b.%1$I', c, op))
FROM unnest('{tx,bc}'::text[]) AS c, unnest('{=,<>,IS DISTINCT FROM}'::text[]) AS op;
SELECT c, check_same(format('SELECT %1$I, count(*) FROM extremes GROUP BY %1$I', c)) AS groups
FROM unnest('{i2,i4,i8,n,d,ts,tz,tx,bc}'::text[]) AS c;
SELECT check_same('SELECT sum(i2), avg(i2), sum(i4), avg(i4), sum(i8), avg(i8), sum(n), avg(n) FROM extremes');
SELECT check_same('SELECT id, sum(i2), avg(i4), sum(i8), avg(i8), sum(n), avg(n) FROM extremes GROUP BY id');
SELECT check_same('SELECT i4, sum(i8), avg(i8), sum(n), min(d), max(ts) FROM extremes GROUP BY i4');

-- numeric beyond 64 bits, NaN, infinity: PostgreSQL's own plan answers
SELECT check_same('SELECT sum(nw) FROM extremes');
CREATE TABLE public.specials (id int4, n numeric(5,2), u numeric) WITH (autovacuum_enabled = off);
INSERT INTO public.specials VALUES (1, 'NaN', 'Infinity'), (2, 1, 1.5), (3, NULL, 2.500);
SELECT check_same('SELECT sum(n), max(n) FROM public.specials', '{public}');
SELECT check_same('SELECT sum(u), max(u) FROM public.specials', '{public}');
SET gpuconc.debug_offload = allow;
SELECT sum(n), max(n), sum(u), max(u) FROM public.specials;
DELETE FROM public.specials WHERE id = 1;
SELECT check_same('SELECT sum(n), max(n), avg(n) FROM public.specials', '{public}');
SELECT sum(u), max(u), avg(u) FROM public.specials;
DROP TABLE public.specials;
