-- Functions of texts that are computed of a dictionary's bytes, by the session or on the device, against
-- PostgreSQL's own answer.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
SET search_path = public;

CREATE TABLE words (id int, t text, v varchar(20), c text COLLATE "C", p char(9), i text COLLATE "und-x-icu") WITH (autovacuum_enabled = off);
INSERT INTO words (id, t) SELECT row_number() OVER (), t FROM (
	SELECT DISTINCT concat(a, b, c, d) AS t FROM unnest('{"",a,b," a",é,aé,日本,ZZ}'::text[]) AS a, unnest('{"",a,B,é,ab,"  "}'::text[]) AS b, unnest('{"",a,本,cab}'::text[]) AS c, unnest('{""," ",aab,😀}'::text[]) AS d) AS q;
INSERT INTO words (id, t) VALUES (0, NULL), (-1, repeat('ab', 1000)), (-2, repeat('aé', 500) || 'b'), (-3, 'İstanbul'), (-4, 'ISTANBUL istanbul'), (-5, 'Straße STRASSE ÀÉÎ àéî'), (-6, E'line\none'), (-7, repeat('日', 20000)), (-8, repeat(' ', 100) || 'x' || repeat(' ', 100)), (-9, chr(127) || chr(128) || chr(2047) || chr(2048) || chr(65535) || chr(65536) || chr(1114111));
UPDATE words SET v = left(t, 20), c = t, p = left(t, 9), i = t;
VACUUM (FREEZE, ANALYZE) words;
-- these texts among so many others that the device computes numbers, too
CREATE TABLE crowd WITH (autovacuum_enabled = off) AS SELECT * FROM words;
INSERT INTO crowd SELECT i, s, s, s, left(s, 9), s FROM (SELECT i, 'ab' || i || '_é%' || chr(200 + i % 99) AS s FROM generate_series(1001, 67000) AS i) AS q;
VACUUM (FREEZE, ANALYZE) crowd;

-- How often each verdict was given; every one must be that the device gave the right rows.
CREATE FUNCTION check_all(tables text[], columns text[], forms text[], exprs text[], OUT column_ text, OUT checked bigint, OUT wrong bigint, OUT first_wrong text) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT col, count(*), count(*) FILTER (WHERE verdict !~ '^ok, \d+ rows$'), min(q || ': ' || verdict) FILTER (WHERE verdict !~ '^ok, \d+ rows$')
	FROM (SELECT col, q, check_same(q, '{public}') AS verdict
		FROM unnest(tables) AS name, unnest(columns) AS col, unnest(forms) AS form, unnest(exprs) WITH ORDINALITY AS e(expr, n), format(form, name, replace(expr, '§', col)) AS q
		WHERE (n + length(col || form)) % 2 = 0 OR col = 'c') AS checks
	GROUP BY col ORDER BY col
$$;
-- truth values
\set truths '{§ = ''a'',§ <> ''aé'',''a'' = §,"left(§, 1) = ''a''","left(§, -1) = ''a''","left(§, 0) = ''''","right(§, 2) = ''ab''","right(§, -2) <> ''a''","right(§, 0) = ''''","substring(§, 2, 1) = ''é''","substring(§, -1, 3) = ''a''","substring(§, -5, 3) = ''''","substring(§, 0, 2147483647) = ''a''","substring(§, 2, 2147483647) = ''a''","substring(§, 3) IN (''a'', ''ab'', '''', ''日'')","substr(§, 1, 2) NOT IN (''ab'', ''zz'')","substr(§, 2) <> ''b''","''é'' = substr(§, 2, 1)","starts_with(§, ''ab'')","§ ^@ ''é''","NOT starts_with(§, '''')","left(§, 3) LIKE ''a%b''","§ || ''x'' = ''ax''","''x'' || § = ''xé''","''x'' || § || ''y'' <> ''xy''","left(''日'' || § || ''本'', 2) = ''日a''","right(''日'' || § || ''本'', 3) IN (''日本'', ''aa本'')","substring(''é'' || left(§, 2), 2, 1) = ''a''","trim(§) = ''a''","ltrim(§) = ''a''","rtrim(§) = '' a''","trim(''  '' || left(§, 1) || ''  '') = ''a''","strpos(§, ''a'') = 2","length(§) > 3"}'
SELECT * FROM check_all('{words,crowd}', '{t,v,c,p}', '{"SELECT count(*), sum(id), max(id) FROM %s WHERE %s"}', :'truths');
SELECT * FROM check_all('{words,crowd}', '{c,v,t,p}', '{"SELECT count(*), sum(id), max(id) FROM %s WHERE %s"}', '{§ < ''ab'',§ <= ''ab'',§ > ''é'',§ >= ''é'',''b'' > §,§ >= '''',§ < ''日'',"left(§, 2) < ''b''","upper(§) = ''AB''","lower(§) = ''ab''","upper(§) LIKE ''%B''","lower(§) LIKE ''%Zz%''","lower(§) NOT ILIKE ''ZZ%''","lower(''Éa'' || § || ''B'') = ''Éaab''","upper(''a'' || lower(§)) > ''AB''","''a'' || upper(''b'' || §) = ''aBA''","upper(§ || ''é'') IN (''Aé'', ''aé'')"}');
-- numbers: filtered, summed, grouped by
SELECT * FROM check_all('{words,crowd}', '{t,v,c,p}', '{"SELECT sum(x), min(x), max(x), count(x) FROM (SELECT %2$s AS x FROM %1$s) AS q","SELECT %2$s AS x, count(*) FROM %1$s GROUP BY 1"}', '{length(§),char_length(§),octet_length(§),"strpos(§, ''a'')","position(''é'' IN §)","strpos(§, ''éb'')","strpos(§, '''')","position(''aa'' IN ''a'' || §)","length(left(§, 4))","octet_length(right(§, 2))","length(§ || ''éé'')","length(trim(§))","length(upper(§))"}');
-- digests, of texts, of changed texts and of digests
SELECT * FROM check_all('{words,crowd}', '{c,v,t,p}', '{"SELECT count(*), sum(id), max(id) FROM %s WHERE %s"}', '{"md5(§) = ''0cc175b9c0f1b6a831c399e269772661''","md5(§) < ''8''","left(md5(§), 1) IN (''0'', ''a'', ''f'')","md5(md5(§)) > ''5''","md5(''x'' || § || ''é'') LIKE ''%7''","md5(left(§, 2)) <> md5(''ab'')","''8'' || right(md5(upper(§)), 1) > ''87''","upper(md5(''A'' || lower(§))) ILIKE ''%aA%''","strpos(md5(substr(§, 2)), ''ab'') > 3","md5(§) NOT IN (''d41d8cd98f00b204e9800998ecf8427e'', ''x'')"}');
SELECT * FROM check_all('{words,crowd}', '{t,c}', '{"SELECT %2$s AS x, count(*), min(id) FROM %1$s GROUP BY 1","SELECT id, %2$s FROM %1$s WHERE id < 30"}', '{"length(md5(§))","md5(left(§, 1)) || ''!''","left(md5(§), 2)"}');
-- texts: as keys and as results
SELECT * FROM check_all('{words,crowd}', '{t,v,c,p}', '{"SELECT %2$s AS x, count(*), min(id) FROM %1$s GROUP BY 1","SELECT id, %2$s FROM %1$s WHERE id < 30"}', '{"substring(§, 1, 2)","substring(§, 2)","left(§, -3)","right(§, 1)",upper(§),lower(§),trim(§),"§ || ''é''","''<'' || left(§, 1) || ''>''","upper(left(§, 3)) || ''!''","lower(''A'' || left(§, 1))","left(''é'' || § || ''éé'', -1)","rtrim(left(§, 2))"}');
-- under other collations equality alone is that of bytes
SELECT * FROM check_all('{words,crowd}', '{i}', '{"SELECT count(*), sum(id), max(id) FROM %s WHERE %s"}', '{§ = ''a'',"§ <> ''aé''","left(§, 1) = ''a''","substr(§, 1, 2) IN (''ab'', ''zz'')","§ < ''ab''","upper(§) = ''É''","lower(§) LIKE ''straße%''","§ ILIKE ''%É%''","length(upper(§)) > 2","starts_with(§, ''ab'')"}');
SELECT q, check_same('SELECT id FROM words WHERE ' || q, '{public}') FROM unnest(ARRAY['left(i, 1) < ''b''', 'i COLLATE "C" < ''b''', 'upper(i COLLATE "C") = ''AB''', 'c COLLATE "und-x-icu" > ''b''', 'substring(t, 1, NULL) IS NULL', 't IN (''a'', NULL)', '(t = ANY (''{}'')) IS FALSE', 'upper(c) <> ALL (''{}'')', 'left(t, 1) IN (''a'', NULL)', 'left(t, 1) NOT IN (''a'', NULL)', 'left(t, -2147483648) = ''a''', 'substring(t, 1, 2) IS DISTINCT FROM ''a''', 'p::text = ''a''', 'p = ''a   ''', 'p > ''a   ''', 'p IN (''a '', ''b'')', 'octet_length(p) = 9', 'p || ''x'' = ''ax''', '(p || ''x'')::char(3) = ''ax''', 'left(t, id % 3) = ''a''', 'left(upper(t) || ''b'', 2) || ''c'' = ''ABc''']) AS q;
-- errors are PostgreSQL's, or there is none
SELECT q, check_error('SELECT id FROM words WHERE ' || q, '{public}') FROM unnest(ARRAY['substring(t, 1, -1) = ''a''', 'substring(t, 2, -2147483648) = ''a''', 'substring(t, 3, length(t) - 4) = ''a''']) AS q;
SELECT check_same('SELECT id FROM words WHERE id < -100 AND substring(t, 1, -1) = ''a''', '{public}'), check_same('SELECT id FROM words WHERE t <> '''' AND substring(t, 3, length(t) + 1000) = ''a''', '{public}');

-- where they are computed
CREATE FUNCTION origins(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	SET LOCAL gpuconc.debug_offload = require;
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) ' || query LOOP
		IF line ~ 'Lookup Tables' THEN
			RETURN regexp_replace(line, '.*: ', '');
		END IF;
	END LOOP;
	RETURN 'none';
END $$;
SELECT expr, origins(format('SELECT count(*) FROM words WHERE %s', expr)) AS once, origins(format('SELECT count(*) FROM words WHERE %s', expr)) AS again, origins(format('SELECT count(*) FROM crowd WHERE %s', expr)) AS crowd
FROM unnest('{"left(c, 5) = ''ab100''","upper(c) > ''AB50''","c < ''b1''","c IN (''x'', ''y'')","substr(c, 1, 2) IN (''x'', ''y'')","length(c) = 11","strpos(c, ''00'') = 4","c LIKE ''%77''","md5(c) < ''8''","initcap(c) = ''x''"}'::text[]) AS expr;
SELECT origins('SELECT substring(c, 1, 3), count(*) FROM crowd GROUP BY 1') AS once, origins('SELECT substring(c, 1, 3), count(*) FROM crowd GROUP BY 1') AS again;

CREATE TABLE blobs WITH (autovacuum_enabled = off) AS SELECT id, convert_to(c, 'UTF8') || '\x00ff' AS b FROM crowd;
VACUUM (FREEZE, ANALYZE) blobs;
SELECT expr, origins(format('SELECT count(*) FROM blobs WHERE %s', expr)) AS once, origins(format('SELECT count(*) FROM blobs WHERE %s', expr)) AS again, check_same(format('SELECT count(*), sum(id) FROM blobs WHERE %s', expr), '{public}') AS checked
FROM unnest('{"md5(b) < ''8''","left(md5(b), 1) = ''a''","md5(b) = md5(''x''::bytea)","length(b) = 7","octet_length(b) > 8","upper(md5(b)) LIKE ''A%''"}'::text[]) AS expr;
SELECT origins('SELECT left(md5(b), 2), count(*) FROM blobs GROUP BY 1') AS once, check_same('SELECT left(md5(b), 2), count(*), min(md5(b)) FROM blobs GROUP BY 1', '{public}') AS keys, check_same('SELECT md5(b), count(*), min(id) FROM blobs GROUP BY 1', '{public}') AS digests;
-- empty, NULL, every length around a block, bytes that are no characters, and a domain
CREATE DOMAIN raw AS bytea;
CREATE TABLE raws WITH (autovacuum_enabled = off) AS SELECT i AS id, CASE WHEN i % 9 > 0 THEN decode(repeat(to_hex(128 + i % 128), i % 150), 'hex') END::raw AS b, CASE WHEN i % 7 > 0 THEN ('10.0.' || i % 200 || '.1')::inet END AS ip FROM generate_series(1, 2000) AS i;
VACUUM (FREEZE, ANALYZE) raws;
SELECT q, origins(q), check_same(q, '{public}') FROM unnest('{"SELECT md5(b), count(*) FROM raws GROUP BY 1","SELECT id, md5(b) FROM raws WHERE md5(b) < ''3''","SELECT count(*) FROM raws WHERE md5(b) IN (''d41d8cd98f00b204e9800998ecf8427e'', ''x'')","SELECT count(md5(b)), max(md5(b)), count(DISTINCT md5(md5(b))) FROM raws","SELECT length(b), count(*) FROM raws GROUP BY 1","SELECT host(ip), count(*) FROM raws GROUP BY 1"}'::text[]) AS q;

-- values that the dictionary does not have yet, and then has
INSERT INTO crowd SELECT -i, 'more ' || i, 'more ' || i, 'MORE ' || i FROM generate_series(1, 9000) AS i;
\set grown 'SELECT check_same(''SELECT length(c), count(*) FROM crowd GROUP BY 1'', ''{public}''), check_same(''SELECT left(lower(c), 6), count(*) FROM crowd GROUP BY 1'', ''{public}''), check_same(''SELECT count(*) FROM crowd WHERE right(c, 2) = ''''77'''''', ''{public}'')'
:grown;
VACUUM crowd;
:grown;
DROP TABLE words, crowd, blobs, raws;
DROP DOMAIN raw;
DROP FUNCTION check_all, origins;
