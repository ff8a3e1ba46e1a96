-- gpuconc_advise(): estimates, counted reasons, advice, privileges.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE ROLE regress_gpuconc_owner;
CREATE ROLE regress_gpuconc_reader;

CREATE SCHEMA advised;
CREATE TABLE advised.plain (b bool, i1 int, i2 int, i4 bigint, i8 bigint, d date, f float8, n numeric(12,2), s text, x int);
INSERT INTO advised.plain
SELECT i % 2 = 0, i % 256 - 100, i % 60000, i::bigint * 100000, i::bigint * 10000000000, date '2000-01-01' + i % 300, i, i % 500 / 10.0, 'text ' || i % 100,
	CASE WHEN i % 2 = 0 THEN 3 END
FROM generate_series(1, 70000) AS i;
CREATE TABLE advised.odd (j json[], n numeric, k int);
INSERT INTO advised.odd SELECT '{}', CASE WHEN i = 5 THEN numeric 'NaN' ELSE i END, i FROM generate_series(1, 100) AS i;
CREATE TABLE advised.fresh (k int);
CREATE UNLOGGED TABLE advised.unlogged (k int);
CREATE TABLE advised.parent (k int) PARTITION BY LIST (k);
CREATE TABLE advised.child PARTITION OF advised.parent FOR VALUES IN (1);
VACUUM ANALYZE advised.plain, advised.odd;
ANALYZE advised.unlogged;
SELECT gpuconc_stat_reset();

CREATE VIEW advised.shown AS
SELECT relation, rows, cached_bytes > 0 AS cached, pages_served, refusals, fallbacks, advice
FROM gpuconc_advise() WHERE relation::text ~ '^advised\.';
SELECT * FROM advised.shown ORDER BY relation::text;

-- bytes that columns would take, and do take, dictionaries included
SELECT column_name, bytes / 70000.0 AS of_row, refused FROM gpuconc_estimate_columns('advised.plain') WHERE column_name <> 's';
SELECT * FROM gpuconc_estimate_columns('advised.odd') WHERE refused IS NOT NULL;
SELECT column_name, refused FROM gpuconc_estimate_columns('advised.unlogged');
SELECT count(*) FROM gpuconc_estimate_columns(0);
SELECT gpuconc_prewarm('advised.plain') > 0, gpuconc_prewarm('advised.odd') > 0;
SELECT estimated_bytes BETWEEN cached_bytes / 2 AND cached_bytes * 2 AS near, pages_served FROM gpuconc_advise() WHERE relation = 'advised.plain'::regclass;

-- reasons: refused in planning, each table once; fallbacks
SET gpuconc.enabled = on;
SELECT DISTINCT ON (i1 % 2) i1 % 2 FROM advised.plain ORDER BY i1 % 2 LIMIT (SELECT 9);
PREPARE refused AS SELECT k FROM advised.odd AS a JOIN advised.odd AS b USING (k) JOIN advised.fresh AS f USING (k) FOR UPDATE;
EXECUTE refused;
EXECUTE refused;
SET gpuconc.debug_offload = prefer;
SELECT sum(n) FROM advised.odd;
SELECT sum(n) FROM advised.odd;
SELECT count(*), sum(i1) FROM advised.plain;
RESET gpuconc.debug_offload;
RESET gpuconc.enabled;
SELECT relation, refusals, fallbacks, advice FROM advised.shown WHERE refusals IS NOT NULL OR fallbacks IS NOT NULL ORDER BY relation::text;

-- pages that were written to
UPDATE advised.plain SET i1 = i1 + 1;
SELECT advice FROM advised.shown WHERE relation = 'advised.plain'::regclass;

-- others see the tables that they may read, and no reasons but those of their own tables
GRANT USAGE ON SCHEMA advised TO PUBLIC;
GRANT SELECT ON advised.odd TO regress_gpuconc_reader;
ALTER TABLE advised.plain OWNER TO regress_gpuconc_owner;
SET ROLE regress_gpuconc_reader;
SELECT relation, refusals, fallbacks FROM gpuconc_advise();
SELECT count(*) FROM gpuconc_estimate_columns('advised.plain');
SET ROLE regress_gpuconc_owner;
SELECT relation, refusals IS NOT NULL AS refusals, fallbacks FROM gpuconc_advise() WHERE relation::text LIKE 'advised.%';
RESET ROLE;

-- nothing is to be done about what was not ready yet
CREATE TABLE advised.late AS SELECT i FROM generate_series(1, 1000) AS i;
VACUUM ANALYZE advised.late;
SET gpuconc.enabled = on;
SET gpuconc.cold = fallback;
SET gpuconc.debug_offload = prefer;
SELECT sum(i) FROM advised.late;
RESET gpuconc.debug_offload;
RESET gpuconc.cold;
RESET gpuconc.enabled;
SELECT fallbacks, advice FROM advised.shown WHERE relation = 'advised.late'::regclass;

SELECT gpuconc_stat_reset();
SELECT count(*) FROM gpuconc_stat_get_reasons();
DROP SCHEMA advised CASCADE;
DROP ROLE regress_gpuconc_owner, regress_gpuconc_reader;
