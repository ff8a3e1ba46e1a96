-- Windows of subqueries and CTEs that something joins or filters: the rows are kept on the device, and sorted and scanned there.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- check_same(), if the device computes the windows for a later pipeline; else says who does.
CREATE FUNCTION public.check_kept(query text, OUT verdict text) LANGUAGE plpgsql AS $$
DECLARE
	nodes text;
BEGIN
	verdict := check_same(query);
	SELECT string_agg(DISTINCT node, ', ') INTO nodes FROM plan_of(query) AS line, substring(line FROM 'WindowAgg|GpuconcWindow|Rows: ') AS node;
	IF nodes IS DISTINCT FROM 'Rows: ' THEN
		verdict := verdict || ', ' || coalesce(nodes, 'no window');
	END IF;
END $$;

-- functions of places, in an order without ties, and with them where they do not matter
-- costs do not decide whether a CTE is a part of its readers
SET gpuconc.debug_rewrite = always;
SELECT f, check_kept(format('SELECT x.*, r_name FROM (SELECT id, nn, %s OVER (PARTITION BY nn ORDER BY id) AS v FROM types) AS x JOIN region ON r_id = x.nn', f)) AS partitions,
	check_kept(format('SELECT count(*), sum(v), min(v), max(v) FROM (SELECT id, %s OVER (ORDER BY id DESC) AS v FROM types) AS x JOIN region ON r_id = x.id %% 7', f)) AS one
FROM unnest(ARRAY['row_number()', 'rank()', 'dense_rank()', 'lag(i4)', 'lead(i8)', 'first_value(nn)', 'last_value(i2)', 'lag(n)', 'lead(nw)', 'count(*)', 'count(i4)', 'sum(i4)', 'sum(i8)', 'avg(i4)', 'min(n)', 'max(i8)']) AS f;
SELECT f, check_kept(format('SELECT x.id, x.v, r_name FROM (SELECT id, nn, %s OVER (PARTITION BY bc ORDER BY i2 DESC NULLS LAST, nt) AS v FROM types) AS x JOIN region ON r_id = x.nn', f)) AS ties,
	check_kept(format('SELECT x.id, x.v, r_name FROM (SELECT id, nn, %s OVER (ORDER BY tx) AS v FROM types) AS x JOIN region ON r_id = x.nn', f)) AS texts
FROM unnest(ARRAY['rank()', 'dense_rank()', 'count(*)', 'sum(i4)', 'max(i8)', 'min(d)', 'avg(n)']) AS f;

-- frames
SELECT frame, check_kept(format('SELECT x.*, r_name FROM (SELECT id, nn, count(*) OVER w, count(i4) OVER w, sum(n) OVER w, avg(i8) OVER w, min(nw) OVER w, max(ts) OVER w, last_value(n) OVER w, first_value(f8) OVER w FROM types WINDOW w AS (PARTITION BY b ORDER BY id %s)) AS x JOIN region ON r_id = x.nn', frame)) AS partitions,
	check_kept(format('SELECT x.*, r_name FROM (SELECT id, nn, count(i4) OVER w, sum(n) OVER w, avg(i2) OVER w, max(n0) OVER w FROM types WINDOW w AS (ORDER BY nn %s)) AS x JOIN region ON r_id = x.nn WHERE x.id < 0 OR x.nn IS NOT NULL', CASE WHEN frame ~ 'ROWS.*CURRENT|ROWS.*PREC.*$' AND frame !~ 'FOLLOWING' THEN '' ELSE frame END)) AS one
FROM unnest(ARRAY['', 'ROWS UNBOUNDED PRECEDING', 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING', 'GROUPS UNBOUNDED PRECEDING', 'RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW', 'RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING']) AS frame;

-- extremes of frames that begin anywhere, or leave out rows
SELECT frame, ex, check_kept(format('SELECT x.*, r_name FROM (SELECT id, nn, min(i4) OVER w, max(n) OVER w, min(d) FILTER (WHERE b) OVER w, max(i8) OVER w, min(ts) OVER w, max(i2) FILTER (WHERE id < 0) OVER w FROM types WHERE id %% 7 = 3 WINDOW w AS (PARTITION BY b ORDER BY id %1$s %2$s)) AS x JOIN region ON r_id = x.nn', frame, ex)) AS partitions,
	check_kept(format('SELECT x.*, r_name FROM (SELECT nn, min(nn) OVER w, max(nn) OVER w, min(nn * 0.5) OVER w FROM types WHERE id %% 7 = 3 WINDOW w AS (ORDER BY nn %s %s)) AS x JOIN region ON r_id = x.nn', replace(frame, 'ROWS', 'GROUPS'), ex)) AS peers
FROM unnest(ARRAY['ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING', 'ROWS 40 PRECEDING', 'ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING', 'ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING', 'ROWS UNBOUNDED PRECEDING', 'ROWS BETWEEN 3 FOLLOWING AND 9 FOLLOWING', 'RANGE BETWEEN 9 PRECEDING AND 3 FOLLOWING', 'RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING']) AS frame, unnest(ARRAY['', 'EXCLUDE CURRENT ROW', 'EXCLUDE GROUP', 'EXCLUDE TIES']) AS ex;

-- variances and standard deviations
SELECT frame, check_kept(format('SELECT x.*, r_name FROM (SELECT id, nn, stddev(i2) OVER w, stddev_pop(i4) OVER w, stddev_samp(n) OVER w, stddev(nn) FILTER (WHERE b) OVER w, stddev_pop(nn) FILTER (WHERE id < 0) OVER w, variance(i2) OVER w, var_pop(n0) OVER w, var_samp(n) OVER w, var_pop(nn) FILTER (WHERE b) OVER w, variance(nn) FILTER (WHERE id < 0) OVER w FROM types WINDOW w AS (PARTITION BY b ORDER BY id %s)) AS x JOIN region ON r_id = x.nn', frame)) AS partitions,
	check_kept(format('SELECT count(*), sum(s), sum(t), sum(v) FROM (SELECT id, nn, stddev(i2) OVER w AS s, stddev_pop(n0) OVER w AS t, variance(i2) OVER w AS v FROM types WINDOW w AS (ORDER BY id %s)) AS x WHERE s > 10 OR t IS NULL OR s IS NULL', frame)) AS one
FROM unnest(ARRAY['', 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING', 'ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING', 'ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING', 'ROWS CURRENT ROW', 'GROUPS BETWEEN 2 PRECEDING AND 1 FOLLOWING', 'RANGE BETWEEN 9 PRECEDING AND 3 FOLLOWING', 'ROWS 4 PRECEDING EXCLUDE CURRENT ROW']) AS frame;

-- keys of every type, and extremes
SELECT c, check_kept(format('SELECT x.*, r_name FROM (SELECT id, nn, count(*) OVER (PARTITION BY %1$I), rank() OVER (ORDER BY %1$I), dense_rank() OVER (PARTITION BY b ORDER BY %1$I DESC NULLS LAST), rank() OVER (PARTITION BY nn ORDER BY %1$I NULLS FIRST, id) FROM types) AS x JOIN region ON r_id = x.nn', c)) AS verdict
FROM unnest('{b,i2,i4,i8,f4,f8,n,nw,n0,d,ts,tz,tx,vc,bc,di,dn,dt,dd,nn,nt}'::text[]) AS c;
SELECT c, check_kept(format('SELECT x.*, r_name FROM (SELECT id, count(*) OVER (PARTITION BY %1$I), rank() OVER (ORDER BY %1$I), dense_rank() OVER (ORDER BY %1$I DESC, id) FROM extremes) AS x LEFT JOIN region ON r_id = x.id', c)) AS verdict
FROM unnest('{i2,i4,i8,f4,f8,n,nw,d,ts,tz,tx,bc}'::text[]) AS c;
SELECT c, check_kept(format('SELECT x.*, r_name FROM (SELECT id, sum(%1$I) OVER (ORDER BY id) AS s, avg(%1$I) OVER (ORDER BY id), min(%1$I) OVER (ORDER BY id), max(%1$I) OVER () FROM extremes) AS x LEFT JOIN region ON r_id = x.id', c)) AS verdict FROM unnest('{i2,i4,i8,n,nw}'::text[]) AS c;

SELECT c, o, check_kept(format('SELECT x.*, r_name FROM (SELECT id, count(*) OVER (ORDER BY %1$I RANGE BETWEEN %2$s PRECEDING AND CURRENT ROW) AS n, sum(id) OVER (PARTITION BY id %% 2 ORDER BY %1$I DESC RANGE BETWEEN %2$s PRECEDING AND %2$s FOLLOWING), percent_rank() OVER (ORDER BY %1$I DESC) FROM extremes) AS x LEFT JOIN region ON r_id = x.id', c, o)) AS verdict
FROM (VALUES ('i2', '3::int2'), ('i4', '2147483647'), ('i8', '1'), ('i8', '9223372036854775807'), ('n', '1.5'), ('nw', '100'), ('d', 'interval ''10 days'''), ('ts', 'interval ''3 days'''), ('d', 'interval ''1 month 2 days'''), ('tz', 'interval ''30 hours'''), ('f8', '1.5::float8'), ('f4', '0.1::float8')) AS x (c, o);
SELECT c, a, b, check_kept(format('SELECT x.*, r_name FROM (SELECT id, nn, count(*) OVER (PARTITION BY bc ORDER BY %1$s RANGE BETWEEN %2$s PRECEDING AND %3$s FOLLOWING), max(id) OVER (ORDER BY %1$s DESC NULLS LAST RANGE BETWEEN %2$s PRECEDING AND %3$s PRECEDING) FROM types) AS x JOIN region ON r_id = x.nn', c, a, b)) AS verdict
FROM (VALUES ('f8', '100::float8', '0::float8'), ('CASE id % 7 WHEN 0 THEN ''NaN'' WHEN 1 THEN ''-Infinity'' WHEN 2 THEN ''Infinity'' WHEN 3 THEN -0.0::float8 ELSE f8 END', '3.5::float8', '0.25::float8'), ('f4', '100.1::float8', '1e300::float8'),
	('date ''2019-12-28'' + id % 800', 'interval ''1 month''', 'interval ''0'''), ('date ''2020-01-28'' + nn', 'interval ''1 year 1 month 1 day 36 hours''', 'interval ''1 month'''), ('CASE id % 9 WHEN 0 THEN ''infinity'' WHEN 1 THEN ''-infinity'' ELSE d END', 'interval ''2 months''', 'interval ''3 hours'''),
	('tz', 'interval ''1000 hours''', 'interval ''1 second'''), ('CASE id % 9 WHEN 0 THEN ''infinity'' WHEN 1 THEN ''-infinity'' ELSE tz END', 'interval ''5000 hours''', 'interval ''0''')) AS x (c, a, b);

-- groups, HAVING, conditions above, joins with itself, expressions of functions, several sorts
SELECT q, check_kept(q) AS verdict FROM unnest(ARRAY[
	'WITH w AS (SELECT nn, b, sum(n) AS s, avg(sum(n)) OVER (PARTITION BY nn) AS a, rank() OVER (PARTITION BY nn ORDER BY b) AS r FROM types GROUP BY nn, b) SELECT w.*, prior.s AS prior, later.s AS later FROM w, w AS prior, w AS later WHERE w.nn = prior.nn AND w.nn = later.nn AND w.r = prior.r + 1 AND w.r = later.r - 1 AND abs(w.s - w.a) > 1',
	'WITH w AS (SELECT id, rank() OVER (ORDER BY id) AS r FROM types) SELECT a.id, b.id FROM w AS a JOIN w AS b ON a.r = b.r + 100',
	'WITH w AS (SELECT nn, i2, count(*) AS c, sum(count(*)) OVER (PARTITION BY nn ORDER BY i2) AS up FROM types GROUP BY nn, i2) SELECT a.nn, a.i2, a.up, b.up FROM w AS a FULL JOIN w AS b ON a.nn = b.nn AND a.i2 = b.i2 + 1',
	'SELECT * FROM (SELECT nn, i2, count(*) AS c, rank() OVER (PARTITION BY nn ORDER BY count(*) DESC, i2) AS r FROM types GROUP BY nn, i2 HAVING sum(i4) > 0) AS x WHERE r <= 3',
	'SELECT * FROM (SELECT id, nn, row_number() OVER (PARTITION BY nn ORDER BY id) AS r FROM types) AS x WHERE r < 4',
	'SELECT * FROM (SELECT id, nn, rank() OVER (PARTITION BY nn ORDER BY i4, id) AS r, dense_rank() OVER (ORDER BY id DESC) AS d FROM types) AS x WHERE r <= 5 AND d > 20 AND nn IN (1, 2)',
	'SELECT nn, count(*), sum(share) FROM (SELECT nn, i2, sum(n) * 100 / nullif(sum(sum(n)) OVER (PARTITION BY nn), 0) AS share FROM types GROUP BY nn, i2) AS x GROUP BY nn',
	'SELECT x.*, r_name FROM (SELECT id, nn, sum(i4) OVER (PARTITION BY nn) - i4 AS rest, id + rank() OVER (ORDER BY id) * 2 AS twice, CASE WHEN lag(id) OVER (ORDER BY id) IS NULL THEN -1 ELSE id - lag(id) OVER (ORDER BY id) END AS step FROM types) AS x JOIN region ON r_id = nn WHERE rest IS NOT NULL',
	'SELECT r_name, max(r) FROM region LEFT JOIN (SELECT nn, rank() OVER (ORDER BY i4, id) AS r, count(*) OVER (PARTITION BY b, nn) AS c FROM types WHERE i4 > 0) AS x ON x.nn = r_id AND c > 3 GROUP BY r_name',
	'SELECT x.*, r_name FROM (SELECT id, nn, rank() OVER (PARTITION BY nn, b ORDER BY id), count(*) OVER (PARTITION BY nn), sum(i4) OVER (PARTITION BY nn ORDER BY b), rank() OVER (ORDER BY tx DESC NULLS LAST, id) FROM types) AS x JOIN region ON r_id = nn',
	'SELECT x.*, r_name FROM (SELECT t.id, c_name, rank() OVER (PARTITION BY c_city ORDER BY t.id) AS r FROM types AS t JOIN customer ON c_id = t.nn) AS x JOIN region ON r_id = r',
	'SELECT x.*, r_name FROM (SELECT i, rank() OVER (PARTITION BY v ORDER BY i) AS r, sum(v) OVER (ORDER BY i) AS s FROM (SELECT id AS i, nn AS v FROM types JOIN region ON r_id = nn UNION ALL SELECT c_id + 10000, c_region FROM customer JOIN region ON r_id = c_region) AS u) AS x JOIN region ON r_id = r % 7',
	'SELECT v, count(*), sum(r) FROM (SELECT nn AS v, rank() OVER (ORDER BY id) AS r FROM types UNION ALL SELECT c_region, count(*) OVER (PARTITION BY c_city) FROM customer) AS u JOIN region ON r_id = v GROUP BY v',
	'SELECT x.*, r_name FROM (SELECT id, nn, rank() OVER (ORDER BY id) FROM types WHERE id < 0) AS x JOIN region ON r_id = nn',
	'SELECT x.*, r_name FROM (SELECT id, nn, rank() OVER (ORDER BY id), sum(i4) OVER () FROM types WHERE id = 7) AS x LEFT JOIN region ON r_id = nn',
	'SELECT * FROM (SELECT y, rank() OVER (ORDER BY y) AS r FROM (SELECT nn AS y, count(*) OVER (PARTITION BY nn) AS c FROM types) AS below WHERE c > 2 GROUP BY y) AS x WHERE r > 1',
	-- the same keys in another direction, with NULLs at the other end, and in another frame
	'SELECT x.*, r_name FROM (SELECT id, nn, rank() OVER (ORDER BY i4 NULLS FIRST) AS r, rank() OVER (ORDER BY i4, id), rank() OVER (ORDER BY i4 DESC NULLS LAST) FROM types) AS x JOIN region ON r_id = nn',
	'SELECT x.*, r_name FROM (SELECT id, nn, sum(i4) OVER (ORDER BY i2), sum(i4) OVER (ORDER BY i2 GROUPS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS s FROM types) AS x JOIN region ON r_id = nn',
	-- from 16 on, PostgreSQL has another frame for a reader of the rank alone
	'WITH w AS (SELECT id, rank() OVER v AS r, sum(i4) OVER v AS s FROM types WINDOW v AS (PARTITION BY nn ORDER BY i2)) SELECT a.id, a.r, b.s FROM w AS a JOIN w AS b ON a.id = b.id',
	'WITH w AS (SELECT id, rank() OVER v AS r, sum(i4) OVER v AS s FROM types WINDOW v AS (PARTITION BY nn ORDER BY i2)) SELECT a.id, a.s, b.r FROM w AS a JOIN w AS b ON a.id = b.id']) AS q;

EXPLAIN (COSTS OFF) WITH w AS (SELECT nn, b, sum(n) AS s, avg(sum(n)) OVER (PARTITION BY nn) AS a, rank() OVER (PARTITION BY nn ORDER BY b) AS r FROM types GROUP BY nn, b)
SELECT w.*, prior.s FROM w, w AS prior WHERE w.nn = prior.nn AND w.r = prior.r + 1 AND w.s > w.a;

-- as many rows as need several chunks of a scan, in one partition and in as many as there are rows
CREATE TABLE cached.many AS SELECT i AS id, (i * 7919 % 100003)::int4 AS k, i % 3 AS p, (i % 1000)::numeric(10,2) AS n, CASE WHEN i % 5 > 0 THEN i::int8 * 1000000007 END AS wide FROM generate_series(1, 100000) AS i;
VACUUM ANALYZE cached.many;
SET gpuconc.debug_offload = require;
CREATE FUNCTION public.same_many(query text, OUT verdict text) LANGUAGE plpgsql AS $$
DECLARE
	differ bigint;
BEGIN
	EXECUTE format('CREATE TEMP TABLE ours AS %s', query);
	SET LOCAL gpuconc.enabled = off;
	EXECUTE format('CREATE TEMP TABLE theirs AS %s', query);
	SET LOCAL gpuconc.enabled = on;
	SET LOCAL gpuconc.debug_offload = allow;
	SELECT count(*) INTO differ FROM ((SELECT * FROM ours EXCEPT ALL SELECT * FROM theirs) UNION ALL (SELECT * FROM theirs EXCEPT ALL SELECT * FROM ours)) AS d;
	SET LOCAL gpuconc.debug_offload = require;
	DROP TABLE ours, theirs;
	verdict := CASE differ WHEN 0 THEN 'same' ELSE differ || ' rows differ' END;
END $$;
SELECT w, same_many(format('SELECT x.id, r, d, s, c, lo, hi, before FROM (SELECT id, rank() OVER w AS r, dense_rank() OVER w AS d, sum(n) OVER w AS s, count(wide) OVER w AS c, min(wide) OVER w AS lo, max(k) OVER w AS hi, lag(id) OVER (ORDER BY id) AS before FROM many WINDOW w AS (%s)) AS x JOIN region ON r_id = x.id %% 6', w)) AS verdict
FROM unnest(ARRAY['ORDER BY k', 'ORDER BY n', 'PARTITION BY p ORDER BY k DESC', 'PARTITION BY id', 'ORDER BY id ROWS UNBOUNDED PRECEDING', 'PARTITION BY p ORDER BY wide NULLS FIRST, k, id', 'ORDER BY p', '', 'PARTITION BY p ORDER BY id ROWS BETWEEN 70 PRECEDING AND 4 FOLLOWING', 'ORDER BY k RANGE BETWEEN 50 PRECEDING AND 1 PRECEDING', 'PARTITION BY p ORDER BY id ROWS 3 PRECEDING EXCLUDE CURRENT ROW']) AS w;
RESET gpuconc.debug_offload;
-- the session sees the flag of rows that found no room, and asks again
SELECT same_many('SELECT x.id, x.r, y.p FROM (SELECT id + k - k AS id, rank() OVER (ORDER BY id) AS r FROM many WHERE k % 10 < 9 AND n * 2 + p > -1) AS x JOIN many AS y ON y.id = x.r') AS verdict;
DROP FUNCTION public.same_many(text);
DROP TABLE cached.many;

-- PostgreSQL's, or the executor's
SELECT q, check_kept(q) AS verdict FROM unnest(ARRAY[
	'SELECT x.*, r_name FROM (SELECT id, nn, ntile(nn) OVER (PARTITION BY nn ORDER BY id) FROM types WHERE nn > 0) AS x JOIN region ON r_id = nn',
	'SELECT x.*, r_name FROM (SELECT id, nn, sum(f8) OVER (ORDER BY id) FROM types) AS x JOIN region ON r_id = nn',
	'SELECT x.*, r_name FROM (SELECT id, nn, lag(tx) OVER (ORDER BY id) FROM types) AS x JOIN region ON r_id = nn',
	'SELECT x.*, r_name FROM (SELECT nn, last_value(nn) OVER (PARTITION BY b ORDER BY nn ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING EXCLUDE TIES) FROM types) AS x JOIN region ON r_id = nn',
	'SELECT x.*, r_name FROM (SELECT id, nn, max(tx) FILTER (WHERE b) OVER (ORDER BY id) FROM types) AS x JOIN region ON r_id = nn',
	'SELECT x.*, r_name FROM (SELECT id, nn, sum(i4) OVER (ORDER BY ts RANGE interval ''1 month'' PRECEDING) FROM types) AS x JOIN region ON r_id = nn']) AS q;
-- functions and concatenations of windows' values and of columns
SELECT e, check_kept(format('SELECT x.*, r_name FROM (SELECT id, nn, %s AS v FROM types WINDOW w AS (PARTITION BY nn ORDER BY id)) AS x JOIN region ON r_id = nn', e)) AS joined,
	check_kept(format('SELECT count(*), max(v::text) FROM (SELECT id, nn, %s AS v FROM types WINDOW w AS (PARTITION BY nn ORDER BY id)) AS x WHERE nn < 5 AND v IS NOT NULL', e)) AS filtered,
	check_kept(format('SELECT id, v, max(id) OVER (PARTITION BY nn ORDER BY id) FROM (SELECT id, nn, %s AS v FROM types WINDOW w AS (PARTITION BY nn ORDER BY id)) AS x', e)) AS windowed
FROM unnest(ARRAY['(sum(i4) OVER w)::text || ''x''', 'rank() OVER w || tx', 'upper((rank() OVER w)::text)', 'upper(tx) || rank() OVER w', 'd + (rank() OVER w)::int', 'abs(sum(i8) OVER w)', 'round(avg(n) OVER w, 1)', 'date_trunc(''month'', max(ts) OVER w)', 'extract(year FROM min(d) OVER w)', 'coalesce(lag(i4) OVER w, id)', 'length(lag(tx) OVER w)', 'CASE WHEN rank() OVER w > 1 THEN tx ELSE vc END', 'tx LIKE ''%'' || rank() OVER w || ''%''', 'i4 IN (1, lag(i4) OVER w)', 'greatest(i4, lead(i4) OVER w)']) AS e;
-- averages and other quotients as keys; equal ones may show different digits
SELECT q, check_kept(q) AS verdict FROM unnest(ARRAY[
	'SELECT * FROM (SELECT i2, nn, rank() OVER (ORDER BY a DESC NULLS LAST) AS r, dense_rank() OVER (PARTITION BY nn ORDER BY a, i2) AS d FROM (SELECT i2, nn, avg(i4) AS a FROM types GROUP BY i2, nn HAVING avg(i4) > 0.9 * (SELECT min(nn) FROM types)) AS x) AS y WHERE r < 40 OR d < 3',
	'SELECT x.*, r_name FROM (SELECT id, nn, rank() OVER (ORDER BY nn / 3.0), count(*) OVER (PARTITION BY nn / 3.0, b), rank() OVER (PARTITION BY nn ORDER BY n / nullif(i2, 0) NULLS FIRST, id DESC), dense_rank() OVER (ORDER BY CASE WHEN b THEN nn / 2.0 ELSE nn * 0.50 END DESC) FROM types) AS x JOIN region ON r_id = nn',
	'SELECT * FROM (SELECT nn, b, rank() OVER (ORDER BY round(avg(n), 2)) AS r, rank() OVER (PARTITION BY b ORDER BY sum(n) / count(*) DESC) AS s FROM types GROUP BY nn, b) AS x WHERE r + s > 3']) AS q;
DROP FUNCTION public.check_kept(text);
