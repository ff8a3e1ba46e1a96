-- EXPLAIN in JSON, XML and YAML: each can be read, has no key twice in one object, and tells all that text tells.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

CREATE SCHEMA formats;
SET search_path = formats, cached, public;
CREATE FUNCTION explained(query text, options text, mode text DEFAULT 'require') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text;
BEGIN
	PERFORM set_config('gpuconc.debug_offload', mode, true);
	FOR line IN EXECUTE format('EXPLAIN (%s, COSTS OFF) %s', options, query) LOOP
		result := concat_ws(E'\n', result, line);
	END LOOP;
	PERFORM set_config('gpuconc.debug_offload', 'allow', true);
	RETURN result;
END $$;

-- Keys that an object of type json, or one inside it, has twice.
CREATE FUNCTION json_twice(j json) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	IF json_typeof(j) = 'object' THEN
		RETURN QUERY SELECT key FROM json_each(j) GROUP BY key HAVING count(*) > 1;
		RETURN QUERY SELECT t FROM json_each(j) AS e, json_twice(e.value) AS t;
	ELSIF json_typeof(j) = 'array' THEN
		RETURN QUERY SELECT t FROM json_array_elements(j) AS e, json_twice(e) AS t;
	END IF;
END $$;

-- Keys that are twice in an object of YAML, as EXPLAIN writes it: an object's keys begin in one column, behind
-- the "- " of a list's item.
CREATE FUNCTION yaml_twice(y text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	key text;
	col int;
	keys text[] := '{}';	-- of the objects that the line is in: "column key"
BEGIN
	FOREACH line IN ARRAY string_to_array(y, E'\n') LOOP
		col := length(substring(line FROM '^( *(?:- )?)'));
		keys := ARRAY(SELECT k FROM unnest(keys) AS k WHERE split_part(k, ' ', 1)::int < col + CASE WHEN line ~ '^ *- ' THEN 0 ELSE 1 END);
		key := substring(line FROM '^ *(?:- )?([A-Z][^":]*):(?: |$)');
		IF key IS NULL AND line !~ '^ *- ("([^"\\]|\\.)*"|\[.*\])$' THEN
			RETURN NEXT 'cannot be read: ' || line;
		ELSIF col || ' ' || key = ANY (keys) THEN
			RETURN NEXT key;
		ELSIF key IS NOT NULL THEN
			keys := keys || (col || ' ' || key);
		END IF;
	END LOOP;
END $$;

-- And of XML, which this PostgreSQL may not know: an element's children have different names, or are a list, and have one.
CREATE FUNCTION xml_twice(x text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	tag text;
	open text[] := '{}';
	children text[] := '{}';	-- of elements that are open: "depth name"
	mine text[];
BEGIN
	FOREACH line IN ARRAY string_to_array(x, E'\n') LOOP
		line := ltrim(line);
		tag := substring(line FROM '^</?([A-Za-z-]+)');
		IF line LIKE '</%' THEN
			IF open[cardinality(open)] <> tag THEN
				RETURN NEXT 'does not end here: ' || line;
			END IF;
			SELECT array_agg(split_part(c, ' ', 2)) INTO mine FROM unnest(children) AS c WHERE c LIKE cardinality(open) || ' %';
			RETURN QUERY SELECT c FROM unnest(mine) AS c GROUP BY c HAVING count(*) BETWEEN 2 AND cardinality(mine) - 1;
			children := ARRAY(SELECT c FROM unnest(children) AS c WHERE c NOT LIKE cardinality(open) || ' %');
			open := trim_array(open, 1);
		ELSE
			children := children || (cardinality(open) || ' ' || tag);
			IF line ~ '^<[A-Za-z-]+( xmlns="[^"]*")?>$' THEN
				open := open || tag;
			ELSIF line !~ '^<([A-Za-z-]+)>([^<>&]|&(lt|gt|amp|quot|#x0d);)*</\1>$' AND line !~ '^<[A-Za-z-]+ />$' THEN
				RETURN NEXT 'cannot be read: ' || line;
			END IF;
		END IF;
	END LOOP;
	IF open <> '{}' THEN
		RETURN NEXT 'does not end';
	END IF;
END $$;

-- The lines that text has of pipelines, and those lines made of JSON.
CREATE FUNCTION text_lines(query text) RETURNS text[] LANGUAGE sql AS $$
	SELECT array_agg(line[1] ORDER BY n) FROM regexp_matches(explained(query, 'VERBOSE OFF'), '^\s*((?:Stream|Build|Rows|Group|Choose|Union|Rest)(?: Filter| Key)?: [^\n]*)', 'gn') WITH ORDINALITY AS m (line, n)
$$;
CREATE FUNCTION listed(j jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(item, ', ' ORDER BY n) FROM jsonb_array_elements_text(j) WITH ORDINALITY AS e (item, n)
$$;
CREATE FUNCTION json_lines(query text) RETURNS text[] LANGUAGE sql AS $$
	SELECT array_agg(line ORDER BY n, l)
	FROM jsonb_path_query(explained(query, 'VERBOSE OFF, FORMAT JSON')::jsonb, 'strict $.**.Pipelines[*]') WITH ORDINALITY AS e (p, n), LATERAL (VALUES
		(1, concat(p ->> 'Role', ': ', p ->> 'Source', ' by ' || listed(p -> 'Build Key'), ', first ' || (p ->> 'First Rows and Ties') || ' and ties', ', ' || (p ->> 'Windows') || ' windows',
			(SELECT string_agg(concat(', ', CASE s ->> 'Join Type' WHEN 'Inner' THEN 'probes' ELSE lower(s ->> 'Join Type') || '-joins' END, ' ', s ->> 'Build', CASE WHEN (s ->> 'Nested Loop')::bool THEN ' by nested loop' END, ' with ' || listed(s -> 'Probe Key'), ' if ' || (s ->> 'Join Filter')), '' ORDER BY k)
				FROM jsonb_array_elements(p -> 'Steps') WITH ORDINALITY AS steps (s, k)))),
		(2, concat(p ->> 'Role', ' Filter: ') || (p ->> 'Filter')),
		(3, concat(p ->> 'Role', ' Key: ') || listed(p -> 'Group Key'))) AS lines (l, line) WHERE line IS NOT NULL
$$;

CREATE TABLE parts (id int, shop int, price numeric(10,2)) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (0) TO (500);
CREATE TABLE part_2 PARTITION OF parts FOR VALUES FROM (500) TO (1000);
INSERT INTO parts SELECT i, i % 20, i / 4.0 FROM generate_series(0, 999) AS i;
VACUUM ANALYZE parts;

CREATE TABLE queries (n int, q text);
INSERT INTO queries VALUES
	(1, 'SELECT count(*) FROM sales'),
	(2, 'SELECT r_name, c_region, sum(price) FROM sales, shop, region, customer WHERE shop = s_id AND s_region = r_id AND customer = c_id AND s_name LIKE ''%1'' AND c_region > 1 AND price > 5 GROUP BY 1, 2'),
	(3, 'SELECT s_name, x.n, y.m FROM shop, (SELECT shop, count(*) AS n FROM sales WHERE quantity > 5 GROUP BY shop) AS x, (SELECT shop, max(price) AS m FROM sales GROUP BY shop) AS y WHERE x.shop = s_id AND y.shop = s_id'),
	(4, 'SELECT shop, sum(price) FROM sales GROUP BY shop HAVING count(*) > 10 ORDER BY 2 DESC LIMIT 3'),
	(5, 'SELECT r_name, sum(price) FROM (SELECT shop, price FROM sales WHERE quantity > 40 UNION ALL SELECT shop, price FROM delta.sales WHERE quantity < 5 UNION ALL SELECT shop, price FROM mixed.sales WHERE quantity = 7) AS u, shop, region WHERE shop = s_id AND s_region = r_id GROUP BY 1'),
	(6, 'SELECT count(*), count(s_id), sum(price) FROM sales FULL JOIN (SELECT * FROM shop WHERE s_region > 1) AS s ON shop = s_id'),
	(7, 'SELECT s_region, rank() OVER (PARTITION BY s_region ORDER BY sum(price)), sum(price) FROM parts, shop WHERE shop = s_id GROUP BY s_region, s_name'),
	(8, 'SELECT s_name, s_region, grouping(s_name), sum(price) FROM parts JOIN shop ON shop = s_id AND s_region > 1 GROUP BY GROUPING SETS ((s_name, s_region), (s_region), ())'),
	(9, 'SELECT count(*) FROM sales WHERE EXISTS (SELECT FROM customer WHERE customer = c_id AND c_region = 2) AND NOT EXISTS (SELECT FROM shop WHERE shop = s_id AND s_region = 1)'),
	(10, 'SELECT x, count(*) FROM sales JOIN generate_series(1, 20) AS x ON shop = x GROUP BY x'),
	(11, 'SELECT id, c_name, price FROM sales JOIN customer ON customer = c_id WHERE quantity > 48 ORDER BY price DESC LIMIT 5'),
	(12, 'SELECT count(*) FROM (SELECT shop, customer FROM sales GROUP BY 1, 2 HAVING count(*) > 1) AS a JOIN (SELECT shop, count(DISTINCT product) AS n FROM sales GROUP BY 1) AS b USING (shop)'),
	(13, 'SELECT s_name FROM shop WHERE s_name = ''a "b" <c> & \ d'' AND s_region = 1'),
	(14, 'SELECT count(*), count(s_name) FROM sales LEFT JOIN (SELECT * FROM shop WHERE s_region > 2) AS s ON shop = s_id AND s_open < day'),
	(15, 'SELECT count(*) FROM region LEFT JOIN shop ON s_open > ''2000-01-01'' AND r_id < s_region'),
	(16, 'SELECT shop FROM sales JOIN calendar c ON sales.day = c.day WHERE y = 1993 UNION SELECT s_id FROM shop JOIN calendar ON s_open = day WHERE y > 1993'),
	(17, 'SELECT s_name, max(r) FROM (SELECT shop, rank() OVER (PARTITION BY shop ORDER BY sales.id) AS r, count(*) OVER () AS c FROM sales JOIN customer ON customer = c_id WHERE quantity > 5) AS x JOIN shop ON s_id = shop WHERE c > 1 GROUP BY s_name');
CREATE TABLE options (o text);
INSERT INTO options VALUES ('VERBOSE OFF'), ('VERBOSE'), ('ANALYZE, SUMMARY, BUFFERS'), ('ANALYZE, VERBOSE, SUMMARY');
SELECT n, o, t FROM queries, options, LATERAL (
	SELECT 'json: ' || json_twice(explained(q, o || ', FORMAT JSON')::json)
	UNION ALL SELECT 'yaml: ' || yaml_twice(explained(q, o || ', FORMAT YAML'))
	UNION ALL SELECT 'xml: ' || xml_twice(explained(q, o || ', FORMAT XML'))) AS twice (t) ORDER BY 1, 2, 3;
SELECT n, text_lines(q), json_lines(q) FROM queries WHERE text_lines(q) IS DISTINCT FROM json_lines(q);
SELECT DISTINCT split_part(unnest(json_lines(q)), ':', 1) AS line FROM queries ORDER BY 1;
-- the checks find what they look for
SELECT json_twice('[{"a": {"b": [{"c": 1, "c": 2}]}}]'), yaml_twice(E'- A:\n    - B: "1"\n      C: 1\n    - B: "2"\n      B: 3'), xml_twice(E'<a>\n <b>1</b>\n <c>2</c>\n <b>3</b>\n</a>');

-- how it looks
EXPLAIN (COSTS OFF, FORMAT JSON) SELECT r_name, sum(price) FROM sales LEFT JOIN shop ON shop = s_id AND s_open < day JOIN region ON s_region = r_id WHERE r_name <> 'x' AND quantity < 25 GROUP BY 1;
SELECT substring(explained('SELECT s_name, x.n FROM shop, (SELECT shop, count(*) AS n FROM parts GROUP BY shop) AS x WHERE x.shop = s_id', 'FORMAT YAML') FROM 'Pipelines:.*') AS plan;

-- rows in and out of pipelines and steps, where they are counted: of sources; of hash tables, lists and hashed groups; and before an edge
CREATE TABLE sparse AS SELECT s_id * 1000003::bigint AS key, s_region AS region FROM shop;
VACUUM ANALYZE sparse;
CREATE FUNCTION counted(query text) RETURNS TABLE (role text, source text, rows_in int, rows_out int, groups text, steps text) LANGUAGE sql AS $$
	SELECT p ->> 'Role', p ->> 'Source', (p ->> 'Rows In')::int, (p ->> 'Rows Out')::int, p ->> 'Group Mode',
		(SELECT string_agg(concat_ws(' ', s ->> 'Build', s ->> 'Rows In'), ', ' ORDER BY k) FROM jsonb_array_elements(p -> 'Steps') WITH ORDINALITY AS steps (s, k))
	FROM jsonb_path_query(explained(query, 'ANALYZE, VERBOSE, FORMAT JSON')::jsonb, 'strict $.**.Pipelines[*]') AS p
$$;
SELECT * FROM counted('SELECT region, count(*) FROM sales JOIN sparse ON shop * 1000003::bigint = key AND region < 3 GROUP BY 1');
SELECT count(*) AS entries FROM sparse WHERE region < 3;
SELECT * FROM counted('SELECT r_name, g.n FROM region JOIN (SELECT key, region, count(*) AS n FROM sparse GROUP BY 1, 2) AS g ON region = r_id WHERE g.n > 0');
SELECT * FROM counted('SELECT count(*) FROM region LEFT JOIN shop ON r_id < s_region');
-- a key that repeats does not lead to as many rows as there are pairs, so there is no place for each of the 2 million combinations
CREATE TABLE repeated AS SELECT nullif(n / 2, 7) AS k, n AS v FROM generate_series(1, 2000) n;
VACUUM ANALYZE repeated;
SELECT * FROM counted('SELECT k, v, count(*) FROM sales JOIN repeated ON customer = k GROUP BY 1, 2');
SELECT check_here('SELECT k, v, count(*) FROM sales LEFT JOIN repeated ON customer = k GROUP BY 1, 2');
SET gpuconc.debug_pipeline_edge = materialize;
SET gpuconc.debug_edge_step = 1;
SELECT * FROM counted('SELECT region, count(*) FROM sales JOIN sparse ON shop * 1000003::bigint = key WHERE quantity < 7 GROUP BY 1');
RESET gpuconc.debug_pipeline_edge;
RESET gpuconc.debug_edge_step;
SELECT count(*) AS packets FROM sales WHERE quantity < 7;
SELECT substring(explained('SELECT region, count(*) FROM sales JOIN sparse ON shop * 1000003::bigint = key AND region < 3 GROUP BY 1', 'ANALYZE, VERBOSE') FROM ' Stream:.*key\)?\n') AS lines;

-- why a statement was not offloaded; of those that it executes nothing is said
CREATE FUNCTION other() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	PERFORM percentile_cont(0.5) WITHIN GROUP (ORDER BY s_id) FROM shop;
	PERFORM explained('SELECT count(*) FROM shop', 'VERBOSE');
	RETURN 1;
END $$;
INSERT INTO queries VALUES
	(101, 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM sales'),
	(102, 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY id), other() FROM sales');
SELECT n, o, (explained(q, o || ', FORMAT JSON', 'allow')::json -> 0 -> 'Gpuconc' -> 'Not Offloaded') AS why FROM queries, options WHERE n > 100 ORDER BY 1, 2;
SELECT n, substring(explained(q, 'VERBOSE, FORMAT XML', 'allow') FROM '<Gpuconc>.*</Gpuconc>') AS xml, substring(explained(q, 'VERBOSE, FORMAT YAML', 'allow') FROM 'Gpuconc:.*') AS yaml, substring(explained(q, 'ANALYZE, VERBOSE, SUMMARY OFF', 'allow') FROM 'Gpuconc:.*') AS text FROM queries WHERE n > 100 ORDER BY 1;
SELECT n, o, t FROM queries, options, LATERAL (
	SELECT 'json: ' || json_twice(explained(q, o || ', FORMAT JSON', 'allow')::json)
	UNION ALL SELECT 'yaml: ' || yaml_twice(explained(q, o || ', FORMAT YAML', 'allow'))
	UNION ALL SELECT 'xml: ' || xml_twice(explained(q, o || ', FORMAT XML', 'allow'))) AS twice (t) WHERE n > 100 ORDER BY 1, 2, 3;
SELECT n FROM queries WHERE n <= 100 AND explained(q, 'VERBOSE, FORMAT JSON')::json -> 0 ->> 'Gpuconc' IS NOT NULL;

-- likewise of prepared statements: planned for these values, or for all of them, now or before
PREPARE refused(float) AS SELECT percentile_disc($1) WITHIN GROUP (ORDER BY id), other() FROM sales;
PREPARE offloaded(float) AS SELECT count(*) FROM sales WHERE id < $1;
INSERT INTO queries VALUES (201, 'EXECUTE refused(other() / 2.0)'), (202, 'EXECUTE offloaded(other() / 2.0)');
CREATE FUNCTION why(call text, options text) RETURNS text LANGUAGE sql AS $$
SELECT explained(call, options || ', FORMAT JSON', 'allow')::json -> 0 -> 'Gpuconc' ->> 'Not Offloaded' $$;
SET plan_cache_mode = force_custom_plan;
SELECT n, o, why(q, o) FROM queries, options WHERE n > 200 ORDER BY 1, 2;
SET plan_cache_mode = force_generic_plan;
SELECT n, o, why(q, o) FROM queries, options WHERE n > 200 ORDER BY 1, 2;
SELECT n, o, why(q, o) FROM queries, options WHERE n > 200 ORDER BY 1, 2;
SELECT name, generic_plans, custom_plans FROM pg_prepared_statements ORDER BY 1;
EXPLAIN (COSTS OFF, VERBOSE) EXECUTE refused(0.5);
PREPARE kept AS SELECT count(*) FROM sales;
SET gpuconc.enabled = off;
EXPLAIN (COSTS OFF, VERBOSE) EXECUTE kept;
SET gpuconc.enabled = on;
EXPLAIN (COSTS OFF, VERBOSE) EXECUTE kept;
RESET plan_cache_mode;
RESET search_path;
\set QUIET on
SET client_min_messages = warning;
DROP SCHEMA formats CASCADE;
