-- CASE, COALESCE, NULLIF and the like over several text columns, whose dictionaries
-- hold different values: as keys, results, in comparisons and in joins.  Offloaded or
-- not, the answer is PostgreSQL's.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
SELECT regexp_replace(check_same(q), '^(ok, \d+ rows|not offloaded: .*)$', 'same') AS verdict, q FROM unnest(ARRAY[
	'SELECT CASE WHEN nn > 5 THEN nt ELSE tx END, count(*) FROM types GROUP BY 1', 'SELECT COALESCE(tx, nt), count(*) FROM types GROUP BY 1', 'SELECT COALESCE(tx, vc, dt, nt), count(*) FROM types GROUP BY 1',
	'SELECT id, max(CASE WHEN nn > 5 THEN vc ELSE nt END) FROM types GROUP BY id', 'SELECT id, min(COALESCE(tx, vc)), max(COALESCE(vc, tx)) FROM types GROUP BY id', 'SELECT min(CASE WHEN b THEN tx ELSE vc END), count(DISTINCT nn) FROM types',
	'SELECT id FROM types WHERE CASE WHEN nn > 5 THEN nt ELSE tx END = ''A''', 'SELECT id FROM types WHERE COALESCE(tx, vc) = COALESCE(dt, vc)', 'SELECT id FROM types WHERE COALESCE(tx, vc) <> COALESCE(dt, vc)', 'SELECT count(*) FROM types WHERE (CASE WHEN b THEN tx ELSE vc END) IS DISTINCT FROM (CASE WHEN b THEN vc ELSE tx END)',
	'SELECT CASE WHEN nn > 5 THEN nt ELSE ''other'' END, count(*) FROM types GROUP BY 1', 'SELECT CASE WHEN nn > 5 THEN nt WHEN b THEN ''x'' END, count(*) FROM types GROUP BY 1', 'SELECT id, min(COALESCE(tx, ''none'')), max(COALESCE(vc, ''zzz'')) FROM types GROUP BY id', 'SELECT CASE WHEN tx = ''a'' THEN vc ELSE ''b'' END, count(*) FROM types GROUP BY 1',
	'SELECT COALESCE(tx, nt) || ''!'', count(*) FROM types GROUP BY 1', 'SELECT upper(COALESCE(tx, nt)), count(*) FROM types GROUP BY 1', 'SELECT count(*) FROM types WHERE COALESCE(tx, nt) LIKE ''A%''', 'SELECT count(*) FROM types WHERE COALESCE(tx, nt) < ''b''',
	'SELECT NULLIF(tx, vc), count(*) FROM types GROUP BY 1', 'SELECT NULLIF(vc, dt), count(*) FROM types GROUP BY 1', 'SELECT id FROM types WHERE NULLIF(tx, nt) IS NULL', 'SELECT count(*) FROM types WHERE tx IN (nt, vc)', 'SELECT count(*) FROM types WHERE tx IN (nt, ''ab'')', 'SELECT count(*) FROM types WHERE CASE tx WHEN nt THEN true WHEN vc THEN b ELSE nn > 3 END', 'SELECT GREATEST(tx, nt), count(*) FROM types GROUP BY 1',
	'SELECT count(*) FROM types a JOIN types b ON COALESCE(a.tx, a.nt) = b.vc', 'SELECT count(*) FROM types a JOIN types b ON COALESCE(a.tx, a.nt) = COALESCE(b.vc, b.nt) WHERE a.id < 300 AND b.id < 300', 'SELECT count(*) FROM types a JOIN types b ON a.tx = b.nt AND COALESCE(a.vc, b.vc) = b.vc',
	'SELECT c_city, s.city, CASE WHEN quantity > 20 THEN c_city ELSE s.city END, count(*) FROM sales s JOIN customer ON customer = c_id GROUP BY 1, 2, 3', 'SELECT count(*) FROM sales s JOIN customer ON customer = c_id WHERE COALESCE(c_city, s.city) = s.city', 'SELECT id, CASE WHEN quantity > 20 THEN c_name ELSE note END FROM sales JOIN customer ON customer = c_id WHERE shop = 3',
	'SELECT COALESCE(note, city), count(*), min(CASE WHEN quantity > 20 THEN note ELSE city END) FROM sales GROUP BY 1', 'SELECT CASE WHEN b THEN bc ELSE bc END, COALESCE(bc, ''zz''), count(*) FROM types GROUP BY 1, 2', 'SELECT COALESCE(bc, nt::char(10)), count(*) FROM types GROUP BY 1', 'SELECT count(*) FROM types WHERE bc = nt', 'SELECT count(*) FROM types WHERE bc = nt::char(10) OR bc = dt::bpchar',
	'SELECT t, count(*) FROM (SELECT tx AS t FROM types UNION ALL SELECT vc FROM types) q GROUP BY t'
]) AS q;
-- texts of several columns, and constants, as results: all of these are offloaded
SELECT check_same(q) AS verdict, q FROM unnest(ARRAY[
	'SELECT CASE WHEN nn > 5 THEN ''many'' WHEN b THEN ''some'' ELSE ''few'' END AS c, count(*) FROM types GROUP BY 1', 'SELECT CASE WHEN nn > 5 THEN ''many'' WHEN b THEN NULL ELSE ''few'' END AS c, count(*), min(tx) FROM types GROUP BY 1', 'SELECT id, CASE WHEN nn > 5 AND b THEN ''é'' ELSE '''' END FROM types',
	'SELECT CASE WHEN nn > 5 AND b THEN tx ELSE ''not in it'' END, count(*) FROM types GROUP BY 1', 'SELECT CASE WHEN nn > 5 AND b THEN nt ELSE tx END, count(*) FROM types GROUP BY 1', 'SELECT COALESCE(CASE WHEN b THEN tx END, vc, nt, ''none''), count(*) FROM types GROUP BY 1',
	'SELECT min(CASE WHEN b THEN tx ELSE ''zz'' END), max(CASE WHEN b THEN ''zz'' ELSE nt END) FROM types', 'SELECT nn, min(CASE WHEN b THEN ''x'' ELSE ''é'' END), max(COALESCE(tx, nt)) FROM types GROUP BY nn',
	'SELECT count(*) FROM types WHERE CASE WHEN b THEN ''A'' ELSE ''a'' END = tx', 'SELECT count(*) FROM types WHERE tx <> CASE WHEN nn > 3 AND b THEN ''a'' ELSE nt END', 'SELECT count(*) FROM types WHERE CASE WHEN b THEN tx ELSE vc END = ''a''', 'SELECT count(*) FROM types WHERE CASE WHEN b AND nn > 2 THEN ''a'' ELSE ''nowhere'' END = ''nowhere''',
	'SELECT CASE WHEN quantity > 20 THEN c_city ELSE ''small'' END, CASE WHEN quantity > 10 THEN s.city ELSE c_city END, count(*) FROM sales s JOIN customer ON customer = c_id WHERE c_city NOT LIKE ''%q%'' GROUP BY 1, 2', 'SELECT count(*) FROM sales s JOIN customer ON CASE WHEN quantity > 20 THEN note ELSE ''small'' END = c_city',
	'SELECT CASE WHEN b THEN tx ELSE ''x'' END, CASE WHEN b THEN ''y'' ELSE tx END, count(*) FROM types WHERE tx LIKE ''%a%'' OR tx IS NULL OR upper(tx) = ''B'' GROUP BY 1, 2'
]) AS q;
-- a dictionary that texts were added to since is translated to once more
SELECT check_same('SELECT count(*) FILTER (WHERE tx = dt), count(*) FILTER (WHERE CASE WHEN b THEN tx ELSE dt END = dt) FROM types');
