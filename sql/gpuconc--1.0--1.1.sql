/* gpuconc--1.0--1.1.sql */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION gpuconc UPDATE TO '1.1'" to load this file. \quit

-- The server keeps the library that it has loaded at its start.
LOAD 'MODULE_PATHNAME';
DO $$
DECLARE
	loaded text := coalesce(pg_catalog.current_setting('gpuconc.version', true), '1.0');
BEGIN
	IF pg_catalog.string_to_array(loaded, '.')::int[] < '{1,1}' THEN
		RAISE EXCEPTION USING
			ERRCODE = 'object_not_in_prerequisite_state',
			MESSAGE = pg_catalog.format('version 1.1 of extension gpuconc needs a newer library than %s, which the server has loaded', loaded),
			HINT = 'Install the library of gpuconc 1.1, and restart the server.';
	END IF;
END $$;
