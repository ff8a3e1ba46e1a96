-- Partitioned tables, inheritance trees and UNION ALL of tables, read as one input of a node.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

\set ECHO none
\o /dev/null
-- check_same(), and whether one node has all of it.
CREATE FUNCTION check_one(query text, schemas text[] DEFAULT '{cached,delta,mixed}') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	verdict text := check_same(query, schemas);
BEGIN
	PERFORM set_config('search_path', schemas[1] || ', public', true);
	IF EXISTS (SELECT FROM plan_of(query) AS line WHERE line ~ 'Append|Hash Join|Merge Join|Nested|Seq Scan|row source|SubPlan') OR
		NOT EXISTS (SELECT FROM plan_of(query) AS line WHERE line ~ 'Custom Scan') THEN
		RETURN verdict || ', in pieces';
	END IF;
	RETURN verdict;
END $$;
-- In each schema: partitions whose columns are in different orders, one dropped, at two levels, with a
-- default one and an empty one; an inheritance tree whose parent has rows; and tables for UNION ALL.
DO $$
DECLARE
	s text;
BEGIN
	FOREACH s IN ARRAY '{cached,delta,mixed}'::text[] LOOP
		PERFORM set_config('search_path', s, true);
		CREATE TABLE measure (id int, k int, place text, code char(4), amount numeric(10,2), day date, v varchar(10), f float8)
			PARTITION BY RANGE (k);
		CREATE TABLE measure_1 PARTITION OF measure FOR VALUES FROM (0) TO (10) WITH (autovacuum_enabled = off);
		CREATE TABLE measure_2 (f float8, day date, gone int, amount numeric(10,2), code char(4), place text, id int, k int, v varchar(10))
			WITH (autovacuum_enabled = off);
		ALTER TABLE measure_2 DROP COLUMN gone;
		ALTER TABLE measure ATTACH PARTITION measure_2 FOR VALUES FROM (10) TO (20);
		CREATE TABLE measure_3 PARTITION OF measure DEFAULT PARTITION BY LIST (place);
		CREATE TABLE measure_3a PARTITION OF measure_3 FOR VALUES IN ('Rome', 'Oslo') WITH (autovacuum_enabled = off);
		CREATE TABLE measure_3b PARTITION OF measure_3 DEFAULT WITH (autovacuum_enabled = off);
		CREATE TABLE measure_4 PARTITION OF measure FOR VALUES FROM (100) TO (110) WITH (autovacuum_enabled = off);
		INSERT INTO measure
		SELECT i, i % 30,
			CASE WHEN i % 17 <> 0 THEN (ARRAY['Rome', 'Oslo', 'Bonn', 'Lima', 'Kyiv'])[1 + i % 5] ||
				CASE WHEN i % 30 < 20 AND i % 5 > 1 THEN (i % 3)::text ELSE '' END END,
			(ARRAY['a', 'bb', 'ccc', ''])[1 + i % 4], i / 100.0, date '2020-01-01' + i % 100,
			CASE WHEN i % 30 < 10 THEN 'v' || i % 13 WHEN i % 7 > 0 THEN 'w' || i % 5 END, i / 8.0
		FROM generate_series(1, 9001) AS i;
		CREATE TABLE bucket (id int8, name text, v numeric) PARTITION BY HASH (id);
		CREATE TABLE bucket_0 PARTITION OF bucket FOR VALUES WITH (MODULUS 3, REMAINDER 0) WITH (autovacuum_enabled = off);
		CREATE TABLE bucket_1 PARTITION OF bucket FOR VALUES WITH (MODULUS 3, REMAINDER 1) WITH (autovacuum_enabled = off);
		CREATE TABLE bucket_2 PARTITION OF bucket FOR VALUES WITH (MODULUS 3, REMAINDER 2) WITH (autovacuum_enabled = off);
		INSERT INTO bucket SELECT i * 3, 'name ' || i % 50, i FROM generate_series(-200, 3000) AS i;
		CREATE TABLE vehicle (id int4 PRIMARY KEY, brand text, price int4) WITH (autovacuum_enabled = off);
		CREATE TABLE car (doors int2) INHERITS (vehicle) WITH (autovacuum_enabled = off);
		CREATE TABLE lorry (axles int2, tons numeric(4,1)) INHERITS (vehicle) WITH (autovacuum_enabled = off);
		CREATE TABLE tipper () INHERITS (lorry) WITH (autovacuum_enabled = off);
		INSERT INTO vehicle SELECT i, 'brand ' || i % 7, i FROM generate_series(1, 999) AS i;
		INSERT INTO car SELECT i, 'brand ' || i % 11, i * 100, 5 FROM generate_series(500, 1500) AS i;
		INSERT INTO lorry SELECT i, CASE WHEN i % 3 > 0 THEN 'lorry ' || i % 5 END, i * 1000, 2, 7.5 FROM generate_series(1, 800) AS i;
		INSERT INTO tipper SELECT i, 'brand 3', -i, 3, 12.5 FROM generate_series(1, 10) AS i;
		CREATE TABLE web (day date, item int4, paid numeric(8,2), who text, part char(3)) WITH (autovacuum_enabled = off);
		CREATE TABLE store (item int8, who varchar(8), paid numeric(8,2), day date, shop int2, part char(3)) WITH (autovacuum_enabled = off);
		CREATE TABLE refund (item int4, given numeric(6,2), day date) WITH (autovacuum_enabled = off);
		INSERT INTO web SELECT date '1994-01-01' + i % 400, i % 300, i / 7.0, 'who ' || i % 40, 'w' FROM generate_series(1, 4000) AS i;
		INSERT INTO store SELECT i % 250 * 7, CASE WHEN i % 9 > 0 THEN 'who ' || i % 60 END, i / 3.0, date '1994-06-01' + i % 300, i % 8, 's'
		FROM generate_series(1, 5000) AS i;
		INSERT INTO refund SELECT i % 200, i, date '1995-01-01' + i % 10 FROM generate_series(1, 500) AS i;
	END LOOP;
END $$;
SELECT settle();
VACUUM (FREEZE, ANALYZE) cached.measure, cached.bucket, cached.vehicle, cached.car, cached.lorry, cached.tipper, cached.web, cached.store, cached.refund;
VACUUM (FREEZE, ANALYZE) mixed.measure, mixed.bucket, mixed.vehicle, mixed.car, mixed.lorry, mixed.tipper, mixed.web, mixed.store, mixed.refund;
ANALYZE delta.measure, delta.bucket, delta.vehicle, delta.car, delta.lorry, delta.tipper, delta.web, delta.store, delta.refund;
SET search_path = mixed, public;
-- New texts, and rows in the partition that was empty.
UPDATE measure SET place = 'new ' || id, k = 100 + k % 10 WHERE id % 1000 < 3;
DELETE FROM measure_3a WHERE id % 500 = 4;
UPDATE vehicle SET brand = 'brand new' WHERE id % 100 = 7;
UPDATE web SET who = 'someone' WHERE item = 7;
DELETE FROM store WHERE item = 70;
INSERT INTO refund VALUES (7, 7, NULL), (NULL, NULL, '1995-01-01');
SET search_path = cached, public;
\o
\set ECHO all

-- plans
SELECT plan_of('SELECT place, sum(amount) FROM measure JOIN city ON place = city WHERE day < ''2020-02-01'' GROUP BY place');
SELECT plan_of('SELECT c_region, count(*) FROM customer JOIN (SELECT item, paid FROM web UNION ALL SELECT item::int4, paid FROM store WHERE shop = 3) s ON item = c_id GROUP BY 1');
SELECT plan_of('SELECT count(*) FROM measure WHERE k BETWEEN 3 AND 12');

-- partitions: texts with a dictionary in each, as keys, in expressions, smallest and largest
SELECT check_one('SELECT count(*) FROM measure');
SELECT check_one('SELECT place, count(*), sum(amount), min(day), max(k) FROM measure GROUP BY place');
SELECT check_one('SELECT place, code, v, count(*) FROM measure GROUP BY place, code, v');
SELECT check_one('SELECT min(place), max(place), min(code), max(v) FROM measure');
SELECT check_one('SELECT code, count(DISTINCT place), count(*) FROM measure GROUP BY code');
SELECT check_one('SELECT code <> '''', count(*), count(*) FILTER (WHERE code = ''a  '') FROM measure WHERE code IS DISTINCT FROM ''ccc'' GROUP BY 1');
SELECT check_one('SELECT k % 4, min(place), max(v) FROM measure WHERE place <> ''Rome'' GROUP BY 1');
SELECT check_one('SELECT upper(place), length(v), count(*) FROM measure WHERE place LIKE ''%o%'' AND v NOT LIKE ''v1%'' GROUP BY 1, 2');
SELECT check_one('SELECT sum(amount) FROM measure WHERE place IN (''Bonn0'', ''Kyiv'', ''nowhere'') OR v = ''w3'' AND place > ''M''');
SELECT check_one('SELECT count(*) FROM measure WHERE place IS NULL OR v IS NULL');
SELECT check_one('SELECT coalesce(place, v, ''none''), count(*) FROM measure GROUP BY 1');
SELECT check_one('SELECT CASE WHEN k < 15 THEN place ELSE v END, count(*) FROM measure GROUP BY 1');
SELECT check_one('SELECT extract(month FROM day), count(*), avg(amount), sum(amount * 2 - k) FROM measure GROUP BY 1');
SELECT check_one('SELECT m.id, place, code, amount, day, m.v, f, name FROM measure m JOIN bucket b ON b.id = m.id WHERE m.id % 50 < 7');
SELECT check_one('SELECT place, code, m.id FROM measure m JOIN bucket b ON b.id = m.id WHERE k BETWEEN 8 AND 11 AND amount > 1 ORDER BY place, code, id LIMIT 20');
SELECT check_one('SELECT place, sum(amount) AS s FROM measure GROUP BY place HAVING count(*) > 100 ORDER BY s DESC LIMIT 3');
SELECT check_one('SELECT place, code, sum(amount) FROM measure GROUP BY ROLLUP (place, code)');
SELECT check_one('SELECT DISTINCT code, k % 3 FROM measure');
SELECT check_one('SELECT count(*) FROM measure WHERE k = 105');
SELECT check_one('SELECT count(*) FROM measure WHERE k > 1000');
SELECT check_one('SELECT count(*), sum(id) FROM measure_3');
SELECT check_one('SELECT v, count(*), avg(v) FROM (SELECT name, sum(v) AS v FROM bucket GROUP BY name) b GROUP BY v');
SELECT check_one('SELECT name, sum(v), min(id), max(id) FROM bucket WHERE id BETWEEN -100 AND 2000 GROUP BY name');
SELECT check_one('SELECT min(id), max(v) FROM bucket WHERE id = 3');

-- joined: streamed, as a build, both, below outer and semi joins
SELECT check_one('SELECT people, count(*), sum(amount) FROM measure JOIN city ON upper(place) = upper(city) GROUP BY people');
SELECT check_one('SELECT c_city, count(*), sum(amount) FROM measure JOIN customer ON c_id = id WHERE c_region < 3 GROUP BY c_city');
SELECT check_one('SELECT m.place, count(*), sum(price) FROM sales s JOIN measure m ON s.id = m.id GROUP BY m.place');
SELECT check_one('SELECT m.place, count(*), sum(price) FROM sales s JOIN measure m ON s.customer = m.id WHERE m.k > 12 GROUP BY m.place');
SELECT check_one('SELECT a.code, b.place, count(*) FROM measure a JOIN measure b ON a.id = b.id AND a.place = b.place GROUP BY 1, 2');
SELECT check_one('SELECT a.k, count(*), sum(b.v) FROM measure a JOIN bucket b ON a.v = ''v'' || right(b.name, 1) AND a.id = b.id GROUP BY a.k');
SELECT check_one('SELECT count(*), sum(a.id) FROM measure a JOIN bucket b ON a.id = b.id WHERE b.v > 20');
SELECT check_one('SELECT c_city, m.place, m.v, count(*) FROM customer LEFT JOIN measure m ON m.id = c_id * 3 AND m.k < 14 GROUP BY 1, 2, 3');
SELECT check_one('SELECT place, count(c_name) FROM measure LEFT JOIN customer ON c_id = id GROUP BY place');
SELECT check_one('SELECT count(*) FROM sales WHERE EXISTS (SELECT FROM measure WHERE measure.id = sales.id AND place LIKE ''L%'')');
SELECT check_one('SELECT count(*) FROM measure WHERE NOT EXISTS (SELECT FROM bucket WHERE bucket.id = measure.id)');
SELECT check_one('SELECT place, count(*) FROM measure WHERE place IN (SELECT place FROM measure_2 WHERE k = 12) GROUP BY place');
SELECT check_one('SELECT s_region, p.place, sum(price) FROM sales JOIN shop ON shop = s_id JOIN (SELECT place, max(id) AS id FROM measure GROUP BY place) p ON p.id % 40 = s_id GROUP BY 1, 2');

-- inheritance: the parent's own rows, children of children; a primary key says nothing of them
SELECT plan_of('SELECT brand, count(*) FROM vehicle GROUP BY brand');
SELECT check_one('SELECT brand, count(*), sum(price), min(id), max(id) FROM vehicle GROUP BY brand');
SELECT check_one('SELECT count(*), sum(price) FROM ONLY vehicle');
SELECT check_one('SELECT brand, axles, sum(tons), count(*) FROM lorry GROUP BY 1, 2');
SELECT check_one('SELECT v.brand, c.brand, count(*) FROM vehicle v JOIN car c USING (id) GROUP BY 1, 2');
SELECT check_same('SELECT id, count(*) FROM vehicle GROUP BY id');
SELECT refusal('SELECT id, brand, count(*) FROM vehicle GROUP BY id');

-- UNION ALL: the same table twice, nested, of a view, below an aggregate, with joins around it
SELECT check_one('SELECT who, count(*), sum(paid) FROM (SELECT who, paid FROM web UNION ALL SELECT who, paid FROM store) s GROUP BY who');
SELECT check_one('SELECT who, count(*), sum(paid) FROM (SELECT who, paid FROM web UNION ALL SELECT who, paid FROM web UNION ALL SELECT who, paid FROM store) s GROUP BY who');
SELECT check_one('SELECT item, count(*) FROM ((SELECT item FROM web UNION ALL SELECT item FROM refund) UNION ALL SELECT id FROM measure) s WHERE item < 50 GROUP BY item');
SELECT check_one('SELECT part, min(day), max(who) FROM (SELECT part, day, who FROM web UNION ALL SELECT part, day, who FROM store) s GROUP BY part');
SELECT check_one('SELECT y, who, sum(paid) FROM (SELECT day, who, paid FROM web UNION ALL SELECT day, who, paid FROM store) s JOIN calendar USING (day) WHERE m = 7 GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 5');
SELECT check_one('SELECT p_brand, count(*), sum(paid) FROM product JOIN (SELECT item, paid FROM web UNION ALL SELECT item::int4, paid FROM store) s ON item = p_id GROUP BY 1');
SELECT check_one('SELECT count(*) FROM (SELECT who FROM web UNION ALL SELECT who FROM store) a JOIN (SELECT DISTINCT who FROM store WHERE shop = 2) b USING (who)');
SELECT check_one('SELECT a.who, count(*) FROM (SELECT who, item FROM web UNION ALL SELECT who, item::int4 FROM store) a JOIN (SELECT item, given FROM refund UNION ALL SELECT id, amount FROM measure) b USING (item) WHERE given > 3 GROUP BY 1');
-- ... other conditions, constants, expressions and NULLs in each
SELECT check_one('SELECT sum(item), count(*) FROM (SELECT item FROM web WHERE who = ''who 3'' UNION ALL SELECT item FROM refund) s');
SELECT check_one('SELECT channel, count(*), sum(paid) FROM (SELECT ''web'' AS channel, paid FROM web UNION ALL SELECT ''store'', paid FROM store) s GROUP BY 1');
SELECT check_one('SELECT channel, who, kind, count(*), sum(paid), sum(lost) FROM (SELECT ''web'' AS channel, who, paid, 0.00 AS lost, 1 AS kind FROM web WHERE item < 200 UNION ALL SELECT ''store'', who, paid, 0.00, shop FROM store WHERE shop > 2 UNION ALL SELECT ''back'', NULL, 0.00, given, NULL FROM refund) s GROUP BY 1, 2, 3');
SELECT check_one('SELECT channel, max(channel), count(*) FROM (SELECT ''web'' AS channel, item::int8 AS i FROM web UNION ALL SELECT ''store'', item FROM store UNION ALL SELECT who, shop FROM store WHERE shop < 2) s WHERE i % 2 = 0 AND channel LIKE ''%o%'' GROUP BY 1');
SELECT check_one('SELECT upper(channel), sum(x) FROM (SELECT ''a'' AS channel, item + 1 AS x FROM web UNION ALL SELECT ''b'', -item FROM refund WHERE given > 100 UNION ALL SELECT ''a'', k FROM measure WHERE place LIKE ''R%'') s GROUP BY 1');
SELECT check_one('SELECT channel, y, count(*) FROM (SELECT 1 AS channel, day FROM web WHERE who < ''who 2'' UNION ALL SELECT 2, day FROM store UNION ALL SELECT 3, day FROM refund WHERE day IS NOT NULL) s JOIN calendar USING (day) WHERE channel <> 2 GROUP BY 1, 2');
SELECT check_one('SELECT who, d, n FROM (SELECT who, day - 1 AS d, paid * 2 AS n FROM web WHERE item = 3 UNION ALL SELECT part, day, given FROM (SELECT ''p'' AS part, day, given FROM refund WHERE given < 9) r) s');
SELECT check_one('SELECT c_city, s.x, count(*), count(item) FROM customer LEFT JOIN (SELECT item, ''w'' AS x FROM web WHERE paid < 90 UNION ALL SELECT item, ''r'' FROM refund WHERE given < 9) s ON item = c_id GROUP BY 1, 2');
SELECT check_one('SELECT x, count(*) FROM (SELECT CASE WHEN item > 100 THEN who END AS x FROM web UNION ALL SELECT who FROM store WHERE false UNION ALL SELECT ''z'' FROM refund) s GROUP BY 1');
-- floats that a table does not have
CREATE TABLE public.blank (x float8);
VACUUM ANALYZE public.blank;
SELECT check_one('SELECT count(*), min(x), max(x), max(y), count(z) FROM (SELECT f8 * 2 AS x, f4 AS y, f4 > 3 AS z FROM types UNION ALL SELECT item + 0.5::float8, 1.5, NULL FROM web UNION ALL SELECT f4, f4 * 2, f8 < 9 FROM types WHERE f8 < 100) s WHERE x > -300');
SELECT check_one('SELECT c_city, max(x), min(y) FROM customer JOIN (SELECT i4 AS k, f8 * 2 AS x, f4 AS y FROM types UNION ALL SELECT item, 7.5, item::float4 FROM web) s ON k = c_id WHERE x < 400 GROUP BY 1');
SELECT check_one('SELECT count(*), max(y) FROM (SELECT item + 0.5::float8 AS y FROM web UNION ALL SELECT x * 2 FROM blank) s WHERE y > 2');
DROP TABLE public.blank;
CREATE VIEW public.paid AS SELECT who, paid, 'web'::text AS channel FROM cached.web UNION ALL SELECT who, paid, 'store' FROM cached.store WHERE shop < 6;
SELECT check_one('SELECT channel, count(*), sum(paid) FROM paid WHERE who <> ''who 1'' GROUP BY 1', '{cached}');

-- left to PostgreSQL
SELECT refusal('SELECT tableoid, count(*) FROM measure GROUP BY 1');
SELECT refusal('SELECT count(measure) FROM measure');
SELECT refusal('SELECT * FROM measure WHERE k = 5'), refusal('SELECT k FROM measure ORDER BY k DESC LIMIT 3');
SELECT refusal('SELECT sum(item) FROM (SELECT item FROM web UNION ALL SELECT i FROM generate_series(1, 10) AS i) s');
CREATE TEMP TABLE temporary (item int4);
INSERT INTO temporary VALUES (1), (2);
SELECT refusal('SELECT sum(item) FROM (SELECT item FROM web UNION ALL SELECT item FROM temporary) s');
-- ... and such a child's rows handed over, where there is a table to join
SELECT check_same('SELECT p_brand, sum(s.item) FROM product JOIN (SELECT item FROM web UNION ALL SELECT item FROM temporary) s ON item = p_id GROUP BY 1');
SELECT check_same('SELECT p_brand, max(s.x) FROM product JOIN (SELECT item, who || part AS x FROM web UNION ALL SELECT item::int4, ''s'' FROM store WHERE md5(who) || part <> ''x'') s ON item = p_id GROUP BY 1');
SELECT check_same('SELECT x, count(*) FROM (SELECT who || item AS x FROM web UNION ALL SELECT ''s'' FROM store) s GROUP BY 1');
SELECT refusal('SELECT sum(x) FROM (SELECT item AS x FROM web UNION ALL SELECT exp(item)::int FROM store) s');
-- joins of which the side that would be streamed is no table, and joins that are row sources as wholes
SELECT refusal(q) FROM unnest(ARRAY['SELECT count(*) FROM generate_series(1, 9) AS g WHERE EXISTS (SELECT FROM sales WHERE quantity = g AND exp(weight) > price)', 'SELECT count(*) FROM generate_series(1, 9) AS g WHERE NOT EXISTS (SELECT FROM sales WHERE quantity = g AND exp(weight) > price)', 'SELECT count(id) FROM generate_series(1, 9) AS g LEFT JOIN sales ON quantity = g AND exp(weight) > price', 'SELECT sum(x) FROM web, LATERAL (SELECT generate_series(item, item + 1) AS x) q']) AS q;
-- ... decided by the values
SELECT check_same('SELECT x, count(*) FROM (SELECT paid AS x FROM web UNION ALL SELECT 1.5 FROM store) s GROUP BY 1');

-- rows that this transaction has moved to another partition
BEGIN;
UPDATE measure SET k = k + 10, place = 'moved' WHERE id < 100;
DELETE FROM measure WHERE id BETWEEN 200 AND 210;
INSERT INTO measure (id, k, place) VALUES (-1, 104, 'here');
SELECT check_one('SELECT k, place, count(*), sum(id) FROM measure GROUP BY k, place', '{cached}');
ROLLBACK;

-- a prepared statement sees partitions come and go
SET gpuconc.debug_offload = require;
SET plan_cache_mode = force_generic_plan;
PREPARE total(int) AS SELECT count(*), sum(id), min(place), max(place) FROM measure WHERE k >= $1;
EXECUTE total(25);
EXECUTE total(50);
CREATE TABLE measure_5 (LIKE measure);
INSERT INTO measure_5 SELECT i, 50 + i % 5, 'Zürich' FROM generate_series(1, 100) AS i;
ALTER TABLE measure ATTACH PARTITION measure_5 FOR VALUES FROM (50) TO (60);
EXECUTE total(25);
EXECUTE total(50);
ALTER TABLE measure DETACH PARTITION measure_5;
EXECUTE total(25);
DROP TABLE measure_5;
EXECUTE total(50);
DEALLOCATE total;
RESET plan_cache_mode;
RESET gpuconc.debug_offload;

-- many partitions
\set ECHO none
\o /dev/null
CREATE TABLE many (id int, t text) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE many_%s PARTITION OF many FOR VALUES FROM (%s) TO (%s)', i, i * 10, i * 10 + 10) FROM generate_series(0, 99) AS i \gexec
INSERT INTO many SELECT i, 't' || i % 37 FROM generate_series(0, 999) AS i;
CREATE TABLE in_c AS SELECT i AS n, ('x' || i % 5) COLLATE "C" AS t, 'a'::char(5) AS c FROM generate_series(1, 300) AS i;
CREATE TABLE in_default AS SELECT i AS n, 'y' || i % 7 AS t, 'b'::char(3) AS c FROM generate_series(1, 200) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) many, in_c, in_default;
\o
\set ECHO all
SELECT plan_of('SELECT t, count(*) FROM many GROUP BY t');
SELECT check_one('SELECT t, count(*), sum(id) FROM many GROUP BY t', '{cached}');
SELECT check_one('SELECT count(*), min(t) FROM many JOIN customer ON c_id = id WHERE id > 15', '{cached}');
-- a text of another collation or length than the column: the only table left is read for it
CREATE VIEW one_left AS SELECT n, t, c FROM in_c WHERE false UNION ALL SELECT n, t, c FROM in_default;
SELECT check_one('SELECT count(*), count(t), count(DISTINCT t), max(c) FROM one_left WHERE n > 10', '{cached}');
SELECT check_one('SELECT t, count(*) FROM one_left GROUP BY t', '{cached}');
SELECT check_one($$SELECT count(*) FROM in_c WHERE NOT EXISTS (SELECT FROM one_left u WHERE u.t = 'y' || in_c.n % 9)$$, '{cached}');
-- ... and a text that is NULL in the only SELECT that is left
SELECT check_one($$SELECT count(*), min(m.n) FROM in_c m, (SELECT n, t FROM in_c WHERE false UNION ALL SELECT max(n), NULL::text FROM in_default) u
	WHERE u.t = m.t$$, '{cached}');
-- ... too many for CASE, so that each SELECT is an arm
SELECT check_one('SELECT x, count(*) FROM (SELECT 1 AS x FROM many UNION ALL SELECT 2 FROM measure) s GROUP BY 1', '{cached}');

\set ECHO none
\o /dev/null
SET client_min_messages = warning;
DROP VIEW one_left;
DROP TABLE many, in_c, in_default;
DROP VIEW public.paid;
DROP TABLE cached.measure, delta.measure, mixed.measure, cached.bucket, delta.bucket, mixed.bucket, cached.web, delta.web, mixed.web,
	cached.store, delta.store, mixed.store, cached.refund, delta.refund, mixed.refund;
DROP TABLE cached.vehicle, delta.vehicle, mixed.vehicle CASCADE;
DROP FUNCTION check_one;
\o
