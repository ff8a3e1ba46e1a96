-- Functions of timestamps and numbers that kernels compute, intervals, CASE with an operand.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- Timestamps at the ends of years, weeks and centuries, before Christ too, and at the ends of the range.
CREATE TABLE public.moments (id int, ts timestamp, t2 timestamp, d date, f float8, n numeric(12,4), w numeric(30,10), i int, s smallint, b bigint, tx text, u text) WITH (autovacuum_enabled = off);
INSERT INTO public.moments
SELECT i, x, x + i * interval '1 hour 7.000001 seconds', x::date,
	(i - 500) * 0.37, (i - 500) * 0.0625, (i - 500) * 12345.0000000001, i % 17, i % 5 - 2, i::bigint * 1000003, 't' || i % 6, 'u' || i % 7
FROM generate_series(1, 1000) AS i,
	LATERAL (SELECT timestamp '0001-01-01 BC' - interval '400 years' + i * interval '3 years 5 months 11 days 7 hours 13 minutes 17.123457 seconds') AS _(x);
INSERT INTO public.moments
SELECT 1000 + i, y, timestamp '2000-01-01', '2000-02-29', 0.5 * i, -0.5 * i, 0.5 * i, i, i, i, 'x', 'x'
FROM unnest(ARRAY['2000-01-01', '1999-12-31 23:59:59.999999', '2000-02-29 12:00', '1900-02-28 23:59:59.5', '2100-03-01', '2001-01-01', '2000-12-31 23:59:59.999999',
	'0001-01-01 00:00:00', '0001-12-31 23:59:59 BC', '0001-01-01 BC', '0101-01-01 BC', '1001-06-15 BC', '4713-01-01 BC', '4714-11-24 00:00:00 BC', '294276-12-31 23:59:59.999999', '2004-12-31', '2005-01-01', '2005-01-02', '2008-12-29', '2010-01-03',
	'1970-01-01', '1969-12-31 23:59:59.999999', '2016-02-29', NULL]::timestamp[]) WITH ORDINALITY AS _(y, i);
INSERT INTO public.moments SELECT 2000 + i, NULL, NULL, NULL, x, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM unnest(ARRAY['NaN', 'Infinity', '-Infinity', '-0', '0.5', '-0.5', '1.5', '2.5', '-2.5', '1e300', '4503599627370497.5', '0.49999999999999994']::float8[]) WITH ORDINALITY AS _(x, i);
VACUUM (FREEZE, ANALYZE) public.moments;

-- fields and truncation: each of them as a result, some as groups and conditions
CREATE FUNCTION public.all_of(template text, names text[]) RETURNS text RETURN (SELECT string_agg(format(template, n), ', ') FROM unnest(names) AS n);
SELECT check_same(format('SELECT id, %s FROM moments WHERE id < 1500', all_of('extract(%s FROM ts)', '{millennium,century,decade,year,quarter,month,week,day,dow,isodow,doy,isoyear,hour,minute,second,milliseconds,microseconds,epoch,mon,YEARS}')), '{public}');
SELECT check_same(format('SELECT id, %s FROM moments WHERE id < 1500', all_of('date_part(%L, ts)', '{millennium,century,decade,year,quarter,month,week,day,dow,isodow,doy,isoyear,hour,minute,microseconds,epoch}')), '{public}');
SELECT check_same(format('SELECT id, %s FROM moments WHERE id < 1000', all_of('date_trunc(%L, ts)', '{millennium,century,decade,year,quarter,month,week,day,hour,minute,second,milliseconds,microseconds}')), '{public}');
SELECT check_same('SELECT extract(year FROM ts), count(*), sum(extract(second FROM t2)) FROM moments WHERE id < 1500 AND extract(isodow FROM ts) < 6 GROUP BY 1', '{public}');
SELECT check_same('SELECT extract(century FROM ts), count(*), sum(extract(decade FROM ts) * 2), max(extract(isoyear FROM ts)) FROM moments WHERE extract(millennium FROM ts) IN (2, 3) GROUP BY 1', '{public}');
SELECT check_same('SELECT date_trunc(''decade'', ts), extract(dow FROM t2), count(*), max(ts) FROM moments WHERE ts > ''1800-01-01'' GROUP BY 1, 2', '{public}');
SELECT refusal(q) FROM unnest(ARRAY['SELECT sum(extract(julian FROM ts)) FROM moments', 'SELECT sum(date_part(''second'', ts)) FROM moments', 'SELECT max(date_trunc(tx, ts)) FROM moments', 'SELECT sum(date_part(''epoch'', ts - t2)) FROM moments', 'SELECT max(extract(fortnight FROM ts)) FROM moments']) AS q;
-- intervals
SELECT check_same(format('SELECT id, %s FROM moments WHERE id < 1000', all_of('%s', ARRAY['ts + interval ''1 month''', 'ts - interval ''1 month''', 'ts + interval ''13 months 31 days 25 hours''', 'ts - interval ''100 years 0.5 seconds''', 'd + interval ''1 day''', 'd - interval ''1 year''', 'interval ''3 hours'' + ts', 'extract(epoch FROM ts - t2)', 'extract(epoch FROM d + interval ''1 month'' - ts)'])), '{public}');
SELECT check_same('SELECT count(*) FROM moments WHERE CASE WHEN id < 1000 THEN t2 > ts + interval ''5 days'' AND ts BETWEEN timestamp ''1000-01-01'' AND t2 - interval ''1 month'' END', '{public}');
-- beyond the range, and infinite: PostgreSQL's error or answer
SELECT max(ts + interval '1 day') FROM public.moments;
SELECT max(ts - interval '3 months') FROM public.moments;
SELECT min(date_trunc('century', ts)) FROM public.moments;
INSERT INTO public.moments (id, ts) VALUES (3000, 'infinity'), (3001, '-infinity');
VACUUM (FREEZE) public.moments;
SELECT max(extract(year FROM ts)), min(extract(epoch FROM ts)), max(date_trunc('month', ts)), max(ts + interval '1 month') FROM public.moments WHERE id >= 3000;
SELECT max(extract(epoch FROM ts - t2)) FROM public.moments;
-- numbers
SELECT check_same(format('SELECT id, %s FROM moments', all_of('%s', e)), '{public}'), check_same(format('SELECT %s, %s FROM moments', all_of('count(%s)', e), all_of('max(%s)', e)), '{public}')
FROM (SELECT ARRAY['floor(f)', 'ceil(f)', 'ceiling(f)', 'trunc(f)', 'round(f)', 'sign(f)', 'abs(f)', 'sqrt(abs(f))', 'round(n)', 'round(n, 2)', 'round(n, 6)', 'trunc(n)', 'trunc(n, 3)', 'floor(n)', 'ceil(n)', 'ceiling(w)', 'round(w, 9)', 'trunc(w, 1)', 'floor(w)', 'sign(n)', 'sign(w)', 'abs(w)', 'n % 0.3', 'mod(w, 7)', 'mod(n, -1.5)', 'mod(i, 5)', 'mod(b, 13)', 'mod(s, 2::smallint)', 'n % (CASE WHEN i > 3 THEN 1.5 ELSE 2.25 END)']) AS _(e);
SELECT sum(sqrt(f)) FROM public.moments;
SELECT sum(n % s) FROM public.moments;
SELECT check_same('SELECT round(n, 1), count(*), sum(trunc(w, 2)), min(floor(n)) FROM moments GROUP BY 1', '{public}');
SELECT refusal(q) FROM unnest(ARRAY['SELECT sum(round(n, -10)) FROM moments', 'SELECT sum(round(n, i)) FROM moments']) AS q;
-- rows are compared from left to right: the first unequal values decide, or NULL
SELECT check_same(format('SELECT id, %s FROM moments', all_of('%s', ARRAY['(i, s) < (5, 0::smallint)', '(i, s) >= (5, 0::smallint)', '(i, n, id) <= (16, 0, 700)', '(i, id) > (s, b)', '(tx, id) > (''t3'', 300)', '(ts, i) < (t2, 3)', '(NULLIF(i, 3), NULLIF(s, 1)) > (2, 0)', '(i, NULLIF(s, 1)) > (3, NULL)'])), '{public}');
SELECT check_same('SELECT count(*) FROM moments WHERE (i, s, id) > (3, 1, 200) AND (tx, u) <= (''t4'', ''u5'')', '{public}');
-- a timestamp beside an instant
SELECT check_same('SELECT count(*), count(*) FILTER (WHERE CASE WHEN id < 1000 THEN ts > now() - interval ''100 years'' END), count(*) FILTER (WHERE CASE WHEN id < 1000 THEN timestamptz ''1900-01-01 00:00+03'' >= ts END) FROM moments WHERE CASE WHEN id < 1000 THEN ts < now() END', '{public}');
SET timezone = 'Etc/GMT-5';
SELECT check_same('SELECT count(*) FROM moments WHERE id < 1000 AND ts <> timestamptz ''1900-01-01 00:00+03'' AND t2 > timestamptz ''1000-01-01 00:00+03''', '{public}');
SET timezone = 'Europe/Vienna';
SELECT refusal('SELECT count(*) FROM moments WHERE ts < now()');
SET timezone = 'UTC';
-- CASE with an operand, of several columns, nested
SELECT check_same(format('SELECT id, %s FROM moments', all_of('%s', ARRAY['CASE i WHEN 1 THEN n WHEN 2 THEN w ELSE 0 END', 'CASE tx WHEN ''t1'' THEN i WHEN ''t2'' THEN s WHEN u THEN 7 END', 'CASE i % 3 WHEN 0 THEN CASE s WHEN 1 THEN b WHEN i THEN 2 ELSE 3 END WHEN 1 THEN id END',
	'CASE CASE s WHEN 0 THEN 5 ELSE i END WHEN 5 THEN 1 WHEN s THEN 2 END', 'CASE i WHEN CASE s WHEN 1 THEN i ELSE 4 END THEN 1 ELSE 2 END', 'CASE ts WHEN t2 THEN 1 WHEN date ''2000-01-01'' THEN 2 END', 'CASE tx WHEN ''t1'' THEN ''a'' WHEN ''t2'' THEN u ELSE ''c'' END'])), '{public}');
-- builds that differ in a function alone
CREATE TABLE public.calm WITH (autovacuum_enabled = off) AS SELECT * FROM public.moments WHERE id < 1000;
VACUUM (FREEZE, ANALYZE) public.calm;
SELECT check_same(format('SELECT count(*), sum(a.id) FROM calm a JOIN calm b ON a.id = b.id WHERE extract(%s FROM b.ts) = 5', f), '{public}') FROM unnest('{month,day,hour}'::text[]) AS f;
DROP TABLE public.calm;
DROP FUNCTION public.all_of;
DROP TABLE public.moments;
