-- ORDER BY above what makes NULLs: grouping sets, outer joins, UNION ALL.  A column that equals another, or a constant,
-- below it need not above it.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- Rows in the order of the query's ORDER BY.  Up to 17, PostgreSQL itself may sort by too little there, but not the rows
-- of a subquery.  Says what the device delivers, too.
CREATE FUNCTION public.check_sorted(query text, sort text, OUT verdict text, OUT nodes text) LANGUAGE plpgsql AS $$
DECLARE
	s text;
	got text[];
	expected text[];
	whole text := format('%s ORDER BY %s', query, sort);
BEGIN
	FOREACH s IN ARRAY '{cached,delta,mixed}'::text[] LOOP
		PERFORM set_config('search_path', s || ', public', true);
		got := rows_of(whole, 'require');
		expected := rows_of(format('SELECT * FROM (%s OFFSET 0) AS q ORDER BY %s', query, sort), 'forbid');
		FOR i IN 1 .. greatest(cardinality(got), cardinality(expected)) LOOP
			IF got[i] IS DISTINCT FROM expected[i] THEN
				verdict := format('%s: DIFFERENT: row %s is %s, not %s', s, i, got[i], expected[i]);
				RETURN;
			END IF;
		END LOOP;
	END LOOP;
	verdict := format('ok, %s rows', cardinality(got));
	SELECT string_agg(DISTINCT node, ', ' ORDER BY node) INTO nodes
	FROM plan_of(whole) AS line, substring(line FROM 'Gpuconc\w+|Incremental Sort|Sort$') AS node;
END $$;

-- Why a query is not offloaded where costs decide.
CREATE FUNCTION public.reason_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		IF line ~ 'Gpuconc' THEN
			RETURN line;
		END IF;
	END LOOP;
END $$;

-- grouping sets: columns that a join makes equal, both ways, shown or not
SELECT q, o, (check_sorted(q, o)).* FROM unnest(ARRAY[
	'SELECT city, s_id, shop, count(*) FROM sales JOIN shop ON shop = s_id GROUP BY ROLLUP (1, 2, 3)',
	'SELECT shop, s_id, city, sum(price), GROUPING(shop, s_id) FROM sales, shop WHERE shop = s_id GROUP BY CUBE (1, 2, 3)'
]) AS q, unnest(ARRAY['1, 2, 3, 4', '3, 2, 1, 4 LIMIT 7', '2 DESC, 3, 1, 4 OFFSET 5', '3 DESC NULLS LAST, 2 NULLS FIRST, 1, 4 LIMIT 50', '2, 4, 3, 1 LIMIT 9']) AS o;
SELECT q, o, (check_sorted(q, o)).* FROM (VALUES
	('SELECT day, c.day AS c_day, y, count(*) FROM sales JOIN calendar AS c USING (day) WHERE y < 1996 GROUP BY GROUPING SETS ((sales.day, y), (c.day, y), (c.day, sales.day, y), ())', '1 NULLS FIRST, 2 DESC, 3, 4 LIMIT 40'),
	('SELECT c_city, city, c_id, customer, count(*), max(price) FROM sales, customer WHERE c_city = city AND c_id = customer GROUP BY ROLLUP (1, 2, 3, 4)', '1 DESC, 2, 4, 3 DESC, 5'),
	('SELECT s_id, shop, GROUPING(s_id) AS g, GROUPING(shop) AS h, count(*) FROM sales JOIN shop ON shop = s_id GROUP BY CUBE (1, 2)', '3 DESC, 4, 1, 2'),
	('SELECT s_id, shop, GROUPING(s_id) AS g, GROUPING(shop) AS h, count(*) FROM sales JOIN shop ON shop = s_id GROUP BY CUBE (1, 2)', '4, 2, 3, 1 FETCH FIRST 3 ROWS ONLY'),
	('SELECT s_id, shop, count(*) FROM sales JOIN shop ON shop = s_id GROUP BY ROLLUP (1, 2) HAVING count(*) > 400', '1, 2'),
	('SELECT s_id, shop, count(DISTINCT customer) FROM sales JOIN shop ON shop = s_id GROUP BY ROLLUP (1, 2)', '1, 2 NULLS FIRST, 3 LIMIT 5'),
	('SELECT shop + 1 AS a, s_id * 2 AS b, count(*) FROM sales JOIN shop ON shop + 1 = s_id * 2 GROUP BY ROLLUP (1, 2)', '1 DESC, 2, 3'),
	('SELECT vc, dt, count(*) FROM types WHERE vc = dt OR nn = 3 GROUP BY ROLLUP (1, 2)', '1, 2, 3 LIMIT 20'),
	('SELECT a.vc, b.dt, count(*) FROM types AS a JOIN types AS b ON substr(a.vc, 2) = substr(b.dt, 2) GROUP BY ROLLUP (2, 1)', '2 DESC, 1, 3')
) AS v(q, o);
-- a column that WHERE fixes
SELECT q, o, (check_sorted(q, o)).* FROM unnest(ARRAY[
	'SELECT city, sum(price) FROM sales WHERE city = ''city 5'' GROUP BY ROLLUP (1)', 'SELECT shop, sum(price) FROM sales WHERE shop = 7 GROUP BY CUBE (1)', 'SELECT day, sum(price) FROM sales WHERE day = date ''1995-05-05'' GROUP BY GROUPING SETS ((), (1))',
	'SELECT shop + 2 AS s, count(DISTINCT city) FROM sales WHERE shop + 2 = 9 GROUP BY ROLLUP (1)'
]) AS q, unnest(ARRAY['1', '1 LIMIT 1', '1 DESC', '1 DESC NULLS LAST LIMIT 1', '1 NULLS FIRST', '1 FETCH FIRST ROW WITH TIES']) AS o;
SELECT q, o, (check_sorted(q, o)).* FROM unnest(ARRAY[
	'SELECT city, shop, quantity % 3 AS x, sum(price) FROM sales WHERE city = ''city 5'' GROUP BY ROLLUP (1, 2, 3)', 'SELECT city, shop, s_id, sum(price) FROM sales JOIN shop ON s_id = shop WHERE shop = 9 AND city IN (''city 5'', ''city 7'', ''city 3'') GROUP BY CUBE (1, 2, 3)'
]) AS q, unnest(ARRAY['1, 2, 3, 4', '2, 1, 3, 4 LIMIT 4', '3 DESC, 2, 1 NULLS FIRST, 4 LIMIT 6', '4 DESC, 1, 2, 3 LIMIT 3']) AS o;
-- an expression that is not shown; the order of a subquery, and its reader's
SELECT q, rows_of(q, 'require') = rows_of(r, 'forbid') AS same, (SELECT count(*) FROM plan_of(q) AS line WHERE line ~ 'Custom Scan') AS nodes FROM (VALUES
	('SELECT count(*) FROM sales WHERE shop = 7 GROUP BY ROLLUP (shop, quantity) ORDER BY shop DESC, quantity DESC', 'SELECT c FROM (SELECT shop, quantity, count(*) AS c FROM sales WHERE shop = 7 GROUP BY ROLLUP (1, 2) OFFSET 0) q ORDER BY shop DESC, quantity DESC'),
	('SELECT s_id, count(*) FROM sales JOIN shop ON shop = s_id GROUP BY ROLLUP (s_id, shop) ORDER BY -shop, -s_id, 2', 'SELECT s_id, c FROM (SELECT s_id, shop, count(*) AS c FROM sales JOIN shop ON shop = s_id GROUP BY ROLLUP (1, 2) OFFSET 0) q ORDER BY -shop, -s_id, 2'),
	('SELECT * FROM (SELECT s_id, shop, count(*) AS c FROM sales JOIN shop ON shop = s_id GROUP BY ROLLUP (1, 2) ORDER BY shop, s_id LIMIT 20) q ORDER BY s_id DESC, shop, c', 'SELECT * FROM (SELECT * FROM (SELECT s_id, shop, count(*) AS c FROM sales JOIN shop ON shop = s_id GROUP BY ROLLUP (1, 2) OFFSET 0) q ORDER BY shop, s_id LIMIT 20) q ORDER BY s_id DESC, shop, c'),
	('SELECT * FROM (SELECT s_id, shop, count(*) AS c FROM sales JOIN shop ON shop = s_id GROUP BY ROLLUP (1, 2) ORDER BY s_id, shop OFFSET 0) q ORDER BY shop, s_id, c', 'SELECT * FROM (SELECT s_id, shop, count(*) AS c FROM sales JOIN shop ON shop = s_id GROUP BY ROLLUP (1, 2) OFFSET 0) q ORDER BY shop, s_id, c'),
	('SELECT *, row_number() OVER (ORDER BY shop, s_id, c) FROM (SELECT s_id, shop, count(*) AS c FROM sales JOIN shop ON shop = s_id GROUP BY ROLLUP (1, 2)) q ORDER BY 4', 'SELECT *, row_number() OVER (ORDER BY shop, s_id, c) FROM (SELECT s_id, shop, count(*) AS c FROM sales JOIN shop ON shop = s_id GROUP BY ROLLUP (1, 2) OFFSET 0) q ORDER BY 4'),
	('SELECT *, rank() OVER (PARTITION BY city ORDER BY c DESC, shop) FROM (SELECT city, shop, count(*) AS c FROM sales WHERE city = ''city 5'' GROUP BY CUBE (1, 2)) q ORDER BY 1, 4, 2', 'SELECT *, rank() OVER (PARTITION BY city ORDER BY c DESC, shop) FROM (SELECT city, shop, count(*) AS c FROM sales WHERE city = ''city 5'' GROUP BY CUBE (1, 2) OFFSET 0) q ORDER BY 1, 4, 2')
) AS v(q, r);
-- PostgreSQL groups where it sorts by its own keys for what stands between, or where a constant is sorted by
SELECT q, r, current_setting('server_version_num')::int >= 180000 OR reason_of(q) ~ r AS so FROM (VALUES
	('SELECT s_id, shop, row_number() OVER (ORDER BY s_id, shop) FROM sales JOIN shop ON shop = s_id GROUP BY ROLLUP (1, 2)', 'for a window'), ('SELECT city, sum(sum(price)) OVER (PARTITION BY city) FROM sales WHERE city = ''city 5'' GROUP BY ROLLUP (1)', 'GpuconcScan'), ('SELECT DISTINCT city FROM sales WHERE city = ''city 5'' GROUP BY ROLLUP (1)', 'GpuconcScan'),
	('SELECT city, count(*), rank() OVER (ORDER BY count(*)) FROM sales WHERE city = ''city 5'' GROUP BY ROLLUP (1) ORDER BY city', 'GpuconcScan'), ('SELECT count(*) FROM sales GROUP BY ROLLUP (''x''::text) ORDER BY ''x''::text', 'expression without columns')
) AS v(q, r);
-- others keep what they had
SELECT q, o, (check_sorted(q, o)).* FROM (VALUES
	('SELECT s_id, shop, count(*) FROM sales JOIN shop ON shop = s_id GROUP BY 1, 2', '2, 1 LIMIT 5'), ('SELECT city, shop, count(*) FROM sales WHERE city = ''city 5'' GROUP BY 1, 2', '1, 2'), ('SELECT city, count(*), rank() OVER (ORDER BY count(*)) AS r FROM sales GROUP BY ROLLUP (1)', '3, 1'), ('SELECT DISTINCT shop, count(*) > 5 FROM sales GROUP BY ROLLUP (shop, city)', '1, 2')
) AS v(q, o);

-- outer joins: NULLs on one side of an equality, or of a constant; above inner joins below them
SELECT q, o, (check_sorted(q, o)).* FROM unnest(ARRAY[
	'SELECT id, shop, s_id FROM sales LEFT JOIN shop ON shop = s_id WHERE quantity = 3', 'SELECT id, shop, s_id FROM shop RIGHT JOIN sales ON shop = s_id WHERE shop > 30 AND quantity = 3', 'SELECT id, shop, s_id FROM sales LEFT JOIN shop ON shop = s_id WHERE shop = 42 AND quantity < 9', 'SELECT id, s_id, s_region FROM sales LEFT JOIN (SELECT * FROM shop WHERE s_region = 3) x ON shop = s_id WHERE quantity = 3',
	'SELECT id, s_region, r_id FROM sales LEFT JOIN (shop JOIN region ON s_region = r_id) ON shop = s_id WHERE quantity = 3', 'SELECT id, shop, five FROM sales LEFT JOIN (SELECT s_id, 5 AS five FROM shop) x ON shop = s_id WHERE quantity = 3', 'SELECT id, s_region, r_id FROM sales JOIN shop ON shop = s_id LEFT JOIN region ON s_region = r_id AND r_id < 4 WHERE quantity = 3'
]) AS q, unnest(ARRAY['2, 3, 1', '3, 2, 1 LIMIT 20', '3 DESC NULLS FIRST, 2, 1 LIMIT 20', '2 NULLS FIRST, 3 DESC NULLS LAST, 1 LIMIT 30']) AS o;
SELECT q, o, (check_sorted(q, o)).* FROM (VALUES
	('SELECT c_id, customer, count(*) FROM (SELECT * FROM sales WHERE quantity = 3) s FULL JOIN customer ON customer = c_id GROUP BY 1, 2', '1, 2'), ('SELECT c_id, customer, count(*) FROM (SELECT * FROM sales WHERE quantity = 3) s FULL JOIN customer ON customer = c_id GROUP BY 1, 2', '2 DESC, 1 LIMIT 40'),
	('SELECT day, min(a.price), count(*) FROM (SELECT * FROM sales WHERE quantity = 3) a FULL JOIN (SELECT * FROM sales WHERE quantity = 4) b USING (day) GROUP BY 1', '1 DESC LIMIT 50'), ('SELECT shop, s_id, count(*) FROM sales LEFT JOIN shop ON shop = s_id GROUP BY ROLLUP (1, 2)', '2, 1, 3 LIMIT 20'), ('SELECT shop, s_id, count(*) FROM sales LEFT JOIN shop ON shop = s_id WHERE shop = 42 GROUP BY CUBE (1, 2)', '2 DESC, 1 DESC, 3')
) AS v(q, o);
-- UNION ALL whose arms have constants
SELECT q, o, (check_sorted(q, o)).* FROM unnest(ARRAY[
	'SELECT kind, x, count(*) FROM (SELECT 1 AS kind, shop AS x FROM sales UNION ALL SELECT 2, quantity FROM sales UNION ALL SELECT NULL, s_id FROM shop) u GROUP BY ROLLUP (1, 2)', 'SELECT kind, x, count(*) FROM (SELECT 1 AS kind, shop AS x FROM sales UNION ALL SELECT 2, quantity FROM sales UNION ALL SELECT NULL, s_id FROM shop) u WHERE kind = 2 GROUP BY ROLLUP (1, 2)'
]) AS q, unnest(ARRAY['1, 2, 3', '1 DESC, 2 DESC, 3 LIMIT 5', '2, 1 NULLS FIRST, 3 LIMIT 5']) AS o;

DROP FUNCTION public.check_sorted(text, text), public.reason_of(text);
