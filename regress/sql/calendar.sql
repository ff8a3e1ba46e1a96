-- Ages, bins of timestamps, dates printed by to_char().
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE public.lives (id int, g int, born timestamp, died timestamp, zb timestamptz, zd timestamptz, d date, iv interval) WITH (autovacuum_enabled = off);
-- every day of four years against days of a leap year and of another, with times that carry over
INSERT INTO public.lives
SELECT i, i % 5, x, y, x AT TIME ZONE 'UTC', y AT TIME ZONE 'UTC', x::date, (i % 40) * interval '1 day'
FROM generate_series(1, 1500) AS i, LATERAL (SELECT timestamp '1999-01-01 00:00' + i * interval '1 day' + (i % 3) * interval '11 hours 59 minutes 30.5 seconds',
	timestamp '2000-01-28' + (i % 70) * interval '1 day' + (i % 4) * interval '7 hours 31 minutes 15.000001 seconds' + (i % 2) * interval '3 years') AS _(x, y);
-- ends of months, and the same day; before Christ; nothing
INSERT INTO public.lives
SELECT 2000 + row_number() OVER (), 7, x, y, x AT TIME ZONE 'UTC', y AT TIME ZONE 'UTC', x::date, '30 days'
FROM unnest(ARRAY['2000-01-31', '2000-02-29', '2001-02-28 23:59:59.999999', '2000-03-31', '2000-12-31', '2001-01-01', '1900-02-28', '0001-12-31 BC', '0001-01-01', '4713-01-01 BC', NULL]::timestamp[]) AS x,
	unnest(ARRAY['2000-01-31', '2000-02-29 00:00:00.000001', '2001-03-01', '2001-03-31', '2000-12-01', '2000-03-30', '1904-02-29 12:00', '0005-02-29 BC', NULL]::timestamp[]) AS y;
VACUUM (FREEZE, ANALYZE) public.lives;
CREATE FUNCTION public.each_with(template text, names text[]) RETURNS text RETURN (SELECT string_agg(format(template, n), ', ') FROM unnest(names) AS n);

-- ages: as results, their fields, in comparisons
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT id, age(died, born), age(born, died) FROM lives', 'SELECT id, age(zd, zb), age(zb, zd), age(d, ''2000-02-29''::date) FROM lives',
	'SELECT id, age(timestamp ''2001-03-31'', born), age(born, timestamp ''2000-02-29 12:00'') FROM lives WHERE g < 4', 'SELECT a.id, age(a.died, b.born) FROM lives a JOIN lives b ON a.id = b.id + 1 WHERE a.g = 3']) AS q;
SELECT check_same(format('SELECT id, %s FROM lives', each_with('extract(%s FROM age(died, born))', '{millennium,century,decade,year,month,day,hour,minute,second,milliseconds,microseconds,epoch}')), '{public}');
SELECT check_same('SELECT extract(epoch FROM age(died, born)), count(*), sum(extract(epoch FROM age(born, died))) FROM lives WHERE extract(epoch FROM age(died, born)) > 86400.5 GROUP BY 1', '{public}');
SELECT check_same(format('SELECT id, %s FROM lives', each_with('date_part(%L, age(zb, zd))', '{millennium,century,decade,years,mon,day,hour,minute,microseconds}')), '{public}');
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT extract(year FROM age(died, born)), date_part(''month'', age(born, died)), count(*), sum(extract(day FROM age(died, born))) FROM lives GROUP BY 1, 2',
	'SELECT count(*) FROM lives WHERE age(died, born) >= interval ''1 year'' AND age(died, born) < interval ''2 years 3 months''',
	format('SELECT id, %s FROM lives', each_with('age(died, born) %s', '{= ''1 mon'',= ''30 days'',<> ''1 year 30 days'',> iv,<= -iv,< ''-1 mon 30 days'',> age(born - interval ''1 day''\, died),IS DISTINCT FROM iv,BETWEEN ''20 days'' AND ''1 mon 12:00''}')),
	'SELECT count(*) FROM lives a JOIN lives b ON age(a.died, a.born) < b.iv AND a.id = b.id', 'SELECT g, max(CASE WHEN age(died, born) > ''1 year'' THEN id END) FROM lives GROUP BY g']) AS q;
-- of one argument: since today
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT id, age(born), age(zb) FROM lives WHERE g < 5', 'SELECT count(*), sum(extract(year FROM age(d))) FROM lives WHERE age(d) > ''10 years'' AND g < 5']) AS q;
-- in the order of ages PostgreSQL sorts; equal ones may differ in spelling, so they are not grouped by
SET gpuconc.debug_offload = require;
SELECT id, age(died, born) FROM public.lives WHERE g = 7 AND born IS NOT NULL AND died > '0001-01-01' ORDER BY age(died, born) DESC, id LIMIT 12;
RESET gpuconc.debug_offload;
SELECT refusal(q) FROM unnest(ARRAY['SELECT age(died, born), count(*) FROM lives GROUP BY 1', 'SELECT max(age(died, born)) FROM lives', 'SELECT sum(age(died, born)) FROM lives', 'SELECT DISTINCT age(zd, zb) FROM lives',
	'SELECT max(CASE WHEN age(died, born) > ''1 year'' THEN 1 ELSE extract(quarter FROM age(died, born)) END) FROM lives', 'SELECT max(date_part(''second'', age(died, born))) FROM lives', 'SELECT max(born - age(died, born)) FROM lives']) AS q;
SET timezone = 'America/New_York';
SELECT refusal('SELECT count(*) FROM lives WHERE age(zd, zb) > ''1 day''');
SELECT check_same('SELECT count(*), sum(extract(month FROM age(died, born))) FROM lives WHERE age(born, died) > ''1 day''', '{public}');
SET timezone = '<+0530>-05:30';
SELECT check_same('SELECT id, age(zd, zb), extract(day FROM age(zb, zd)) FROM lives', '{public}');
-- clocks are put back: local times may have another order than the instants
CREATE TABLE public.put_back WITH (autovacuum_enabled = off) AS SELECT a * 100 + b AS id, '2023-10-28 22:00+00'::timestamptz + a * interval '20 min' AS a, '2023-10-28 22:00+00'::timestamptz + b * interval '20 min' AS b FROM generate_series(0, 12) AS a, generate_series(0, 12) AS b;
VACUUM (FREEZE, ANALYZE) public.put_back;
SET timezone = 'Europe/Berlin';
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT count(*) FROM put_back WHERE age(a, b) > ''25 min''', 'SELECT a, sum(extract(month FROM age(a, b))), min(extract(day FROM age(b, a))) FROM put_back GROUP BY a', 'SELECT a, sum(extract(hour FROM age(a, b))) FROM put_back WHERE id % 100 < 6 AND id < 600 GROUP BY a']) AS q;
DROP TABLE public.put_back;
SET timezone = 'UTC';

-- bins
SELECT check_same(format('SELECT id, %s FROM lives', each_with('date_bin(%s)', ARRAY['''1 day'', born, ''2000-01-01''', '''15 minutes'', died, ''2000-02-29 12:07:30''', '''36 hours'', born, ''3000-01-01''', '''1 week 0.000001 seconds'', died, born',
	'''7 days'', zb, ''2000-01-03 00:00+01''', '''1 microsecond'', zd, zb', '''100000 days'', born, ''0001-01-01''', '''1 day'', d, ''1970-01-01''::timestamp'])) || ' WHERE born > ''0001-01-01'' AND died > ''0001-01-01'' OR born IS NULL', '{public}');
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT date_bin(''10 days'', born, ''2000-01-01''), count(*), max(died) FROM lives GROUP BY 1', 'SELECT date_bin(''1 hour'', zd, ''2000-01-01''), sum(id) FROM lives WHERE date_bin(''2 weeks'', born, died) < ''2000-06-01'' AND (g < 5 OR died IS NULL) GROUP BY 1']) AS q;
SELECT refusal(q) FROM unnest(ARRAY['SELECT max(date_bin(iv, born, died)) FROM lives', 'SELECT max(date_bin(''1 month'', born, ''2000-01-01'')) FROM lives']) AS q;
SELECT max(date_bin('-1 day', born, '2000-01-01')) FROM public.lives;
SELECT max(date_bin('0', born, '2000-01-01')) FROM public.lives;

-- dates printed
CREATE TABLE public.prints WITH (autovacuum_enabled = off) AS SELECT * FROM public.lives WHERE g < 5 OR born IS NULL AND (died > '1900-01-01' OR died IS NULL);
VACUUM (FREEZE, ANALYZE) public.prints;
SELECT check_same(format('SELECT %s, count(*) FROM prints GROUP BY 1', f), '{public}') FROM unnest(ARRAY['to_char(born, ''YYYY-MM'')', 'to_char(died, ''YYYY'')', 'to_char(born, ''FMDay, FMDDth Mon YYYY BC'')', 'to_char(born, ''IYYY-IW ID'')', 'to_char(zb, ''YYYY/Q'')', 'to_char(d, ''YYYY-MM-DD'')', 'to_char(born::date, ''MM'')', 'upper(to_char(died, ''mon'')) || ''.''']) AS f;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT id, to_char(born, ''DDD J WW W CC RM Dy''), to_char(zd, ''Y,YYY month AD'') FROM prints WHERE g < 5', 'SELECT count(*) FROM prints WHERE to_char(born, ''YYYY-MM'') = ''2000-02'' OR to_char(died, ''Dy'') IN (''Mon'', ''Tue'')',
	'SELECT g, max(to_char(born, ''YYYY-MM-DD'')), min(to_char(zd, ''Month'')) FROM prints WHERE g < 5 GROUP BY g']) AS q;
SET timezone = '<+1130>-11:30';
SELECT check_same('SELECT to_char(zb, ''YYYY-MM-DD''), count(*), max(to_char(d, ''Day'')) FROM prints WHERE g < 5 GROUP BY 1', '{public}');
SET timezone = 'America/New_York';
SELECT check_same('SELECT to_char(zb, ''YYYY''), count(*) FROM prints WHERE g < 5 GROUP BY 1', '{public}');
SET timezone = 'UTC';
SELECT refusal(format('SELECT to_char(born, %L), count(*) FROM prints GROUP BY 1', f)) FROM unnest(ARRAY['HH24', 'YYYY-MM-DD HH:MI', 'YYYY "at" MM', 'TMMonth', 'YYYY TZ', 'MM AM', 'Us', '', 'abc', 'DDSP']) AS f;
SELECT refusal(q) FROM unnest(ARRAY['SELECT max(to_char(born, CASE WHEN g = 1 THEN ''YYYY'' ELSE ''MM'' END)) FROM prints', 'SELECT max(to_char(born + iv, ''YYYY'')) FROM prints', 'SELECT count(*) FROM prints WHERE to_char(born, ''YYYY'') < born::text']) AS q;

DROP TABLE public.prints;

-- results that depend on the time zone are not kept for the next one; two dates that always differ
CREATE TABLE public.prints AS SELECT i, to_char(localtimestamp + (i % 9 - 4) * interval '1 day', 'YYYY-MM-DD') AS x FROM generate_series(1, 900) AS i;
VACUUM (FREEZE, ANALYZE) public.prints;
SET timezone = 'Etc/GMT+12';
SELECT check_same('SELECT count(*) FROM prints WHERE x <= to_char(localtimestamp, ''YYYY-MM-DD'')', '{public}');
SET timezone = 'Etc/GMT-14';
SELECT check_same('SELECT count(*) FROM prints WHERE x <= to_char(localtimestamp, ''YYYY-MM-DD'')', '{public}');
RESET timezone;
DROP TABLE public.prints;
-- a second FM is a literal F
SELECT refusal('SELECT to_char(born, ''FMFMI''), count(*) FROM lives GROUP BY 1');

-- infinite timestamps, and the ends of the range: PostgreSQL's answer, or its error
INSERT INTO public.lives (id, g, born, died) VALUES (3000, 9, 'infinity', '2000-01-01'), (3001, 10, '2000-01-01', '-infinity'), (3002, 11, '294276-12-31 23:59:59.999999', '4713-01-01 BC'), (3003, 12, '4714-11-24 BC', '294276-12-31');
VACUUM (FREEZE) public.lives;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT id, age(died, born), age(born, died), extract(epoch FROM age(born, died)) FROM lives WHERE g = 11', 'SELECT id, extract(year FROM age(died, born)) FROM lives WHERE g = 11 OR g = 2', 'SELECT id, age(died, ''2000-01-01''::timestamp) FROM lives WHERE g = 11 OR g = 12']) AS q;
SELECT max(extract(year FROM age(died, born))) FROM public.lives WHERE g IN (9, 12) AND died < '1900-01-01';
SELECT g, date_bin('1 day', died, '2000-01-01') FROM public.lives WHERE g >= 9 ORDER BY g;
SELECT max(date_bin('300 days', died, born)) FROM public.lives WHERE g = 9;
SELECT max(date_bin('300 days', born, died)) FROM public.lives WHERE g = 12;
SELECT max(date_bin('300 days', born, '2000-01-01')) FROM public.lives WHERE g = 12;
SELECT g, to_char(born, 'YYYY-MM') FROM public.lives WHERE g >= 9 ORDER BY g;
DROP TABLE public.lives;
DROP FUNCTION public.each_with;
