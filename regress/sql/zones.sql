-- Timestamps with a time zone, in zones that have several offsets from UTC.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
-- Instants of the days on which a zone changes its offset, to the microsecond before and after the quarters of hours; and of others.
-- Among them: half an hour, at midnight, a day that is not there, summer time that is the standard one, seconds.
CREATE TABLE public.stamps (id int, zone text, z timestamptz, local timestamp, hour numeric, day timestamptz, g int) WITH (autovacuum_enabled = off);
INSERT INTO public.stamps (id, zone, z)
SELECT row_number() OVER (ORDER BY name, d, m, us), name, (d + m * interval '15 minutes' + us * interval '1 microsecond') AT TIME ZONE 'UTC'
FROM unnest('{America/New_York,Europe/Berlin,Australia/Lord_Howe,America/Sao_Paulo,Pacific/Apia,Europe/Dublin,Asia/Kathmandu,America/Havana,Africa/Casablanca,Asia/Kolkata}'::text[]) AS name,
	LATERAL (SELECT d FROM unnest(ARRAY['1890-01-01', '1915-01-01', '1940-01-01', '1985-06-01', '2010-07-01', '2017-09-01', '2045-01-01']::timestamp[]) AS s, generate_series(s, s + interval '550 days', '1 day') AS d
		WHERE (d AT TIME ZONE 'UTC') AT TIME ZONE name - d <> (d + interval '1 day') AT TIME ZONE 'UTC' AT TIME ZONE name - (d + interval '1 day') OR d IN (s, '1999-12-31', '2011-12-29', '2011-12-30')) AS days,
	generate_series(0, 96, 2) AS m, generate_series(-1, 0) AS us;
INSERT INTO public.stamps (id, zone) SELECT 0, zone FROM public.stamps GROUP BY zone;
-- PostgreSQL's answers
SET gpuconc.enabled = off;
UPDATE public.stamps SET local = z AT TIME ZONE zone, g = id % 11;
DO $$
DECLARE
	name text;
BEGIN
	FOR name IN SELECT DISTINCT zone FROM public.stamps LOOP
		PERFORM set_config('timezone', name, true);
		UPDATE public.stamps SET hour = extract(hour FROM z), day = date_trunc('day', z) WHERE zone = name;
	END LOOP;
END $$;
SET gpuconc.enabled = on;
SELECT settle();
VACUUM (FREEZE, ANALYZE) public.stamps;

-- How many rows there are depends on the time zones that the server knows.
CREATE FUNCTION public.no_count(result text) RETURNS text LANGUAGE sql AS $$ SELECT regexp_replace(result, '[1-9][0-9]* rows', 'rows', 'g') $$;
-- in each zone: no row differs
CREATE FUNCTION public.each_instant_in(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	wrong bigint;
	result text := '';
	q text;
BEGIN
	PERFORM set_config('timezone', name, true);
	PERFORM set_config('search_path', 'public', true);
	PERFORM set_config('gpuconc.debug_offload', 'require', true);
	EXECUTE format('SELECT count(*) FROM stamps WHERE zone = %L AND (z::timestamp IS DISTINCT FROM local OR z AT TIME ZONE %1$L IS DISTINCT FROM local OR z::date <> local::date OR z::time <> local::time OR extract(hour FROM z) <> hour OR extract(second FROM z) <> extract(second FROM local)
		OR date_trunc(''day'', z) IS DISTINCT FROM day OR date_trunc(''minute'', z) > z OR date_trunc(''microseconds'', z) <> z OR date_part(''dow'', z) <> date_part(''dow'', local))', name) INTO wrong;
	PERFORM set_config('gpuconc.debug_offload', 'allow', true);
	FOREACH q IN ARRAY ARRAY['SELECT date_trunc(''month'', z), extract(isodow FROM z), count(*), max(date_trunc(''hour'', z)), min(date_trunc(''second'', z)) FROM stamps WHERE zone = %L GROUP BY 1, 2',
		'SELECT z::date, to_char(z, ''YYYY-MM-DD Dy''), count(*), min(z::time) FROM stamps WHERE zone = %L GROUP BY 1, 2', 'SELECT g, count(*) FILTER (WHERE z::date = ''2011-12-31''), max(date_trunc(''hour'', z, %1$L)), sum(extract(minute FROM z)) FROM stamps WHERE z AT TIME ZONE %1$L > ''1950-01-01'' GROUP BY g'] LOOP
		result := result || '; ' || check_here(format(q, name));
	END LOOP;
	RETURN wrong || ' wrong' || no_count(result);
END $$;
SELECT zone, each_instant_in(zone) FROM public.stamps GROUP BY zone ORDER BY zone;

-- as keys of a join, in a subquery that is joined, through an outer join, and as NULL for good
SET timezone = 'Europe/Berlin';
SELECT public.no_count(check_same(q, '{public}')) FROM unnest(ARRAY['SELECT count(*), sum(a.id) FROM stamps a JOIN (SELECT date_trunc(''day'', z) AS d, min(id) AS first FROM stamps GROUP BY 1) b ON date_trunc(''day'', a.z) = b.d AND a.g = 3', 'SELECT b.z::date, count(*), count(b.id) FROM stamps a LEFT JOIN stamps b ON a.id = b.id + 7 AND b.g = 2 WHERE a.zone LIKE ''E%'' GROUP BY 1',
	'SELECT ''Q'' || extract(quarter FROM z), count(DISTINCT z::date) FROM stamps GROUP BY 1', 'SELECT extract(year FROM m), count(*) FROM (SELECT g, max(z) AS m FROM stamps GROUP BY g) x GROUP BY 1', 'SELECT count(*) FROM stamps WHERE CASE WHEN g < 5 THEN extract(hour FROM z) BETWEEN 2 AND 3 ELSE z::date > ''2000-01-01'' END',
	'SELECT z::date, id FROM stamps WHERE zone = ''Europe/Berlin'' ORDER BY z::date DESC NULLS LAST, id LIMIT 20']) AS q;
SELECT check_same(q) FROM unnest(ARRAY['SELECT date_trunc(''month'', tz), count(*), sum(extract(hour FROM tz)) FROM types GROUP BY 1', 'SELECT count(*) FROM types WHERE tz::date > d AND tz AT TIME ZONE ''Asia/Kolkata'' < ts']) AS q;
-- a plan that is kept serves another zone
PREPARE by_day AS SELECT z::date, extract(hour FROM z), count(*) FROM public.stamps WHERE z BETWEEN '2017-10-28 20:00+00' AND '2017-10-29 03:00+00' GROUP BY 1, 2 ORDER BY 1, 2;
SET gpuconc.debug_offload = require;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_day;
SET timezone = 'Asia/Kathmandu';
EXECUTE by_day;
SET timezone = 'UTC';
EXECUTE by_day;
RESET plan_cache_mode;
SET timezone = 'Europe/Berlin';
-- expressions that need the way back, abbreviations, computed timestamps, infinite ones
SELECT refusal(q) FROM unnest(ARRAY['SELECT max(z + interval ''1 day'') FROM stamps', 'SELECT count(*) FROM stamps WHERE z > local', 'SELECT max(local AT TIME ZONE ''Europe/Berlin'') FROM stamps', 'SELECT max((z + interval ''1 hour'')::date) FROM stamps', 'SELECT max(z AT TIME ZONE ''CET'') FROM stamps', 'SELECT max(date_trunc(''day'', z, ''Europe/Berlin'')) FROM stamps', 'SELECT max(z AT TIME ZONE zone) FROM stamps', 'SELECT max(z - local) FROM stamps', 'SELECT count(*) FROM stamps WHERE age(z) > ''1 day''']) AS q;
-- zones that count leap seconds, where the server has them: local times are more than an offset from UTC
CREATE FUNCTION public.left_alone(expr text, name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	reason text;
BEGIN
	BEGIN
		PERFORM now() AT TIME ZONE name;
	EXCEPTION WHEN invalid_parameter_value THEN
		RETURN 'left to PostgreSQL';
	END;
	reason := public.refusal(format('SELECT max(' || expr || ') FROM stamps', name));
	RETURN CASE WHEN reason LIKE '%counts leap seconds%' THEN 'left to PostgreSQL' ELSE coalesce(reason, 'offloaded') END;
END $$;
SELECT expr, name, left_alone(expr, name) FROM unnest('{right/UTC,right/Europe/Berlin}'::text[]) AS name, unnest('{z AT TIME ZONE %L,local AT TIME ZONE %L,"date_trunc(''hour'', z, %L)"}'::text[]) AS expr ORDER BY name DESC, expr;
RESET gpuconc.debug_offload;
DROP FUNCTION public.left_alone(text, text);
-- infinite ones, of which the planner knows once they are loaded
INSERT INTO public.stamps (id, z) VALUES (-1, 'infinity');
SELECT settle();
VACUUM (FREEZE) public.stamps;
SELECT public.no_count(check_same('SELECT z::date, count(*) FROM stamps GROUP BY 1', '{public}'));
SELECT public.gpuconc_evict('public.stamps') > 0 AND public.gpuconc_prewarm('public.stamps') > 0 AS loaded;
SELECT refusal('SELECT max(extract(hour FROM z)) FROM stamps');
DELETE FROM public.stamps WHERE id = -1;
INSERT INTO public.stamps (id, z) VALUES (-2, '1500-01-01 12:00+00');
SELECT settle();
VACUUM (FREEZE) public.stamps;
SELECT public.gpuconc_evict('public.stamps') > 0 AND public.gpuconc_prewarm('public.stamps') > 0 AS loaded;
SELECT refusal('SELECT max(extract(hour FROM z)) FROM stamps');
-- what is called immutable, and sees the session's zone or abbreviations
CREATE TABLE public.named AS SELECT (ARRAY['EST', 'CST', 'UTC', 'Europe/Berlin'])[i % 4 + 1] AS name, date '2020-01-01' + i % 100 AS d FROM generate_series(1, 1000) AS i;
VACUUM ANALYZE public.named;
CREATE FUNCTION public.by_name() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT check_same(q, '{public}') FROM unnest(ARRAY[
		'SELECT timestamp ''2020-07-01'' AT TIME ZONE name, count(*) FROM named GROUP BY 1',
		'SELECT timestamptz ''2020-07-01'' AT TIME ZONE name, count(*) FROM named GROUP BY 1',
		'SELECT to_char(d AT TIME ZONE ''EST'', ''YYYY-MM-DD''), count(*) FROM named GROUP BY 1',
		'SELECT left(repeat(''x'', 40), extract(day FROM age(d::timestamp AT TIME ZONE interval ''0'', timestamptz ''2019-10-31 03:00+00''))::int), count(*) FROM named GROUP BY 1']) AS q
$$;
SELECT public.by_name();
SET timezone_abbreviations = 'Australia';
SELECT public.by_name();
RESET timezone_abbreviations;
SET timezone = 'America/New_York';
SELECT public.by_name();
SET timezone = 'Europe/Berlin';
DROP FUNCTION public.by_name();
DROP TABLE public.named;
DROP TABLE public.stamps;
DROP FUNCTION public.each_instant_in(text), public.no_count(text);
