/* gpuconc_columns_test--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION gpuconc_columns_test" to load this file. \quit

-- Rows of a table as gpuconc's cache and the delta give them, each as the text
-- of a record; loads what is missing unless told not to.
CREATE FUNCTION gpuconc_columns_test_scan(rel regclass, columns name[] DEFAULT NULL,
	load boolean DEFAULT true)
RETURNS SETOF text
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- Only load; returns 'ok' or the code's name.
CREATE FUNCTION gpuconc_columns_test_load(rel regclass, columns name[] DEFAULT NULL,
	OUT code text, OUT detail text, OUT chunks bigint, OUT pages bigint, OUT workers integer)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- Pages that serve a snapshot taken now.
CREATE FUNCTION gpuconc_columns_test_served(rel regclass,
	OUT blocks bigint, OUT served bigint, OUT delta bigint, OUT reloadable bigint,
	OUT ranges bigint, OUT complete boolean, OUT worth_reload boolean)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- Pages that serve the current snapshot, hot ones included, once the WAL is flushed if need be.
CREATE FUNCTION gpuconc_columns_test_versions(rel regclass, flush boolean DEFAULT true,
	OUT blocks bigint, OUT served bigint, OUT versioned bigint, OUT looked_at bigint,
	OUT own bigint, OUT delta bigint, OUT amended boolean, OUT read_before bigint)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- Flush the WAL, so that sessions find what others have changed and not committed.
CREATE FUNCTION gpuconc_columns_test_flush()
RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- A table's cached columns: of each chunk, a row for each column, with the identity of its data.
CREATE FUNCTION gpuconc_columns_test_cells(rel regclass,
	OUT chunk integer, OUT hot boolean, OUT pages integer, OUT col name, OUT id bigint, OUT row_count bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- The identity of what is cached of a table; NULL: nothing is.
CREATE FUNCTION gpuconc_columns_test_directory(rel regclass)
RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- As if a transaction had ended: the next snapshot is another one.
CREATE FUNCTION gpuconc_columns_test_ended()
RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- As if VACUUM had frozen all rows, and cut the log of commits.
CREATE FUNCTION gpuconc_columns_test_forget()
RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- Why a table, or one of its columns, cannot be cached; NULL if it can.
CREATE FUNCTION gpuconc_columns_test_reason(rel regclass, col name DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- Ask for a refresh in the background.
CREATE FUNCTION gpuconc_columns_test_refresh(rel regclass)
RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- numeric -> int128 -> numeric; NULL where it does not go.
CREATE FUNCTION gpuconc_columns_test_numeric(numeric)
RETURNS numeric
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE;

-- The transaction id that these 32 bits stand for where `next` is the next one to be given.
CREATE FUNCTION gpuconc_columns_test_full_xid(xid xid, next xid8)
RETURNS xid8
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE;

-- Draw pairs of states and compare their keys with the rows that they read; an error if these do not agree.  How many
-- read the same rows, how many did not, and how many of the former one as a base with edits and one anew.
CREATE FUNCTION gpuconc_columns_test_rows_keys(pairs bigint, OUT same bigint, OUT differing bigint, OUT edited bigint)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE;

-- Bytes of the arena in use, after reclaiming what can be.
CREATE FUNCTION gpuconc_columns_test_arena(OUT used bigint, OUT retired bigint, OUT size bigint)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- Enter or leave the guard of a request slot.
CREATE FUNCTION gpuconc_columns_test_guard(slot integer, enter boolean)
RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- Nanoseconds that judging a table takes, per page of its visibility map.
CREATE FUNCTION gpuconc_columns_test_serve_time(rel regclass, loops integer)
RETURNS double precision
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- Rows that only the table has, and rows that only the scan has, once the WAL is flushed.
CREATE FUNCTION gpuconc_columns_test_diff(rel regclass, columns name[] DEFAULT NULL,
	load boolean DEFAULT true, OUT missing bigint, OUT extra bigint)
RETURNS record
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
	list text;
BEGIN
	PERFORM gpuconc_columns_test_flush();
	SELECT coalesce(string_agg(format('%I', attname), ', ' ORDER BY attnum), '')
	INTO list
	FROM pg_catalog.pg_attribute
	WHERE attrelid = rel AND attnum > 0 AND NOT attisdropped
		AND (columns IS NULL OR attname = ANY (columns));
	EXECUTE format($q$
		WITH t AS MATERIALIZED (SELECT ROW(%s)::text AS r FROM ONLY %s),
		s AS MATERIALIZED (SELECT r FROM gpuconc_columns_test_scan($1, $2, $3) AS r)
		SELECT (SELECT count(*) FROM (SELECT r FROM t EXCEPT ALL SELECT r FROM s) AS x),
			(SELECT count(*) FROM (SELECT r FROM s EXCEPT ALL SELECT r FROM t) AS x)
		$q$, list, rel)
	INTO missing, extra USING rel, columns, load;
END
$$;

-- Compare the scan with the table, by what is cached and after a load; an error if they differ, or if
-- fewer pages than these are served by version then.  What another session was served does only if `shared`.
CREATE PROCEDURE gpuconc_columns_test_compare(rel regclass, versioned bigint DEFAULT 0, shared boolean DEFAULT false)
LANGUAGE plpgsql
AS $$
DECLARE
	load boolean;
	d record;
	v record;
BEGIN
	IF NOT shared THEN
		PERFORM gpuconc_columns_test_ended();
	END IF;
	FOREACH load IN ARRAY ARRAY[false, true] LOOP
		SELECT * INTO d FROM gpuconc_columns_test_diff(rel, load => load);
		SELECT * INTO v FROM gpuconc_columns_test_versions(rel);
		IF d.missing <> 0 OR d.extra <> 0 THEN
			RAISE EXCEPTION 'load %: % rows are missing, and % are there in error (%)', load, d.missing, d.extra, v;
		END IF;
	END LOOP;
	IF v.versioned < versioned THEN
		RAISE EXCEPTION 'few pages are served by version: %', v;
	END IF;
END
$$;
