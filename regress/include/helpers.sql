-- Helpers of the regression tests.

-- Rows of a query as text, in the spelling that a client sees.
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

-- EXCEPT ALL both ways; NULL if there is no difference.
CREATE FUNCTION difference(expected text[], got text[]) RETURNS text
LANGUAGE sql AS $$
	SELECT string_agg(line, E'\n' ORDER BY line)
	FROM (SELECT line FROM (
			(SELECT 'missing: ' || x AS line FROM unnest(expected) AS x
			 EXCEPT ALL SELECT 'missing: ' || x FROM unnest(got) AS x)
			UNION ALL
			(SELECT 'surplus: ' || x FROM unnest(got) AS x
			 EXCEPT ALL SELECT 'surplus: ' || x FROM unnest(expected) AS x)) AS lines
		ORDER BY line LIMIT 10) AS first_lines
$$;

-- The device's and PostgreSQL's own answer to one query, compared as multisets of
-- rows, spelling included.  Says whether they agree, and whether the
-- device gave the first one: it must, where the plan can; otherwise says why it was
-- not offloaded, or, where values made it fall back afterwards, why that.
CREATE FUNCTION check_here(query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	used bigint;
	fell_back bigint;
	got text[];
	expected text[];
	diff text;
	detail text;
BEGIN
	SELECT offloaded, fallbacks INTO used, fell_back FROM gpuconc_stat_get();
	BEGIN
		got := rows_of(query, 'require');
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
		IF SQLERRM LIKE 'query is not offloaded%"require"' THEN
			RETURN concat_ws(' ', 'not offloaded:', replace(detail, 'Reason: ', ''));
		ELSIF SQLERRM !~ '"require": (unsupported value|column not cacheable)$' THEN
			RETURN concat_ws('; ', 'ERROR: ' || SQLERRM, nullif(detail, ''));
		END IF;
		-- The values decided against it: PostgreSQL's own plan must answer then.
		got := rows_of(query, 'allow');
	END;
	SELECT offloaded - used, fallbacks - fell_back INTO used, fell_back FROM gpuconc_stat_get();
	expected := rows_of(query, 'forbid');
	diff := difference(expected, got);
	IF diff IS NOT NULL THEN
		RETURN 'DIFFERENT: ' || query || E'\n' || diff;
	ELSIF fell_back > 0 THEN
		RETURN concat_ws(' ', format('ok, %s rows, fell back', cardinality(got)), '(' || detail || ')');
	ELSIF used = 0 THEN
		RETURN format('ok, %s rows, not executed', cardinality(got));
	END IF;
	RETURN format('ok, %s rows', cardinality(got));
END $$;

-- check_here() over the tables of each schema; one answer if all agree.
CREATE FUNCTION check_same(query text, schemas text[] DEFAULT '{cached,delta,mixed}')
RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	s text;
	verdict text;
	verdicts text[] := '{}';
BEGIN
	FOREACH s IN ARRAY schemas LOOP
		PERFORM set_config('search_path', s || ', public', true);
		verdict := check_here(query);
		verdicts := verdicts || (s || ': ' || verdict);
	END LOOP;
	IF (SELECT count(DISTINCT regexp_replace(v, '^[a-z]+: ', '')) FROM unnest(verdicts) AS v) = 1 THEN
		RETURN verdict;
	END IF;
	RETURN array_to_string(verdicts, E'\n');
END $$;

-- Compare the answers in their order, floats within a tolerance.
CREATE FUNCTION check_near(query text, schemas text[] DEFAULT '{cached,delta,mixed}')
RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	s text;
	got jsonb[];
	expected jsonb[];
	used bigint;
	n int;
BEGIN
	FOREACH s IN ARRAY schemas LOOP
		PERFORM set_config('search_path', s || ', public', true);
		SELECT offloaded INTO used FROM gpuconc_stat_get();
		PERFORM set_config('gpuconc.debug_offload', 'require', true);
		EXECUTE format('SELECT array_agg(to_jsonb(q)) FROM (%s) AS q', query) INTO got;
		PERFORM set_config('gpuconc.debug_offload', 'forbid', true);
		EXECUTE format('SELECT array_agg(to_jsonb(q)) FROM (%s) AS q', query) INTO expected;
		PERFORM set_config('gpuconc.debug_offload', 'allow', true);
		IF used = (SELECT offloaded FROM gpuconc_stat_get()) THEN
			RETURN s || ': not offloaded';
		END IF;
		n := cardinality(got);
		IF n IS DISTINCT FROM cardinality(expected) THEN
			RETURN format('%s: DIFFERENT: %s rows, not %s', s, n, cardinality(expected));
		END IF;
		FOR i IN 1 .. n LOOP
			IF EXISTS (SELECT FROM jsonb_each(expected[i]) AS e JOIN jsonb_each(got[i]) AS g USING (key)
					WHERE e.value <> g.value AND
						(jsonb_typeof(e.value) <> 'number' OR jsonb_typeof(g.value) <> 'number' OR
						 abs(e.value::numeric - g.value::numeric) >
							1e-9 * greatest(abs(e.value::numeric), abs(g.value::numeric), 1e-9))) THEN
				RETURN format(E'%s: DIFFERENT: %s\nexpected: %s\ngot: %s',
					s, query, expected[i], got[i]);
			END IF;
		END LOOP;
	END LOOP;
	RETURN format('ok, %s rows', n);
END $$;

-- Both ways must end in the same error; says which.
CREATE FUNCTION check_error(query text, schemas text[] DEFAULT '{cached,delta,mixed}')
RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	s text;
	mode text;
	outcome text;
	first_outcome text;
BEGIN
	FOREACH s IN ARRAY schemas LOOP
		PERFORM set_config('search_path', s || ', public', true);
		FOREACH mode IN ARRAY '{require,forbid}'::text[] LOOP
			BEGIN
				outcome := 'NO ERROR: ' || cardinality(rows_of(query, mode)) || ' rows';
			EXCEPTION WHEN OTHERS THEN
				outcome := SQLSTATE || ' ' || SQLERRM;
			END;
			IF outcome <> first_outcome THEN
				RETURN format('%s: DIFFERENT: %s; %s: %s', s, first_outcome, mode, outcome);
			END IF;
			first_outcome := outcome;
		END LOOP;
	END LOOP;
	RETURN outcome;
END $$;

-- Why is this query not offloaded?  What kept an execution from it comes with its
-- kind in front.
CREATE FUNCTION refusal(query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	used bigint;
	detail text;
BEGIN
	SELECT offloaded INTO used FROM gpuconc_stat_get();
	PERFORM rows_of(query, 'require');
	SELECT offloaded - used INTO used FROM gpuconc_stat_get();
	RETURN CASE WHEN used > 0 THEN 'offloaded' ELSE 'nothing to offload' END;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	IF SQLERRM LIKE 'query is not offloaded%' THEN
		RETURN concat_ws('; ', substring(SQLERRM FROM '"require": (.*)$'), nullif(replace(detail, 'Reason: ', ''), ''));
	END IF;
	RETURN 'ERROR: ' || SQLERRM;
END $$;

-- Shape of a plan: no costs, no numbers that vary, no fallback plan below ours.
CREATE FUNCTION plan_of(query text, options text DEFAULT 'COSTS OFF') RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	PERFORM set_config('gpuconc.debug_offload', 'require', true);
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		RETURN NEXT line;
	END LOOP;
	PERFORM set_config('gpuconc.debug_offload', 'allow', true);
END $$;

-- check_same(), and whether one node has all joins.
CREATE FUNCTION check_whole(query text, schemas text[] DEFAULT '{cached,delta,mixed}') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	verdict text := check_same(query, schemas);
BEGIN
	PERFORM set_config('search_path', schemas[1] || ', public', true);
	RETURN verdict || CASE WHEN EXISTS (SELECT FROM plan_of(query) AS line WHERE line ~ 'Nested Loop|Join$|SubPlan') THEN ', in pieces' ELSE '' END;
END $$;

-- check_same(), and whether PostgreSQL joins or aggregates nothing of it itself.
CREATE FUNCTION check_aggregated(query text, schemas text[] DEFAULT '{cached,delta,mixed}') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	verdict text := check_same(query, schemas);
BEGIN
	PERFORM set_config('search_path', schemas[1] || ', public', true);
	RETURN verdict || CASE WHEN EXISTS (SELECT FROM plan_of(query) AS line WHERE line ~ '^[ >-]*(|Group|Hash|Mixed|Finalize .*)Aggregate|Nested Loop|Join$|SubPlan') THEN ', in pieces' ELSE '' END;
END $$;

-- A process that still holds a snapshot, an autovacuum worker or a loader, say, keeps VACUUM
-- from marking pages: wait for its end.
CREATE FUNCTION settle() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()) LOOP
		PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
	END LOOP;
END $$;

-- Copy a table of schema cached, which is vacuumed by now, to the other states.
CREATE FUNCTION copy_states(t text, key text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE delta.%1$I (LIKE cached.%1$I INCLUDING ALL) WITH (autovacuum_enabled = off)', t);
	EXECUTE format('INSERT INTO delta.%1$I SELECT * FROM cached.%1$I', t);
	EXECUTE format('ANALYZE delta.%I', t);
	EXECUTE format('CREATE TABLE mixed.%1$I (LIKE cached.%1$I INCLUDING ALL) WITH (autovacuum_enabled = off)', t);
	EXECUTE format('INSERT INTO mixed.%1$I SELECT * FROM cached.%1$I', t);
END $$;

-- Once the copy in schema mixed is vacuumed: move about every tenth row.
CREATE FUNCTION mix(t text, key text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('WITH gone AS (DELETE FROM mixed.%1$I WHERE %2$s RETURNING *)
		INSERT INTO mixed.%1$I SELECT * FROM gone', t, key);
END $$;
