-- A statement that is not prepared is planned each time: what PostgreSQL computes while it plans may be another by then.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA anew;
SET search_path = anew, public;
CREATE TABLE facts WITH (autovacuum_enabled = off) AS
SELECT i, i % 4 AS tenant, i % 20 AS c, (i * 7919::bigint % 10007)::int AS v, 't' || i % 40 AS t FROM generate_series(1, 60000) AS i;
CREATE TABLE dims WITH (autovacuum_enabled = off) AS SELECT i AS id, i % 3 AS g FROM generate_series(0, 9) AS i;
VACUUM (FREEZE, ANALYZE) facts, dims;
SET max_parallel_workers_per_gather = 0;
-- Three times: its rows, against those of PostgreSQL's own plan; and how often it was offloaded.
CREATE FUNCTION thrice(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	used bigint;
	diff text := '';
	expected text[];
BEGIN
	SELECT offloaded INTO used FROM gpuconc_stat_get();
	FOR i IN 1..3 LOOP
		expected := rows_of(query, 'forbid');
		diff := diff || coalesce(difference(expected, rows_of(query, 'allow')), '');
	END LOOP;
	SELECT offloaded - used INTO used FROM gpuconc_stat_get();
	RETURN concat(format('%s rows, the first %s, offloaded %s times', cardinality(expected), expected[1], used), ', differs: ' || nullif(diff, ''));
END $$;

-- Row security by a function that looks at a setting, though it says that it does not.
CREATE FUNCTION tenant() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN current_setting('app.tenant', true)::int; END $$;
CREATE POLICY own ON facts USING (tenant = tenant());
ALTER TABLE facts ENABLE ROW LEVEL SECURITY;
CREATE ROLE regress_gpuconc_tenant;
GRANT USAGE ON SCHEMA anew TO regress_gpuconc_tenant;
GRANT SELECT ON ALL TABLES IN SCHEMA anew TO regress_gpuconc_tenant;
\set by_tenant 'SELECT tenant, count(*) FROM facts GROUP BY tenant'
SET ROLE regress_gpuconc_tenant;
SET app.tenant = 1;
SELECT thrice(:'by_tenant');
SET app.tenant = 2;
SELECT thrice(:'by_tenant');
-- As a client sends it, with other constants beside it.
SET app.tenant = 1;
SELECT tenant, count(*) FROM facts WHERE c < 11 GROUP BY tenant;
SELECT tenant, count(*) FROM facts WHERE c < 12 GROUP BY tenant;
SELECT tenant, count(*) FROM facts WHERE c < 12 GROUP BY tenant;
SET app.tenant = 2;
SELECT tenant, count(*) FROM facts WHERE c < 12 GROUP BY tenant;
SELECT tenant, count(*) FROM facts WHERE c < 13 GROUP BY tenant;
RESET ROLE;
DROP POLICY own ON facts;
CREATE POLICY own ON facts USING (tenant > 2);
SET ROLE regress_gpuconc_tenant;
SELECT thrice(:'by_tenant');
RESET ROLE;
ALTER TABLE facts DISABLE ROW LEVEL SECURITY;

-- A function that calls one that is replaced, one that is replaced itself, and one that reads a table.
CREATE FUNCTION least_of() RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN 3; END';
CREATE FUNCTION calls() RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN least_of(); END';
CREATE FUNCTION twice(n int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT n * 2';
CREATE FUNCTION reads() RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM dims); END';
\set calling 'SELECT count(*) FROM facts WHERE tenant < calls()'
\set inlined 'SELECT sum(twice(c)), count(*) FROM facts'
\set reading 'SELECT count(*) FROM facts WHERE c < reads()'
SELECT thrice(q) FROM unnest(ARRAY[:'calling', :'inlined', :'reading']) AS q;
CREATE OR REPLACE FUNCTION least_of() RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE OR REPLACE FUNCTION twice(n int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT n * 3';
INSERT INTO dims SELECT 100, 100;
SELECT thrice(q) FROM unnest(ARRAY[:'calling', :'inlined', :'reading']) AS q;
DELETE FROM dims WHERE id = 100;

-- Settings that PostgreSQL's own functions look at.
CREATE FUNCTION thrice_with(name text, value text, query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	before text := current_setting(name);
BEGIN
	RETURN NEXT thrice(query);
	PERFORM set_config(name, value, false);
	RETURN NEXT thrice(query);
	PERFORM set_config(name, before, false);
	RETURN NEXT thrice(query);
END $$;
SELECT thrice_with('extra_float_digits', '0', 'SELECT (1.0::float8 / 3)::text AS x, tenant, count(*) FROM facts GROUP BY tenant ORDER BY tenant');
SELECT thrice_with('bytea_output', 'escape', 'SELECT ''\x0102''::bytea::text AS x, tenant, count(*) FROM facts GROUP BY tenant ORDER BY tenant');
SELECT thrice_with('quote_all_identifiers', 'on', 'SELECT count(*) FROM facts WHERE t <> quote_ident(''t5'')');
SELECT thrice_with('IntervalStyle', 'iso_8601', 'SELECT count(*), max(t || (interval ''1 day'')::text) FROM facts');
SELECT thrice_with('DateStyle', 'German', 'SELECT count(*), max(t || (date ''2020-01-31'')::text) FROM facts');
SELECT thrice_with('timezone_abbreviations', 'Australia', 'SELECT count(*) FROM facts WHERE timestamp_larger(make_timestamp(2020, 1, 1, c, 0, 0) AT TIME ZONE ''CST'' AT TIME ZONE ''UTC'', ''2020-01-01'') > ''2020-01-01''');
-- What the server's own functions read of the catalogs.
CREATE TEXT SEARCH CONFIGURATION words (COPY = simple);
\set found 'SELECT count(*) FROM facts WHERE to_tsvector(''words'', t) @@ ''t7'''
SELECT thrice(:'found');
ALTER TEXT SEARCH CONFIGURATION words DROP MAPPING FOR numword;
SELECT thrice(:'found');
CREATE TABLE whole (a int) PARTITION BY LIST (a);
CREATE TABLE part (a int);
CREATE FUNCTION parts() RETURNS text LANGUAGE sql AS $$
	SELECT thrice(format('SELECT count(*) FROM facts WHERE pg_partition_root((c * 0 + %s)::oid::regclass) IS NOT NULL', 'part'::regclass::oid))
$$;
SELECT parts();
ALTER TABLE whole ATTACH PARTITION part DEFAULT;
SELECT parts();

-- Stored and named things change: rows, columns, tables and views.
\set grouped 'SELECT g, sum(v), count(*) FROM facts, dims WHERE tenant = id AND t <> ''t7'' AND c IN (1, 2, 3, 15) GROUP BY g ORDER BY g'
SELECT thrice(:'grouped');
UPDATE dims SET g = g + 1 WHERE id < 2;
SELECT thrice(:'grouped');
ALTER TABLE facts ALTER v TYPE bigint;
CREATE INDEX ON facts (t);
VACUUM (FREEZE, ANALYZE) facts, dims;
SELECT thrice(:'grouped');
ALTER TABLE facts DROP COLUMN t;
:grouped;
ALTER TABLE facts ADD COLUMN t text DEFAULT 't9';
SELECT thrice(:'grouped');
CREATE SCHEMA anew_first;
CREATE TABLE anew_first.dims WITH (autovacuum_enabled = off) AS SELECT i AS id, 100 + i % 2 AS g FROM generate_series(0, 9) AS i;
VACUUM (ANALYZE) anew_first.dims;
SET search_path = anew_first, anew, public;
SELECT thrice(:'grouped');
SET search_path = anew, public;
SELECT thrice(:'grouped');
CREATE VIEW seen AS SELECT tenant, v FROM facts WHERE c < 15;
\set looks 'SELECT sum(v), count(*) FROM seen WHERE tenant > 1'
SELECT thrice(:'looks');
CREATE OR REPLACE VIEW seen AS SELECT tenant, v FROM facts WHERE c < 10;
SELECT thrice(:'looks');

-- Rows that a trigger hands over, by statements as texts.
CREATE TABLE told (a int);
CREATE FUNCTION hear() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	query text := 'SELECT sum(f.v) FROM facts f, news n WHERE f.tenant = n.a';
	sums bigint[] := '{0,0,0}';
BEGIN
	FOR i IN 1..3 LOOP
		EXECUTE query INTO sums[i];
	END LOOP;
	RAISE NOTICE '%, PostgreSQL: %', sums, ARRAY(SELECT sum(f.v) FROM facts f JOIN news n ON f.tenant = n.a);
	RETURN NULL;
END $$;
CREATE TRIGGER hear AFTER INSERT ON told REFERENCING NEW TABLE AS news FOR EACH STATEMENT EXECUTE FUNCTION hear();
INSERT INTO told VALUES (1);
INSERT INTO told VALUES (2), (3);
-- A query is repeated in one transaction, though the things that it depends on go.
BEGIN;
SELECT thrice(:'inlined');
SAVEPOINT s;
CREATE OR REPLACE FUNCTION twice(n int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT n * 4';
SELECT thrice(:'inlined');
ROLLBACK TO s;
SELECT thrice(:'inlined');
DROP FUNCTION twice(int);
:inlined;
ROLLBACK;
SELECT thrice(:'inlined');

SET client_min_messages = warning;
DROP SCHEMA anew, anew_first CASCADE;
DROP ROLE regress_gpuconc_tenant;
