-- Bad input for columns and functions of texts: PostgreSQL's own error, or its own answer.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA bad;
SET search_path = bad, public;

CREATE TABLE bad_text (id int, g int, t text, c text COLLATE "C") WITH (autovacuum_enabled = off);
INSERT INTO bad_text SELECT i, i % 3, 'value ' || i % 500, 'value ' || i % 500 FROM generate_series(1, 20000) AS i;
INSERT INTO bad_text VALUES (0, NULL, NULL, NULL), (-1, 0, '', ''), (-2, 1, E'tab\tand\nline', E'\\'), (-3, 2, '%', '_');
VACUUM (FREEZE, ANALYZE) bad_text;

-- patterns that end with an escape: an error where a value comes to it
SELECT q, check_error('SELECT count(*) FROM bad_text WHERE ' || q, '{bad}') FROM unnest(ARRAY['t LIKE ''value \''', 'c LIKE ''value%\''', 'c ILIKE ''VALUE%\''', 't NOT LIKE ''%\''', 'left(t, 5) LIKE ''value\''', 't LIKE ''a'' ESCAPE ''ab''', 't SIMILAR TO ''(''', 't ~ ''[''', 't ~ ''(?<x)''']) AS q;
SELECT q, check_same('SELECT count(*) FROM bad_text WHERE ' || q, '{bad}') FROM unnest(ARRAY['t LIKE ''value''', 't LIKE ''nothing\''', 'c LIKE ''\\''', 'c LIKE ''\_''', 't LIKE ''\%''', 'id < -10 AND t LIKE ''value \''', 't LIKE ''value 1%'' ESCAPE ''''']) AS q;
-- bytes that are no text
SELECT q, check_error('SELECT count(*) FROM bad_text WHERE ' || q, '{bad}') FROM unnest(ARRAY['t = convert_from(''\xff'', ''UTF8'')', 't = chr(0)', 't = chr(1114112)', 't LIKE convert_from(''\xe697'', ''UTF8'') || ''%''', 'strpos(t, convert_from(''\xc0af'', ''UTF8'')) > 0', 'left(t, 99999999999) = ''a''', 'substring(t, 2, -5) = ''a''', 'repeat(t, 1000000000) = ''a''', 'overlay(t PLACING ''x'' FROM 0) = ''a''']) AS q;
-- a text program's constants at their limits
SELECT q, check_same('SELECT count(*) FROM bad_text WHERE ' || q, '{bad}') FROM unnest(ARRAY['length(t || repeat(''x'', 100000)) > 100005', 'c || repeat(''x'', 70000) = ''value 1'' || repeat(''x'', 70000)', 'c < repeat(''value '', 20000)', 'c IN (repeat(''v'', 100000), ''value 7'')', 'strpos(c, repeat(''v'', 100000)) = 0', 'c LIKE ''value'' || repeat(''%'', 100000) || ''7''', 'left(right(left(right(left(right(left(right(left(right(c, 30), 29), 28), 27), 26), 25), 24), 23), 22), 21) = ''value 7''']) AS q;
SELECT check_same('SELECT c || repeat(''x'', 70000) AS x, count(*) FROM bad_text WHERE id < 20 GROUP BY 1', '{bad}');

-- a scalar subquery of two rows
SELECT q, check_error('SELECT count(*) FROM bad_text AS b WHERE ' || q, '{bad}') FROM unnest(ARRAY['t = (SELECT t FROM bad_text WHERE id IN (1, 2))', 'left(t, 5) = (SELECT left(t, 5) FROM bad_text WHERE g = 1)', 'length(t) > (SELECT length(a.t) FROM bad_text AS a WHERE a.g = b.g)']) AS q;
SELECT q, check_same('SELECT count(*) FROM bad_text AS b WHERE ' || q, '{bad}') FROM unnest(ARRAY['t = (SELECT t FROM bad_text WHERE id = 7)', 't = (SELECT t FROM bad_text WHERE id = -100)', 'id < -10 AND t = (SELECT t FROM bad_text WHERE g = 1)']) AS q;

-- A text of 50 MB: no dictionary has it, and the column says why.
CREATE TABLE bad_long (id int, g int, t text, short text) WITH (autovacuum_enabled = off);
INSERT INTO bad_long SELECT i, i % 3, 'value ' || i % 7, 'value ' || i % 7 FROM generate_series(1, 3000) AS i;
INSERT INTO bad_long VALUES (0, 1, repeat('a', 50 * 1024 * 1024), repeat('b', 65536)), (-1, 1, repeat('é', 32768), '');
VACUUM (FREEZE, ANALYZE) bad_long;
SELECT q, check_same(q, '{bad}') FROM unnest(ARRAY['SELECT count(*), sum(id) FROM bad_long WHERE t LIKE ''%7''', 'SELECT g, count(*), max(length(t)) FROM bad_long GROUP BY g', 'SELECT min(left(t, 5)) FROM bad_long', 'SELECT count(DISTINCT substring(t, 1, 7)) FROM bad_long', 'SELECT g, max(length(short)), min(short) FROM bad_long GROUP BY g', 'SELECT g, sum(id), count(*) FROM bad_long GROUP BY g', 'SELECT length(short || ''x''), count(*) FROM bad_long GROUP BY 1']) AS q;
SELECT column_name, problem FROM gpuconc_cache WHERE relation = 'bad.bad_long'::regclass ORDER BY column_name COLLATE "C";
-- one that only the session's delta has
INSERT INTO bad_text VALUES (-10, 1, repeat('a', 50 * 1024 * 1024), repeat('b', 65537));
SELECT q, check_same(q, '{bad}') FROM unnest(ARRAY['SELECT count(*), sum(id) FROM bad_text WHERE t LIKE ''%7''', 'SELECT g, count(*), max(length(c)) FROM bad_text GROUP BY g']) AS q;
SET client_min_messages = warning;
DROP SCHEMA bad CASCADE;
