-- Helpers of the regression tests.

-- Rows of a query as text, in the spelling that a client would see.
CREATE FUNCTION rows_of(query text, mode text) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
	r record;
	result text[] := '{}';
BEGIN
	PERFORM set_config('gpuconc.debug_offload', mode, true);
	FOR r IN EXECUTE query LOOP
		result := result || r::text;
	END LOOP;
	PERFORM set_config('gpuconc.debug_offload', 'allow', true);
	RETURN result;
END $$;

-- As rows_of, for a query with parameters: prepared, with a generic plan.
CREATE FUNCTION difference(a text[], b text[]) RETURNS text
LANGUAGE sql AS $$
	SELECT string_agg(line, E'\n' ORDER BY line)
	FROM (SELECT line FROM (
			(SELECT 'missing: ' || x AS line FROM unnest(a) AS x
			 EXCEPT ALL SELECT 'missing: ' || x FROM unnest(b) AS x)
			UNION ALL
			(SELECT 'surplus: ' || x FROM unnest(b) AS x
			 EXCEPT ALL SELECT 'surplus: ' || x FROM unnest(a) AS x)) AS lines
		ORDER BY line LIMIT 10) AS first_lines;
$$;

-- How often was the device used, and how often not, since the server started?
CREATE FUNCTION offload_counts(OUT offloaded bigint, OUT fallbacks bigint)
LANGUAGE sql AS 'SELECT offloaded, fallbacks FROM gpuconc_stat_get()';
