-- Intervals as columns and results, timestamps with a time zone, times.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE public.spans (id int, g int, iv interval, i2 interval, ts timestamp, t2 timestamp, tz timestamptz, z2 timestamptz, tm time, d date) WITH (autovacuum_enabled = off);
INSERT INTO public.spans
SELECT i, i % 7, CASE WHEN i % 11 > 0 THEN (i % 5 - 2) * interval '1 day' + sign(i % 5 - 2) * (i * 7919 % 86400) * interval '1.000001 seconds' * 0.999 END,
	(i % 3) * interval '1 day' + (i % 4) * interval '1 hour',
	timestamp '1999-12-20' + i * interval '7 hours 11 minutes 13.123457 seconds', timestamp '2000-06-01' - i * i * interval '1 minute 0.5 seconds',
	timestamptz '1999-12-20 00:00+00' + i * interval '7 hours 11 minutes 13.123457 seconds', timestamptz '2000-06-01 12:00+00' - i * i * interval '1 minute',
	time '00:00' + (i * 7919 % 86400) * interval '1.000001 seconds' * 0.999, date '1999-11-30' + i
FROM generate_series(1, 700) AS i;
INSERT INTO public.spans SELECT 1000 + i, 8, x, -x, timestamp '-infinity' + NULL, '2000-01-01', '1969-12-31 23:59:59.999999+00', '2000-02-29 00:00+00', '24:00', '2000-01-01'
FROM unnest(ARRAY['0', '23:59:59.999999', '-23:59:59.999999', '1 day', '-1 day', '100000 days 0.000001 seconds', NULL]::interval[]) WITH ORDINALITY AS _(x, i);
VACUUM (FREEZE, ANALYZE) public.spans;
CREATE FUNCTION public.each_of(template text, names text[]) RETURNS text RETURN (SELECT string_agg(format(template, n), ', ') FROM unnest(names) AS n);

-- columns of intervals
SELECT check_same(q, '{public}') FROM unnest(ARRAY[
	'SELECT * FROM spans', 'SELECT count(iv), count(DISTINCT iv), min(iv), max(iv), max(i2) FROM spans', 'SELECT g, min(iv), max(i2) FROM spans GROUP BY g',
	'SELECT iv, count(*) FROM spans GROUP BY iv', 'SELECT i2, iv > i2, count(*) FROM spans GROUP BY 1, 2', 'SELECT a.id, b.id FROM spans a JOIN spans b ON a.iv = b.i2',
	'SELECT id, iv FROM spans ORDER BY iv DESC NULLS LAST, id LIMIT 20', 'SELECT id, ts + iv, ts - iv, iv + ts, d + iv, d - iv FROM spans',
	'SELECT id, CASE WHEN iv > i2 THEN iv WHEN g = 3 THEN interval ''1 day 3 hours'' ELSE i2 END, coalesce(iv, ''0''), greatest(iv, i2), nullif(iv, i2) FROM spans']) AS q;
-- months are 30 days, and days 24 hours
SELECT check_same(format('SELECT id, %s FROM spans', each_of('iv %s', ARRAY['= ''24 hours''', '< ''25 hours''', '> ''-1 month 29 days''', '<= ''1 day -3 hours''', '<> ''1 day''', 'IS DISTINCT FROM ''-24:00''', 'BETWEEN ''-30 hours'' AND ''1 mon''', 'IN (''24 hours'', ''1 mon'', ''-1 day'', NULL)', 'NOT IN (''25 hours'', ''0'', ''300000000 days'')', '< ''178000000 years'''])), '{public}');
SELECT check_same(format('SELECT id, %s FROM spans', each_of('extract(%s FROM iv)', '{day,hour,minute,second,milliseconds,microseconds,epoch}')), '{public}');
SELECT check_same(format('SELECT id, %s FROM spans', each_of('date_part(%L, iv)', '{day,hour,minute,microseconds}')), '{public}');
-- differences
SELECT check_same(q, '{public}') FROM unnest(ARRAY[
	'SELECT id, ts - t2, tz - z2, ts - d, d - ts FROM spans', 'SELECT min(ts - t2), max(tz - z2), count(DISTINCT ts - t2) FROM spans', 'SELECT ts - t2, count(*) FROM spans GROUP BY 1',
	'SELECT count(*) FROM spans WHERE ts - t2 > ''3 months'' OR z2 - tz < iv', 'SELECT id, extract(day FROM ts - t2), extract(hour FROM tz - z2), extract(epoch FROM tz - z2), extract(second FROM ts - t2) FROM spans']) AS q;
-- values that a column cannot take: PostgreSQL's answer
SELECT refusal(q) FROM unnest(ARRAY['SELECT sum(iv) FROM spans', 'SELECT avg(ts - t2) FROM spans', 'SELECT max(CASE WHEN g = 1 THEN iv ELSE ''1 month'' END) FROM spans',
	'SELECT max(iv * 2) FROM spans', 'SELECT max(iv + i2) FROM spans', 'SELECT max(extract(month FROM iv)) FROM spans', 'SELECT max(date_part(''epoch'', iv)) FROM spans', 'SELECT max(tm - tm) FROM spans']) AS q;
CREATE TABLE public.long_spans AS SELECT i, x FROM unnest('{1 day,24:00,30 days,1 month,1 day -1 hour}'::interval[]) WITH ORDINALITY AS _(x, i);
VACUUM public.long_spans;
SELECT x, count(*), max(i) FROM public.long_spans GROUP BY x ORDER BY x;
SELECT DISTINCT column_name, problem FROM gpuconc_cache WHERE relation = 'public.long_spans'::regclass AND problem IS NOT NULL;
-- each kind of them alone
CREATE TABLE public.odd_spans AS SELECT i, interval '1 day 23:59:59.999999' AS fine, interval '24:00' AS hours, interval '1 month' AS months,
	interval '1 day -1 hour' AS against, interval '-1 day 1 hour' AS against_a_day FROM generate_series(1, 5) i;
VACUUM public.odd_spans;
SELECT gpuconc_prewarm('public.odd_spans') > 0 AS loaded;
SELECT column_name, problem FROM gpuconc_cache WHERE relation = 'public.odd_spans'::regclass ORDER BY column_name;
DROP TABLE public.odd_spans;
PREPARE p(interval) AS SELECT count(*), min(iv) FROM public.spans WHERE iv < $1;
SELECT count(*), min(iv) FROM public.spans WHERE iv < '30 hours';
EXECUTE p('30 hours');
EXECUTE p('1 day 6 hours');
EXECUTE p('2 months');

-- times
SELECT check_same(format('SELECT id, %s FROM spans', each_of('extract(%s FROM tm)', '{hour,minute,second,milliseconds,microseconds,epoch}')), '{public}');
SELECT check_same('SELECT id, ts::time, t2::time, date_part(''hour'', tm), date_part(''epoch'', tm) FROM spans', '{public}'),
	check_same('SELECT ts::time, count(*) FROM spans WHERE t2::time > ''06:00'' GROUP BY 1', '{public}');

-- time zones with one offset, and others, in which PostgreSQL answers
CREATE FUNCTION public.in_zone(zone text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text := '';
	q text;
BEGIN
	PERFORM set_config('timezone', zone, true);
	FOREACH q IN ARRAY ARRAY[
		format('SELECT id, %s FROM spans', each_of('extract(%s FROM tz)', '{century,year,quarter,month,week,day,dow,doy,isoyear,hour,minute,second,epoch}')),
		format('SELECT id, %s FROM spans', each_of('date_trunc(%L, z2)', '{year,quarter,month,week,day,hour,minute,second}')),
		'SELECT tz::date, count(*) FROM spans GROUP BY 1', 'SELECT id, z2::time, z2::timestamp, ts::timestamptz, d::timestamptz, date_part(''month'', z2) FROM spans',
		'SELECT id, tz + interval ''1 month 3 days 5 hours'', z2 - interval ''1 day'', z2 + interval ''1 year -2 days'' FROM spans',
		'SELECT count(*), max(tz) FROM spans WHERE tz::date BETWEEN ''2000-01-01'' AND ''2000-02-28'' AND extract(hour FROM z2) > 10']
	LOOP
		said := said || check_same(q, '{public}') || ' ';
	END LOOP;
	RETURN said;
END $$;
SELECT zone, in_zone(zone) FROM unnest('{UTC,<+0530>-05:30,Etc/GMT+11}'::text[]) AS zone;
SET timezone = 'America/New_York';
SELECT refusal(q) FROM unnest(ARRAY['SELECT max(tz + interval ''1 day'') FROM spans', 'SELECT max((tz + interval ''1 hour'')::date) FROM spans', 'SELECT max(ts AT TIME ZONE ''Europe/Berlin'') FROM spans', 'SELECT max(tz AT TIME ZONE CASE WHEN g > 2 THEN ''UTC'' END) FROM spans']) AS q;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT id, tz + interval ''3 hours'', z2 - interval ''30 hours 0.5 seconds'', extract(epoch FROM tz), date_part(''epoch'', tz), tz - z2, tz AT TIME ZONE ''UTC'', ts AT TIME ZONE ''UTC'', date_trunc(''day'', z2, ''Etc/GMT-3'') FROM spans',
	'SELECT (tz AT TIME ZONE ''UTC'')::date, count(*) FROM spans WHERE tz >= date ''2000-01-05'' AND tz < timestamp ''2000-03-01 12:00'' AND z2 <> current_date GROUP BY 1']) AS q;
SELECT date_trunc('month', tz), count(*) FROM public.spans WHERE id < 1000 GROUP BY 1 ORDER BY 1 LIMIT 3;
-- a plan that was made in another zone
SET timezone = 'UTC';
PREPARE months AS SELECT date_trunc('month', tz), count(*) FROM public.spans WHERE id < 1000 GROUP BY 1 ORDER BY 1 LIMIT 2;
SET plan_cache_mode = force_generic_plan;
SET gpuconc.debug_offload = prefer;
EXECUTE months;
SET timezone = '<+0530>-05:30';
EXECUTE months;
SET timezone = 'America/New_York';
EXECUTE months;
RESET timezone;
SET timezone = 'UTC';
RESET plan_cache_mode;
-- infinite ones, and the ends of the range
INSERT INTO public.spans (id, ts, t2, tz, z2, iv) VALUES (3000, 'infinity', '-infinity', '-infinity', 'infinity', '1 day'), (3001, '294276-12-31 23:59:59', '4713-01-01 BC', '294276-12-31 23:59:59+00', '4713-01-01 00:00+00 BC', '1 day');
VACUUM (FREEZE) public.spans;
SELECT max(extract(year FROM tz)), min(date_trunc('day', z2)), max(tz::date), min(z2::timestamp), max(ts::time) FROM public.spans WHERE id >= 3000;
SELECT max(ts + iv) FROM public.spans WHERE id = 3000;
SELECT max(ts + iv) FROM public.spans WHERE id = 3001;
RESET gpuconc.debug_offload;
