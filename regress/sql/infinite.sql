-- Infinite dates and timestamps.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE public.valid (id int, g int, since timestamp, until timestamp, zu timestamptz, d date, span interval, past timestamp) WITH (autovacuum_enabled = off);
INSERT INTO public.valid
SELECT i, i % 6, x, CASE i % 4 WHEN 0 THEN 'infinity' WHEN 1 THEN NULL ELSE x + i * interval '31 hours 17 minutes' END,
	CASE i % 5 WHEN 0 THEN '-infinity' WHEN 1 THEN 'infinity' ELSE (x + interval '1 year 2 months') AT TIME ZONE 'UTC' END,
	CASE i % 7 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' ELSE x::date END, (i % 50 - 25) * interval '50 minutes', CASE WHEN i % 2 = 0 THEN '-infinity'::timestamp END
FROM generate_series(1, 1023) AS i, LATERAL (SELECT timestamp '1998-12-30 23:59:59.5' + i * interval '2 days 1 hour 7 minutes 3.000001 seconds') AS _(x);
INSERT INTO public.valid VALUES (5000, 1, '294276-12-31 23:59:59.999999', '4714-11-24 BC', '4714-11-24 00:00+00 BC', '4714-11-24 BC', '0', '-infinity');
SELECT settle();
VACUUM (FREEZE, ANALYZE) public.valid;
CREATE FUNCTION public.for_each(template text, names text[]) RETURNS text RETURN (SELECT string_agg(format(template, n), ', ') FROM unnest(names) AS n);

-- fields that come again are NULL of an infinite timestamp; truncated, moved to another zone, or with an interval added, it stays
SELECT check_same(format('SELECT id, %s FROM valid', for_each('extract(%s FROM until)', '{quarter,month,week,day,dow,isodow,doy,hour,minute,second,milliseconds,microseconds}')), '{public}');
SELECT check_same(format('SELECT id, %s FROM valid', for_each('date_part(%L, zu)', '{quarter,month,week,day,dow,isodow,doy,hour,minute,microseconds}')), '{public}');
SELECT check_same(format('SELECT id, %s FROM valid WHERE id < 2000', for_each('date_trunc(%L, until), date_trunc(%1$L, zu), date_trunc(%1$L, past)', '{millennium,century,decade,year,quarter,month,week,day,hour,minute,second,milliseconds,microseconds}')), '{public}');
SELECT check_same(format('SELECT id, %s FROM valid WHERE id < 2000', for_each('%s', ARRAY['until + interval ''1 month''', 'until - interval ''100 years 3 days''', 'zu + interval ''7 days 1 second''', 'until + span', 'since - span', 'span + past', 'past + interval ''1 year''', 'zu AT TIME ZONE ''UTC''', 'until AT TIME ZONE ''UTC''', 'zu::timestamp', 'until::timestamptz', 'until::date', 'zu::date', 'd::timestamp', 'd + interval ''1 month''', 'date_trunc(''month'', until + interval ''40 days'')', 'extract(month FROM until + interval ''1 day'')', 'extract(day FROM d)'])), '{public}');
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT date_trunc(''month'', until), count(*), min(zu), max(until) FROM valid WHERE id < 2000 GROUP BY 1', 'SELECT extract(dow FROM until), extract(month FROM zu), count(*), sum(extract(hour FROM past)) FROM valid GROUP BY 1, 2', 'SELECT count(*) FROM valid WHERE extract(day FROM until) > 15', 'SELECT count(*) FROM valid WHERE until + interval ''1 day'' > zu AND id < 2000',
	'SELECT g, max(date_trunc(''day'', until)), min(zu + interval ''1 hour'') FROM valid WHERE id < 2000 GROUP BY g', 'SELECT count(*) FROM valid WHERE extract(isodow FROM past) IS NULL', 'SELECT count(*) FROM valid a JOIN valid b ON date_trunc(''day'', a.until) = date_trunc(''day'', b.past) AND a.g = b.g WHERE a.id < 2000 AND b.id < 2000', 'SELECT avg(extract(minute FROM until)), max(extract(month FROM past)) FROM valid']) AS q;
SET timezone = '<+0530>-05:30';
SELECT check_same(format('SELECT id, %s FROM valid WHERE id < 2000', for_each('%s', ARRAY['date_trunc(''day'', zu)', 'extract(hour FROM zu)', 'zu::date', 'zu::timestamp', 'until::timestamptz', 'zu AT TIME ZONE ''UTC''', 'date_trunc(''year'', zu, ''UTC'')'])), '{public}');
SET timezone = 'UTC';
-- beyond the range
SELECT check_error(q, '{public}') FROM unnest(ARRAY['SELECT max(since + interval ''1 day'') FROM valid', 'SELECT max(zu - interval ''2 days'') FROM valid WHERE id > 20']) AS q;

-- values that are infinite, an error, or make a table of too many dates are not planned once seen
SELECT refusal(q) FROM unnest(ARRAY['SELECT max(extract(year FROM until)) FROM valid', 'SELECT max(date_part(''epoch'', zu)) FROM valid', 'SELECT max(extract(century FROM d::timestamp)) FROM valid', 'SELECT max(until - since) FROM valid', 'SELECT sum(extract(epoch FROM until - since)) FROM valid', 'SELECT count(*) FROM valid WHERE age(until, since) > ''1 day''', 'SELECT max(until::time) FROM valid',
	'SELECT max(date_bin(''1 day'', until, since)) FROM valid', 'SELECT to_char(until, ''YYYY-MM''), count(*) FROM valid GROUP BY 1', 'SELECT to_char(zu, ''YYYY''), count(*) FROM valid GROUP BY 1', 'SELECT extract(year FROM d), count(*) FROM valid GROUP BY 1', 'SELECT max(to_char(past, ''YYYY'')) FROM valid']) AS q;
-- a condition or a CASE may keep infinite ones away
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT extract(year FROM until), count(*) FROM valid WHERE until < ''2100-01-01'' AND id < 2000 GROUP BY 1', 'SELECT sum(CASE WHEN until < ''infinity'' THEN extract(epoch FROM until - since) END) FROM valid WHERE id < 2000', 'SELECT g, max(CASE WHEN zu BETWEEN ''1900-01-01'' AND ''2100-01-01'' THEN extract(year FROM zu) END) FROM valid GROUP BY g']) AS q;
-- a column that gets its first infinite timestamp: that execution falls back, the next one is PostgreSQL's
CREATE TABLE public.later WITH (autovacuum_enabled = off) AS SELECT i, timestamp '2020-01-01' + i * interval '7 hours' AS ts FROM generate_series(1, 500) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) public.later;
SELECT check_same('SELECT to_char(ts, ''YYYY-MM''), count(*) FROM later GROUP BY 1', '{public}'), check_same('SELECT extract(year FROM ts), count(*) FROM later GROUP BY 1', '{public}');
INSERT INTO public.later VALUES (501, 'infinity');
SELECT settle();
VACUUM (FREEZE) public.later;
SELECT count(*) FROM public.later WHERE to_char(ts, 'YYYY') = '2020';
EXPLAIN (COSTS OFF) SELECT count(*) FROM public.later WHERE to_char(ts, 'YYYY') = '2020';
SELECT refusal(q) FROM unnest(ARRAY['SELECT count(*) FROM later WHERE to_char(ts, ''YYYY'') = ''2020''', 'SELECT max(extract(year FROM ts)) FROM later']) AS q;
DELETE FROM public.later WHERE i = 501;
SELECT settle();
VACUUM (FREEZE) public.later;
-- seen anew by any query of the column
SELECT check_same('SELECT max(ts) FROM later', '{public}');
SELECT check_same('SELECT to_char(ts, ''YYYY-MM''), count(*) FROM later WHERE ts IS NOT NULL GROUP BY 1', '{public}');
DROP FUNCTION public.for_each;
DROP TABLE public.valid, public.later;
