-- json and jsonb: their fields, over the three states of a table.  Equal documents may differ in spelling.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
SET client_min_messages = warning;
DROP TABLE IF EXISTS cached.documents, delta.documents, mixed.documents;
RESET client_min_messages;
CREATE TABLE cached.documents (id int, j jsonb, t json, g int) WITH (autovacuum_enabled = off);
INSERT INTO cached.documents SELECT i,
	CASE WHEN i % 11 > 0 THEN jsonb_build_object('a', 'v' || i % 7, 'n', i % 5, 'b', jsonb_build_object('c', i % 3 = 0), 'l', jsonb_build_array(i % 2, 'x')) END,
	CASE WHEN i % 13 > 0 THEN format('{"a": "v%s",%s"n": %s}', i % 7, repeat(' ', i % 3), i % 5)::json END, i % 10
FROM generate_series(1, 1000) AS i;
INSERT INTO cached.documents VALUES (2001, '{"n": 1.0}', '{"n": 1.0}', 1), (2002, '{"n": 1.00}', '{"n": 1.00}', 1), (2003, 'null', 'null', 1), (2004, '[]', '[]', 2), (2005, '{}', ' {} ', 2), (2006, '"a"', '"a"', 3), (2007, NULL, NULL, NULL);
INSERT INTO cached.documents SELECT 2010 + i, jsonb_build_object('a', repeat(md5(i::text), 400)), json_build_object('a', repeat('é', 6000 + i)), 3 FROM generate_series(1, 3) AS i;
CREATE TABLE delta.documents (LIKE cached.documents) WITH (autovacuum_enabled = off);
CREATE TABLE mixed.documents (LIKE cached.documents) WITH (autovacuum_enabled = off);
INSERT INTO delta.documents TABLE cached.documents;
INSERT INTO mixed.documents TABLE cached.documents;
VACUUM (FREEZE, ANALYZE) cached.documents, mixed.documents;
ANALYZE delta.documents;
WITH gone AS (DELETE FROM mixed.documents WHERE id % 10 = 3 OR id > 2003 RETURNING *) INSERT INTO mixed.documents SELECT * FROM gone;

SELECT check_same(q) FROM unnest(ARRAY[
	'SELECT count(*), count(j), count(t) FROM documents', 'SELECT id, j, t, j IS NULL FROM documents WHERE id > 0', 'SELECT j ->> ''a'', count(*) FROM documents GROUP BY 1',
	'SELECT t ->> ''a'', t ->> ''n'', count(*) FROM documents WHERE j ->> ''n'' = ''3'' GROUP BY 1, 2', 'SELECT id, j -> ''b'', j -> ''b'' ->> ''c'', j #>> ''{l,0}'', j ? ''a'', j @> ''{"n": 1}'', j = ''{"n": 1}'', j < ''{}'', jsonb_typeof(j), t -> ''n'' FROM documents WHERE g < 9',
	'SELECT count(*) FILTER (WHERE (j -> ''b'' ->> ''c'')::bool), max(j ->> ''a''), min(length(t ->> ''a'')) FROM documents WHERE g < 9 AND j @> ''{"b": {"c": true}}''', 'SELECT count(*) FROM documents WHERE j IN (''{"n": 1}'', ''[]'')',
	'SELECT id, coalesce(j, ''{}''), CASE WHEN g < 3 THEN j -> ''b'' WHEN g < 5 THEN j END FROM documents WHERE g < 9', 'SELECT a.g, count(*), max(b.j ->> ''a'') FROM documents a JOIN documents b ON a.id = b.id GROUP BY 1', 'SELECT count(*) FROM documents a JOIN documents b ON a.j ->> ''a'' = b.t ->> ''a'' WHERE b.id < 20',
	'SELECT q.j ->> ''n'', count(*) FROM documents a JOIN (SELECT id, j FROM documents ORDER BY id LIMIT 300) q ON a.id = q.id GROUP BY 1', 'SELECT x ->> ''n'', count(*) FROM (SELECT j AS x FROM documents UNION ALL SELECT j -> ''b'' FROM documents) q GROUP BY 1']) AS q;
-- equal documents are not told apart by their codes
SELECT q, refusal(q) FROM unnest(ARRAY['SELECT j, count(*) FROM documents GROUP BY j', 'SELECT count(DISTINCT j) FROM documents', 'SELECT count(*) FROM documents a JOIN documents b ON a.j = b.j', 'SELECT j -> ''n'', count(*) FROM documents GROUP BY 1',
	'SELECT count(*) FROM documents a JOIN documents b ON a.id = b.id WHERE a.j <> b.j', 'SELECT max(id) FROM documents GROUP BY t ->> ''n'', j']) AS q;
-- PostgreSQL compares what nodes return
SELECT check_same('SELECT count(*) FROM documents a WHERE EXISTS (SELECT FROM documents b WHERE a.j = b.j AND b.id > 500)'), check_same('SELECT DISTINCT j FROM documents WHERE id < 100');
SET gpuconc.debug_offload = allow;
SELECT check_here('SELECT j, id FROM cached.documents WHERE id > 2000 AND g < 3 ORDER BY j DESC, id LIMIT 5');
-- an error of one value is PostgreSQL's
SELECT sum((j ->> 'a')::int) FROM documents;
DROP TABLE cached.documents, delta.documents, mixed.documents;

-- Values that a dictionary keeps whole: arrays, ranges, words, bytes, addresses.
CREATE TABLE cached.whole (id int, a int[], t text[], n numeric[], r int4range, ds daterange, b bytea, ip inet, v tsvector, g int) WITH (autovacuum_enabled = off);
INSERT INTO cached.whole SELECT i, CASE WHEN i % 11 > 0 THEN ARRAY[i % 5, NULLIF(i % 7, 3)] END, ARRAY['a' || i % 3, 'b', NULL], ARRAY[i % 4 / 2.0, 1.50], int4range(i % 10, i % 10 + i % 4), daterange(date '2000-01-01' + i % 9, NULL),
	CASE WHEN i % 13 > 0 THEN decode(md5((i % 20)::text), 'hex') END, format('10.0.%s.1/%s', i % 4, 24 + i % 3)::inet, to_tsvector('simple', 'word' || i % 6), i % 10
FROM generate_series(1, 1000) AS i;
INSERT INTO cached.whole VALUES (2001, '{}', '{}', '{NaN}', 'empty', 'empty', '', '::1', '', 1), (2002, '[0:1]={1,2}', '{{a,b},{c,d}}', '{1.0}', '(,)', '(,)', '\x00', '::ffff:10.0.0.1/96', 'a:1', 1), (2003, '{1,2}', NULL, '{1.00}', NULL, NULL, '\x0000', '0.0.0.0/0', NULL, 2), (2004, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO cached.whole SELECT 2010 + i, array_agg(x), NULL, NULL, NULL, NULL, decode(repeat(md5(i::text), 300), 'hex'), NULL, NULL, 3 FROM generate_series(1, 3) AS i, generate_series(1, 3000) AS x GROUP BY i;
CREATE TABLE delta.whole (LIKE cached.whole) WITH (autovacuum_enabled = off);
CREATE TABLE mixed.whole (LIKE cached.whole) WITH (autovacuum_enabled = off);
INSERT INTO delta.whole TABLE cached.whole;
INSERT INTO mixed.whole TABLE cached.whole;
VACUUM (FREEZE, ANALYZE) cached.whole, mixed.whole;
ANALYZE delta.whole;
WITH gone AS (DELETE FROM mixed.whole WHERE id % 10 = 3 OR id > 2003 RETURNING *) INSERT INTO mixed.whole SELECT * FROM gone;
SELECT check_same(q) FROM unnest(ARRAY[
	'SELECT * FROM whole WHERE id > 0', 'SELECT count(*), count(a), count(b), count(ip) FROM whole WHERE 3 = ANY (a)', 'SELECT count(*) FROM whole WHERE a @> ''{1}'' OR a && ARRAY[2, 4]', 'SELECT a[1], array_length(a, 1), cardinality(t), count(*) FROM whole GROUP BY 1, 2, 3',
	'SELECT count(*) FROM whole WHERE a = ''{1,2}''', 'SELECT count(*) FROM whole WHERE ''a1'' = ANY (t) AND 2 <> ALL (a)', 'SELECT max(n[2]), array_to_string(t, ''-''), count(*) FROM whole WHERE id < 1500 GROUP BY 2', 'SELECT count(*) FROM whole WHERE r @> 5 AND NOT isempty(r)', 'SELECT lower(ds), upper_inf(ds), count(*) FROM whole GROUP BY 1, 2', 'SELECT count(*) FROM whole WHERE v @@ ''word3''',
	'SELECT b, count(*) FROM whole GROUP BY b', 'SELECT md5(b), encode(b, ''hex''), length(b), sha256(b), count(*) FROM whole GROUP BY 1, 2, 3, 4', 'SELECT count(*) FROM whole WHERE b = ''\x00'' OR b > ''\xf0''', 'SELECT ip, count(*), count(DISTINCT b) FROM whole GROUP BY ip', 'SELECT count(*) FROM whole WHERE ip << ''10.0.1.0/24'' OR ip = ''::1''', 'SELECT host(ip), masklen(ip), count(*) FROM whole GROUP BY 1, 2',
	'SELECT count(*), max(y.id) FROM whole x JOIN whole y ON x.b = y.b AND x.ip = y.ip WHERE y.id < 40', 'SELECT CASE WHEN g < 5 THEN b ELSE ''\x01'' END, coalesce(ip, ''::2''), count(*) FROM whole GROUP BY 1, 2', 'SELECT x, count(*) FROM (SELECT b AS x FROM whole UNION ALL SELECT sha256(b) FROM whole) q GROUP BY 1']) AS q;
SELECT check_same('SELECT id, b, ip FROM whole ORDER BY b DESC NULLS LAST, ip, id LIMIT 20'), check_same('SELECT b, ip, count(*) FROM whole GROUP BY b, ip ORDER BY ip, b LIMIT 7');
SELECT q, refusal(q) FROM unnest(ARRAY['SELECT a, count(*) FROM whole GROUP BY a', 'SELECT count(*) FROM whole x JOIN whole y ON x.r = y.r', 'SELECT count(*) FROM whole WHERE g = ANY (a)',
	'SELECT max(n) FROM whole', 'SELECT g, min(a) FROM whole GROUP BY g', 'SELECT max(m) FROM (SELECT g, min(t) AS m FROM whole GROUP BY g) q', 'SELECT max(''{1}''::int[] || g) FROM whole', 'SELECT count(*), max((SELECT ''{1}''::int[])) FROM whole', 'SELECT count(*), max((SELECT ''::1''::inet)) FROM whole']) AS q;
-- 1.0 and 1.00 are equal: the one that PostgreSQL keeps
SELECT check_here('SELECT max(n), min(n) FROM whole WHERE n IN (''{1.0}'', ''{1.00}'')');
SELECT check_same('SELECT g, min(ip), max(ip) FROM whole GROUP BY g');
DROP TABLE cached.whole, delta.whole, mixed.whole;
-- the order of bytes, zeros among them and at their ends
CREATE TABLE cached.zeros (id int, b bytea, u uuid) WITH (autovacuum_enabled = off);
INSERT INTO cached.zeros SELECT i, decode(repeat('00', i * 7 % 19) || CASE WHEN i % 3 > 0 THEN '0' || i % 3 ELSE '' END || repeat('00', i % 11), 'hex'), (repeat('00', i % 16) || repeat(to_hex(128 + i % 100), 16 - i % 16))::uuid FROM generate_series(1, 1000) AS i;
VACUUM (FREEZE, ANALYZE) cached.zeros;
SELECT DISTINCT check_here(format('SELECT %1$s, count(*) FROM zeros GROUP BY 1 ORDER BY 1 LIMIT 5 OFFSET %2$s', c, n)) FROM unnest('{b,u}'::text[]) AS c, generate_series(0, 180, 30) AS n ORDER BY 1;
SELECT DISTINCT check_here(format('SELECT %1$s, id FROM zeros ORDER BY 1, 2 LIMIT %2$s', c, n)) FROM unnest('{b,u}'::text[]) AS c, unnest('{7,90}'::int[]) AS n ORDER BY 1;
DROP TABLE cached.zeros;
