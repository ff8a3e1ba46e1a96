\set ECHO none
\o /dev/null
-- Common set-up of the regression tests: helpers, and tables in three states.
--
-- Every test includes this file, so that each can run alone; what is there
-- already (an earlier test of the same run made it) is left as it is.
--
-- Schema "cached" holds vacuumed tables, which are read through the column
-- cache; "delta" the same rows never vacuumed, which backends read themselves;
-- "mixed" the same rows, vacuumed, but with about every tenth row deleted and
-- inserted anew since.  check_same() runs a query over each of the three.
\set VERBOSITY terse
-- No width of a column depends on another row, so a change of one row changes one line.
\pset format unaligned
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS gpuconc;
SET gpuconc.enabled = on;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
-- Tests say what is to be offloaded: costs must not decide.
SET gpuconc.offload_cost = 0;
-- Nor does what is loaded already, but in cold.sql.
SET gpuconc.cold = wait;
-- The worker may be opening its device still.
DO $$
BEGIN
	WHILE (SELECT state NOT IN ('ready', 'no device') FROM gpuconc_devices) LOOP
		PERFORM pg_sleep(0.01);
	END LOOP;
END $$;
SELECT to_regclass('public.setup_done') IS NULL AS setup_needed \gset
\if :setup_needed
\set helpers :abs_srcdir '/include/helpers.sql'
\i :helpers
\set tables :abs_srcdir '/include/tables.sql'
\i :tables
CREATE TABLE public.setup_done ();
\endif
SET search_path = cached, public;
RESET client_min_messages;
\o
\set ECHO all
