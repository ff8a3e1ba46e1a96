-- LIKE with constant patterns, which the server matches by itself over a dictionary:
-- awkward patterns and values, against PostgreSQL's own answer.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
SET search_path = public;

CREATE TABLE words (id int, t text, v varchar(20), c text COLLATE "C", p char(9)) WITH (autovacuum_enabled = off);
INSERT INTO words (id, t) SELECT row_number() OVER (), t FROM (
	SELECT DISTINCT concat(a, b, c, d) AS t FROM unnest('{"",a,b,%,_,\\,é,aé,日本}'::text[]) AS a, unnest('{"",a,B,_,é,ab}'::text[]) AS b, unnest('{"",a,%,本,c\\}'::text[]) AS c, unnest('{""," ",aab,😀}'::text[]) AS d) AS q;
INSERT INTO words (id, t) VALUES (0, NULL), (-1, repeat('ab', 1000)), (-2, repeat('aé', 500) || 'b'), (-3, 'İstanbul'), (-4, 'ISTANBUL istanbul'), (-5, 'Straße STRASSE ÀÉÎ àéî'), (-6, E'line\none'), (-7, 'special wrapped requests'), (-8, 'special requests special'), (-9, 'requests special');
UPDATE words SET v = left(t, 20), c = t, p = left(t, 9);
VACUUM (FREEZE, ANALYZE) words;
-- these texts among so many others that the device matches them
CREATE TABLE crowd WITH (autovacuum_enabled = off) AS SELECT * FROM words;
INSERT INTO crowd SELECT i, s, s, s, left(s, 9) FROM (SELECT i, 'ab' || i || '_é%' || chr(200 + i % 99) AS s FROM generate_series(1001, 18000) AS i) AS q;
VACUUM (FREEZE, ANALYZE) crowd;

CREATE TABLE patterns AS SELECT row_number() OVER () AS n, pattern FROM (
	SELECT DISTINCT concat(a, b, c) AS pattern FROM unnest('{"",%,_,a,é,\\%,\\\\,%_}'::text[]) AS a, unnest('{"",%,_,b,ab,\\_,本}'::text[]) AS b, unnest('{"",%,_,a,é%,%a,__}'::text[]) AS c
	UNION SELECT unnest('{%%%%,%_%_%,_%_,%a%b%,a%a%a,%aab,%ab%aab,a_b,\\a\\b,%😀,_😀,%\\\\,%special%requests%,%requests%special%,ab%ab%ab%,%é_%,İ%,%ß%,"% ",line_one,%\\é,ISTANBUL%,%IST%,%àéî}'::text[])) AS q;
-- every verdict must be that the device gave the right rows
SELECT name, op, col, count(*) AS patterns, count(*) FILTER (WHERE verdict !~ '^ok, \d+ rows$') AS wrong, min(pattern || ': ' || verdict) FILTER (WHERE verdict !~ '^ok, \d+ rows$') AS first_wrong
FROM (SELECT name, op, col, pattern, check_same(format('SELECT count(*), sum(id), max(id), sum(id %% 7) FROM %s WHERE %s %s %L', name, col, op, pattern), '{public}') AS verdict
	FROM patterns, unnest('{words,crowd}'::text[]) AS name, unnest('{LIKE,"NOT LIKE",ILIKE,"NOT ILIKE"}'::text[]) AS op, unnest('{t,v,c,p}'::text[]) AS col
	WHERE (op = 'LIKE' AND col = 't') OR n % 9 = length(op || col) % 9) AS checks
GROUP BY name, op, col ORDER BY name, op, col;
-- escapes of all kinds
SELECT q, check_same('SELECT id FROM words WHERE ' || q, '{public}') FROM unnest(ARRAY['t LIKE ''a#%%'' ESCAPE ''#''', 't LIKE ''\%'' ESCAPE ''''', 't LIKE ''%é\\''', 't NOT LIKE ''%\_%''', 't LIKE NULL', 't LIKE ''''', 't SIMILAR TO ''(a|b)%''', 't ~ ''^a.b''', 't LIKE ''a%'' AND t NOT LIKE ''%b''', '(t LIKE ''%本%'') IS NULL', 't LIKE ANY (''{a%,%b}'')', 'v::text || ''x'' LIKE ''a%x''']) AS q;
-- an escape that has nothing behind it is PostgreSQL's error, or none
SELECT q, check_error('SELECT id FROM words WHERE ' || q) FROM unnest(ARRAY['t LIKE ''a\''', 't LIKE ''%\''']) AS q;
SELECT check_same('SELECT id FROM words WHERE id < -100 AND t LIKE ''a\''', '{public}');
-- values that the dictionary does not have yet, and then has
INSERT INTO words VALUES (-20, 'abc new', 'abc new', 'ABC new', 'abc'), (-21, 'né new', 'né', 'NÉ', 'né');
SELECT check_same('SELECT id FROM words WHERE t LIKE ''%new''', '{public}'), check_same('SELECT id FROM words WHERE c ILIKE ''abc%''', '{public}');
VACUUM words;
SELECT check_same('SELECT id FROM words WHERE t LIKE ''%new''', '{public}'), check_same('SELECT id FROM words WHERE c ILIKE ''abc%''', '{public}');
SELECT check_same('SELECT id FROM crowd WHERE c LIKE ''ab1%é\%_''', '{public}');
INSERT INTO crowd SELECT -i, 'more ' || i, 'more ' || i, 'MORE ' || i FROM generate_series(1, 9000) AS i;
SELECT check_same('SELECT id FROM crowd WHERE t LIKE ''%e_99%''', '{public}'), check_same('SELECT id FROM crowd WHERE c ILIKE ''more 7_''', '{public}');
VACUUM crowd;
SELECT check_same('SELECT id FROM crowd WHERE t LIKE ''%e_99%''', '{public}'), check_same('SELECT id FROM crowd WHERE c ILIKE ''more 7_''', '{public}');
SELECT check_same('SELECT (t LIKE ''%é%'') AS b, count(*), min(id) FROM crowd GROUP BY b', '{public}'), check_same('SELECT count(*) FROM crowd WHERE t LIKE ''a%'' OR t LIKE ''%b'' OR v NOT ILIKE ''%1''', '{public}');
DROP TABLE words, crowd, patterns;
