-- Functions of users: evaluated by PostgreSQL for each distinct value of a column, so
-- they may fail, query, be redefined, or depend on settings.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- one that fails for values which another condition removes: no error then
SELECT check_same('SELECT sum(10 / length(tx)) FROM types WHERE tx <> ''''');
SELECT check_same('SELECT sum(10 / length(tx)) FROM types WHERE nn = 1 AND tx = ''a''');
SELECT check_error('SELECT sum(10 / length(tx)) FROM types');
CREATE FUNCTION public.raising(text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN IF $1 = 'ab' THEN RAISE EXCEPTION 'no ab'; END IF; RETURN 1; END$$;
SELECT check_same('SELECT sum(raising(tx)) FROM types WHERE tx <> ''ab''');
SELECT check_same('SELECT count(*) FROM types WHERE id < 0 AND raising(tx) = 1');
SELECT check_same('SELECT count(*) FROM types WHERE CASE WHEN tx <> ''ab'' THEN raising(tx) = 1 END');
SELECT check_error('SELECT sum(raising(tx)) FROM types');
CREATE FUNCTION public.catching(text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN 100 / (length($1) - 1); EXCEPTION WHEN division_by_zero THEN RETURN -1; END$$;
SELECT check_same('SELECT tx, catching(tx), count(*) FROM types GROUP BY 1, 2');
-- of NULL
CREATE FUNCTION public.of_null(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN COALESCE($1, 'was NULL'); END$$;
CREATE FUNCTION public.to_null(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN NULLIF($1, 'ab'); END$$;
CREATE FUNCTION public.strictly(text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$BEGIN RETURN 'strict ' || $1; END$$;
SELECT f, check_same(format('SELECT %1$s(tx), count(*) FROM types GROUP BY 1', f)) AS grouped, check_same(format('SELECT id FROM types WHERE %1$s(tx) IS NULL', f)) AS "null", check_same(format('SELECT id, min(%1$s(tx)) FROM types WHERE %1$s(tx) <> ''was NULL'' GROUP BY id', f)) AS compared
FROM unnest('{of_null,to_null,strictly}'::text[]) AS f;
-- every type of result
CREATE FUNCTION public.as_bool(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN CASE $1 % 3 WHEN 0 THEN true WHEN 1 THEN false END; END$$;
CREATE FUNCTION public.as_int2(int) RETURNS int2 LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN 32767 - $1; END$$;
CREATE FUNCTION public.as_int8(int) RETURNS int8 LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN 9223372036854775807 - $1; END$$;
CREATE FUNCTION public.as_numeric(int) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN $1 * 1.25; END$$;
CREATE FUNCTION public.as_scales(int) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN CASE WHEN $1 % 2 = 0 THEN $1 * 1.2500 ELSE $1 END; END$$;
CREATE FUNCTION public.as_date(int) RETURNS date LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN date '2000-01-01' + $1; END$$;
CREATE FUNCTION public.as_timestamp(int) RETURNS timestamp LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN timestamp '2000-01-01 12:00' + $1 * interval '1 hour'; END$$;
CREATE FUNCTION public.as_float8(int) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN $1 / 8.0; END$$;
CREATE FUNCTION public.as_text(int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN repeat('x', $1); END$$;
CREATE FUNCTION public.as_array(int) RETURNS int[] LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN ARRAY[$1]; END$$;
SELECT f, check_same(format('SELECT max(%1$s(nn)), count(%1$s(nn)) FROM types', f)) AS extreme, check_same(format('SELECT %1$s(nn), count(*) FROM types GROUP BY 1', f)) AS grouped, check_same(format('SELECT id FROM types WHERE %1$s(nn) = %1$s(3)', f)) AS filter
FROM unnest('{as_int2,as_int8,as_numeric,as_scales,as_date,as_timestamp,as_text,as_array}'::text[]) AS f;
SELECT check_same('SELECT as_bool(nn), count(*) FROM types WHERE as_bool(nn) IS NOT FALSE GROUP BY 1'), check_same('SELECT max(as_float8(nn)), count(*) FROM types WHERE as_float8(nn) > 1');
-- of columns of every type
SELECT c, check_same(format('SELECT id, max(md5(%s::text)) FROM types GROUP BY id', c)) FROM unnest('{b,i2,i4,nn,d,dd,tx,vc,bc,dt,nt,i8,n,f8,ts}'::text[]) AS c;

-- redefined
SET gpuconc.debug_offload = require;
CREATE FUNCTION public.changing(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN 'first ' || $1; END$$;
CREATE FUNCTION public.inner_one(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN 'first ' || $1; END$$;
CREATE FUNCTION public.outer_one(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN 'outer ' || inner_one($1); END$$;
PREPARE p AS SELECT min(changing(nt)), max(outer_one(nt)) FROM types;
EXECUTE p;
CREATE OR REPLACE FUNCTION public.changing(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN 'second ' || $1; END$$;
CREATE OR REPLACE FUNCTION public.inner_one(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN 'second ' || $1; END$$;
SELECT min(changing(nt)), max(outer_one(nt)) FROM types;
EXECUTE p;
BEGIN;
CREATE OR REPLACE FUNCTION public.changing(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN 'undone ' || $1; END$$;
EXECUTE p;
ROLLBACK;
EXECUTE p;
RESET gpuconc.debug_offload;

-- that query, and see what the statement sees
CREATE TABLE public.looked_up (t text);
INSERT INTO public.looked_up VALUES ('a'), ('a'), ('ab');
CREATE FUNCTION public.querying(text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$BEGIN RETURN (SELECT count(*) FROM public.looked_up WHERE t = $1); END$$;
CREATE FUNCTION public.same_table(text) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN (SELECT sum(id) FROM cached.types WHERE tx = $1); END$$;
CREATE FUNCTION public.writing(text) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$BEGIN INSERT INTO public.looked_up VALUES ($1); RETURN 1; END$$;
SELECT check_same('SELECT tx, querying(tx), count(*) FROM types GROUP BY 1, 2');
INSERT INTO public.looked_up VALUES ('a');
SELECT max(querying(tx)) FROM types;
BEGIN;
INSERT INTO public.looked_up VALUES ('a');
SELECT max(querying(tx)) FROM types;
ROLLBACK;
SELECT max(querying(tx)) FROM types;
SELECT check_same('SELECT tx, same_table(tx), count(*) FROM types GROUP BY 1, 2');
SELECT check_error('SELECT sum(writing(tx)) FROM types');
SELECT count(*) FROM looked_up;

-- that depend on settings
SET plan_cache_mode = force_generic_plan;
PREPARE dates AS SELECT max(d::text), min(d::timestamptz), max(to_char(d, 'Day')), count(*) FILTER (WHERE d::timestamptz < timestamptz '1995-12-31 20:00+00') FROM types;
EXECUTE dates;
SET datestyle = 'German';
EXECUTE dates;
SET timezone = 'America/New_York';
EXECUTE dates;
SET timezone = 'Asia/Tokyo';
SET datestyle = 'ISO, MDY';
EXECUTE dates;
SET timezone = 'UTC';
RESET plan_cache_mode;
-- recursion, deep
CREATE FUNCTION public.deep(text, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN CASE WHEN $2 = 0 THEN length($1) ELSE public.deep($1, $2 - 1) END; END$$;
SELECT check_same('SELECT sum(deep(tx, 50)) FROM types');
SET max_stack_depth = '200kB';
SELECT check_error('SELECT sum(deep(tx, 50000)) FROM types');
RESET max_stack_depth;
-- operators and casts of users
CREATE FUNCTION public.text_starts(text, text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN starts_with($1, $2); END$$;
CREATE OPERATOR public.^@@ (FUNCTION = text_starts, LEFTARG = text, RIGHTARG = text);

CREATE FUNCTION public.odd_equal(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 % 2 = $2 % 2 OR random() < 0';
CREATE OPERATOR public.=== (FUNCTION = odd_equal, LEFTARG = int, RIGHTARG = int);
SELECT check_same('SELECT count(*) FROM types WHERE tx ^@@ ''a''');
SELECT check_same('SELECT count(*) FROM shop JOIN region ON s_id === r_id');

DROP OPERATOR public.=== (int, int);
DROP OPERATOR public.^@@ (text, text);
DROP FUNCTION public.raising, public.catching, public.of_null, public.to_null, public.strictly, public.as_bool, public.as_int2, public.as_int8, public.as_numeric, public.as_scales, public.as_date, public.as_timestamp, public.as_float8, public.as_text, public.as_array,
	public.changing, public.inner_one, public.outer_one, public.querying, public.same_table, public.writing, public.deep, public.text_starts, public.odd_equal;
DROP TABLE public.looked_up;
