-- Queries of reports: lists of numbers, fields of dates spelled out, rows that are valid without end, the greater of
-- two amounts.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE public.bills (id int, g int, at timestamp, zat timestamptz, due date, until date, amount numeric(12,2), fee numeric(8,3), share float8, ratio real, qty smallint, doc jsonb, txt text) WITH (autovacuum_enabled = off);
INSERT INTO public.bills
SELECT i, i % 7, CASE WHEN i % 31 <> 0 THEN x END, CASE WHEN i % 29 <> 0 THEN (x + i * interval '3 hours') AT TIME ZONE 'UTC' END, CASE WHEN i % 13 <> 0 THEN x::date END,
	CASE i % 5 WHEN 0 THEN '9999-12-31' WHEN 1 THEN NULL ELSE x::date + 90 END, CASE WHEN i % 11 <> 0 THEN (i % 40 - 20) * 2.25 END, CASE WHEN i % 17 <> 0 THEN (i % 23 - 11) * 1.125 END,
	CASE i % 9 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN NULL WHEN 3 THEN '-0' ELSE (i % 12) * 0.1 END, CASE i % 8 WHEN 0 THEN 'NaN' WHEN 1 THEN NULL ELSE (i % 6) * 0.3 END, CASE WHEN i % 6 <> 0 THEN i % 9 END,
	CASE WHEN i % 10 <> 0 THEN jsonb_build_object('price', (i % 16) * CASE WHEN i % 2 = 0 THEN 0.125 ELSE 1 END) END, ((i % 14) * 0.5)::text || repeat('0', i % 3)
FROM generate_series(1, 2000) AS i, LATERAL (SELECT timestamp '1998-12-28 23:59:59.999999' + i * interval '19 hours 7 minutes 3 seconds') AS _(x);
SELECT settle();
VACUUM (FREEZE, ANALYZE) public.bills;

-- lists of numerics that are computed, and of floats: NULLs, digits that no value has, NaN, both zeros
SELECT check_same(format('SELECT id, %s FROM bills', c), '{public}') FROM unnest(ARRAY['extract(month FROM due) IN (1, 2, 12), extract(year FROM at) NOT IN (1999, 2001), extract(dow FROM zat) IN (0, 6, NULL), extract(day FROM due) NOT IN (1, NULL)',
	'round(amount) IN (2, 4.5, 11.0), amount * 2 IN (4.5, 4.50001, -9), amount + fee NOT IN (0, 1.125, NULL), qty IN (1.5, 2, 3.0), coalesce(fee, 0) IN (0, 1.125)', 'amount / 3 IN (0.75, 1.5), abs(amount) = ANY (''{2.25,NULL}''), amount * 2 = ANY (''{}''), amount * 2 = ANY (NULL::numeric[])',
	'share IN (0.3, ''NaN'', 0), share NOT IN (0.30000000000000004, ''Infinity''), share IN (0.1, NULL), ratio IN (0.3, 0.6), ratio IN (0.3::real, ''NaN''), ratio NOT IN (1.5, NULL), share * 2 IN (1, 0.2)', 'date_part(''month'', at) IN (1, 7), date_part(''hour'', zat) NOT IN (0, 3)']) AS c;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT extract(month FROM due), count(*), sum(amount) FROM bills WHERE extract(quarter FROM due) IN (1, 4) AND extract(year FROM at) IN (1999, 2000) GROUP BY 1', 'SELECT CASE WHEN extract(dow FROM zat) IN (0, 6) THEN ''weekend'' ELSE ''weekday'' END, count(*) FILTER (WHERE share IN (0.1, 0.2)), count(*) FROM bills GROUP BY 1',
	'SELECT g, sum(amount) FROM bills GROUP BY g HAVING round(sum(amount)) NOT IN (-100, 7)', 'SELECT count(*) FROM bills a JOIN (SELECT g, max(amount * 2) AS m FROM bills GROUP BY g) s ON a.g = s.g WHERE s.m IN (85.5, 85, 76.50)']) AS q;
-- more elements than are compared one by one; and those of a column are a list still
SELECT check_same(format('SELECT count(*) FROM bills WHERE amount IN (%s)', string_agg((i * 0.75)::text, ',')), '{public}'), check_same(format('SELECT count(*) FROM bills WHERE amount * 2 IN (%s)', string_agg((i * 0.75)::text, ',')), '{public}') FROM generate_series(1, 40) AS i;
PREPARE listed AS SELECT count(*) FROM public.bills WHERE round(fee, 1) IN ($1, $2, 1.1) AND share IN ($3, 0.2);
SET plan_cache_mode = force_generic_plan;
SET gpuconc.debug_offload = require;
EXECUTE listed(2.3, NULL, 0.1);
EXECUTE listed(2.3, -1.1, 'NaN');
RESET gpuconc.debug_offload;
SET gpuconc.enabled = off;
EXECUTE listed(2.3, NULL, 0.1);
EXECUTE listed(2.3, -1.1, 'NaN');
RESET plan_cache_mode;
SET gpuconc.enabled = on;

-- of a timestamp's date alone: fields and truncations inside other functions
SELECT check_same(format('SELECT %s, count(*), sum(amount) FROM bills GROUP BY 1', e), '{public}') FROM unnest(ARRAY['''Q'' || extract(quarter FROM at)', 'extract(year FROM zat) || ''-Q'' || extract(quarter FROM zat)', 'to_char(date_trunc(''month'', at), ''Mon YYYY'')', 'to_char(date_trunc(''week'', zat), ''YYYY-MM-DD HH24:MI'')', 'make_date(extract(year FROM at)::int, extract(month FROM at)::int, 1)',
	'lpad(extract(month FROM at)::text, 2, ''0'')', 'date_trunc(''year'', at)::date::text', 'zat::date::text', 'date_part(''isoyear'', at)::text || ''W'' || date_part(''week'', at)', 'to_char(extract(doy FROM zat), ''000'')', 'date_trunc(''decade'', zat)::text', 'mod(extract(isodow FROM at), 5)::text || at::date']) AS e;
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT count(*) FROM bills WHERE ''Q'' || extract(quarter FROM at) = ''Q3'' AND extract(month FROM zat)::text LIKE ''1%''', 'SELECT g, max(to_char(date_trunc(''quarter'', at), ''"Q"Q YYYY'')) FROM bills GROUP BY g']) AS q;
-- more of it is needed than its date, or it is not known which
SELECT refusal(q) FROM unnest(ARRAY['SELECT ''H'' || extract(hour FROM at), count(*) FROM bills GROUP BY 1', 'SELECT extract(epoch FROM at)::text, count(*) FROM bills GROUP BY 1', 'SELECT to_char(date_trunc(''hour'', at), ''HH24''), count(*) FROM bills GROUP BY 1', 'SELECT extract(julian FROM at)::text, count(*) FROM bills GROUP BY 1', 'SELECT max(date_trunc(txt, at)::text) FROM bills', 'SELECT to_char(at, ''HH24'') || extract(year FROM at), count(*) FROM bills GROUP BY 1']) AS q;
SET timezone = '<+1130>-11:30';
SELECT check_same('SELECT ''Q'' || extract(quarter FROM zat), to_char(date_trunc(''month'', zat), ''YYYY-MM-DD HH24:MI OF''), count(*) FROM bills GROUP BY 1, 2', '{public}');
-- quoted text of a format is no pattern
SELECT check_same(format('SELECT %s, count(*) FROM bills GROUP BY 1', e), '{public}') FROM unnest(ARRAY['to_char(at, ''IYYY-"W"IW'')', 'to_char(zat, ''"Quarter "Q" of "YYYY'')', 'to_char(at, ''"HH24:MI"FM"x"FMMM"Dy" "TH"DDTH'')']) AS e;
SELECT refusal(format('SELECT to_char(at, %L), count(*) FROM bills GROUP BY 1', f)) FROM unnest(ARRAY['YYYY "MM', 'YYYY "a\"HH24"', '"a"HH24']) AS f;
-- instants beside dates and timestamps that are made of today's and now; more than a century away, a cast might be out of range
SELECT check_same(format('SELECT count(*), count(*) FILTER (WHERE zat < %s) FROM bills', e), '{public}') FROM unnest(ARRAY['current_date - 9000', 'current_date + 1', 'current_date - interval ''26 years 3 months''', '(now() - interval ''25 years'')::date', 'date_trunc(''month'', localtimestamp) - interval ''24 years''', '(date_trunc(''year'', current_date) - interval ''22 years'')::date - 40', 'now()::timestamp - interval ''9000 days 5 hours''']) AS e;
SELECT refusal(format('SELECT count(*) FROM bills WHERE zat > current_date - %s', d)) FROM unnest(ARRAY['36525', '36526', '2000000']) AS d;
SELECT count(*) FROM public.bills WHERE zat > current_date - 2000000;
SET timezone = 'America/New_York';
SELECT check_same(format('SELECT count(*) FROM bills WHERE zat < %s', e), '{public}') FROM unnest(ARRAY['current_date - 9000', 'current_date - interval ''26 years 3 months''', '(now() - interval ''25 years'')::date']) AS e;
SELECT check_same('SELECT ''Q'' || extract(quarter FROM zat), count(*) FROM bills GROUP BY 1', '{public}');
SET timezone = 'UTC';

-- a column that has dates without end: too many for a table
SELECT check_same(format('SELECT id, %s FROM bills', (SELECT string_agg(format('extract(%s FROM until)', f), ', ') FROM unnest('{year,decade,century,millennium,quarter,month,day,dow,isodow,doy,isoyear,week}'::text[]) AS f)), '{public}');
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT extract(year FROM until), count(*), sum(amount) FROM bills GROUP BY 1', 'SELECT count(*) FROM bills WHERE extract(year FROM until) = 9999 OR extract(month FROM until) IN (1, 2)']) AS q;
SELECT refusal(q) FROM unnest(ARRAY['SELECT max(extract(epoch FROM until)) FROM bills', 'SELECT max(extract(julian FROM until)) FROM bills']) AS q;
SELECT max(extract(hour FROM until)) FROM public.bills;
-- infinite ones
INSERT INTO public.bills (id, g, at, zat, due, until) VALUES (3000, 1, 'infinity', '-infinity', 'infinity', '-infinity'), (3001, 2, '-infinity', 'infinity', '-infinity', 'infinity'), (3002, 3, '294276-12-31 23:59:59.999999', '4714-11-24 00:00+00 BC', '5874897-12-31', '4714-11-24 BC');
SELECT settle();
VACUUM (FREEZE, ANALYZE) public.bills;
SELECT check_same('SELECT id, isfinite(at), isfinite(zat), isfinite(due), isfinite(until) FROM bills', '{public}');
SELECT check_same(q, '{public}') FROM unnest(ARRAY['SELECT extract(year FROM at), count(*) FROM bills WHERE isfinite(at) GROUP BY 1', 'SELECT sum(CASE WHEN isfinite(zat) THEN extract(epoch FROM zat) END), count(*) FILTER (WHERE NOT isfinite(zat)) FROM bills', 'SELECT extract(year FROM until), count(*) FROM bills WHERE isfinite(until) GROUP BY 1', 'SELECT extract(month FROM until), count(*) FROM bills GROUP BY 1']) AS q;
SELECT refusal(q) FROM unnest(ARRAY['SELECT extract(year FROM until), count(*) FROM bills GROUP BY 1', 'SELECT to_char(at, ''YYYY''), count(*) FROM bills GROUP BY 1', 'SELECT ''Q'' || extract(quarter FROM zat), count(*) FROM bills GROUP BY 1']) AS q;
-- a date that is no timestamp is PostgreSQL's
SELECT check_same('SELECT max(extract(year FROM due)) FROM bills WHERE isfinite(due)', '{public}');

-- the greater or lesser of numerics has the digits of the one that it is
SELECT check_same(format('SELECT g, %s FROM bills GROUP BY g', e), '{public}') FROM unnest(ARRAY['sum(greatest(amount, 0)), avg(least(amount, 100))', 'sum(least(amount, fee, qty)), sum(greatest(0, amount))', 'sum(greatest(amount, fee) * 2), avg(greatest(amount, 0.0000))', 'sum(greatest(amount, 10000)), sum(least(amount, -10000)), sum(greatest(amount, NULL, 0))', 'sum(greatest(least(amount, 5), least(fee, 1.5), 0))', 'sum(CASE WHEN id % 2 = 0 THEN greatest(amount, 0) ELSE 7 END)']) AS e;
SELECT check_same('SELECT count(*) FROM bills WHERE greatest(amount, 0) > 10 AND least(amount, fee, 3) <> 3', '{public}');

-- numerics that are spelled in texts and in JSON, as numerics of a number of digits
SELECT check_same(format('SELECT g, %s FROM bills GROUP BY g', e), '{public}') FROM unnest(ARRAY['sum((doc->>''price'')::numeric(10,2)), avg(((doc->>''price'')::numeric(12,3)))', 'sum((doc->''price'')::numeric(8,1)), max(round((doc->''price'')::numeric, 2))', 'sum(round((doc->>''price'')::numeric, 1) * amount), sum(floor((doc->>''price'')::numeric))', 'sum(txt::numeric(10,2)), min(trunc(txt::numeric, 1)), max(ceil(txt::numeric))']) AS e;
DROP TABLE public.bills;
