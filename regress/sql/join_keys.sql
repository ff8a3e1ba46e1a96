-- Equalities of columns that two other tables bring: part of a key where that key alone has several rows, filters else.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

-- sales of an item match its stock of the same week, by days of their own; items and weeks repeat, some are NULL
CREATE TABLE days AS SELECT i AS dkey, i / 7 AS week, 'week ' || i / 7 AS name, (i / 7)::numeric(9, 1) AS nweek, (i / 7)::int8 AS week8,
	date '2020-01-01' + i / 7 AS wday, timestamp '2020-01-01' + i / 7 * interval '1 day' AS wtime FROM generate_series(0, 299) i;
INSERT INTO days SELECT i, NULL, NULL, NULL, NULL, NULL, NULL FROM generate_series(300, 310) i;
ALTER TABLE days ADD PRIMARY KEY (dkey);
CREATE TABLE sold AS SELECT nullif(i * 7 % 311, 4) AS sday, nullif(i * 31 % 50, 3) AS item, i % 13 AS qty, i % 3 AS shop FROM generate_series(1, 1033) i;
CREATE TABLE stock AS SELECT w * 7 AS iday, item, wh, (w * 17 + item * 3 + wh * 29) % 100 AS onhand
FROM generate_series(0, 44) w, generate_series(0, 49) item, generate_series(0, 1) wh;
CREATE UNIQUE INDEX ON stock (item, iday, wh);
VACUUM (FREEZE, ANALYZE) days, sold, stock;
SELECT copy_states('days', 'dkey'), copy_states('sold', 'sday'), copy_states('stock', 'item');
SELECT settle();
VACUUM (FREEZE, ANALYZE) mixed.days, mixed.sold, mixed.stock;
SELECT mix('days', 'dkey % 10 = 3'), mix('sold', 'qty = 3'), mix('stock', 'item = 3');

-- the build of the table with fewer rows has the second key
SELECT plan_of('SELECT d1.week, sum(onhand) FROM sold s, stock t, days d1, days d2 WHERE s.item = t.item AND sday = d1.dkey AND iday = d2.dkey AND d1.week = d2.week GROUP BY 1');
-- one column is the streamed table's own; all of a unique key; of two equalities the second one follows
SELECT plan_of('SELECT count(*) FROM stock t, sold s, days d WHERE s.item = t.item AND sday = dkey AND wh = week');
SELECT plan_of('SELECT count(*) FROM stock t, sold s, days d1, days d2 WHERE s.item = t.item AND sday = d1.dkey AND iday = d2.dkey AND d1.week = d2.week AND d1.week = d2.week8');
-- each build finds one row: a filter
SELECT plan_of('SELECT count(*) FROM stock, days d1, days d2 WHERE iday = d1.dkey AND onhand = d2.dkey AND d1.week = d2.week');
-- of two builds that have several rows for a key, it is that of more rows
SELECT plan_of('SELECT count(*) FROM stock t, sold s, days w, days d1, days d2 WHERE s.item = t.item AND w.week = t.wh AND s.sday = d1.dkey AND w.week8 = d2.dkey AND d1.name = d2.name');
SELECT plan_of('SELECT count(*) FROM stock t, sold s, days w, days d1, days d2 WHERE s.item = t.item AND w.week = t.wh AND s.sday = d1.dkey AND w.week8 = d2.dkey AND d2.name = d1.name');
-- a condition that follows from a filter and a key is no filter
SELECT plan_of('SELECT count(*) FROM stock t, days d1, days d2 WHERE iday = d1.dkey AND d1.week = t.wh AND d1.week = d2.week');
-- neither key may wait for the other
SELECT plan_of('SELECT count(*) FROM stock t, sold a, sold b, days d1, days d2 WHERE a.item = t.item AND b.item = t.wh AND a.sday = d1.dkey AND b.sday = d2.dkey AND d1.week = d2.week AND a.qty = b.qty');

SELECT c, check_whole(format('SELECT d1.week, count(*), sum(onhand), min(qty) FROM sold s, stock t, days d1, days d2 WHERE s.item = t.item AND sday = d1.dkey AND iday = d2.dkey AND d1.%1$I = d2.%1$I AND onhand > qty GROUP BY 1', c))
FROM unnest('{week,name,nweek,week8,wday}'::text[]) AS c;
SELECT l, r, check_whole(format('SELECT count(*), sum(onhand), min(qty) FROM sold s, stock t, days d1, days d2 WHERE s.item = t.item AND sday = d1.dkey AND iday = d2.dkey AND d1.%I = d2.%I', l, r))
FROM (VALUES ('week', 'week8'), ('week8', 'week'), ('week', 'nweek'), ('nweek', 'week8'), ('wday', 'wtime'), ('wtime', 'wday')) AS v (l, r);
SELECT check_whole('SELECT count(*), sum(onhand) FROM stock t, sold s, days d WHERE s.item = t.item AND sday = dkey AND wh = week');
SELECT check_whole('SELECT count(*), sum(onhand) FROM stock t, sold s, days d WHERE s.item = t.item AND sday = dkey AND wh = week + 1');
SELECT check_whole('SELECT count(*), sum(onhand) FROM stock t, sold s, days d WHERE s.item = t.item AND sday = dkey AND wh + 1 = week');
SELECT check_whole('SELECT count(*), sum(onhand) FROM stock, days d1, days d2 WHERE iday = d1.dkey AND onhand = d2.dkey AND d1.week = d2.week');
SELECT check_whole('SELECT count(*), sum(t.onhand), sum(a.qty * b.shop) FROM stock t, sold a, sold b, days d1, days d2 WHERE a.item = t.item AND b.item = t.wh AND a.sday = d1.dkey AND b.sday = d2.dkey AND d1.week = d2.week AND a.qty = b.qty');
SELECT check_whole('SELECT count(*), sum(a.qty), sum(b.shop) FROM stock t, sold a, sold b, days d1, days d2, days d3 WHERE a.item = t.item AND b.item = t.item AND a.sday = d1.dkey AND b.sday = d2.dkey AND iday = d3.dkey AND d1.week = d2.week AND d2.week = d3.week');
SELECT check_whole('SELECT count(*), sum(a.qty), sum(b.shop) FROM stock t, sold a, sold b, days d1, days d2 WHERE a.item = t.item AND b.item = t.item AND a.sday = d1.dkey AND b.sday = d2.dkey AND d1.week = d2.week AND a.shop = b.shop AND wh = a.shop');
-- nor for one that waits for it
SELECT check_whole('SELECT count(*), sum(t.onhand), sum(a.qty * c.shop) FROM stock t, sold a, sold b, sold c, days d1, days d2 WHERE a.item = t.item AND b.item = t.wh AND b.qty = a.qty AND c.item = t.item AND c.shop = b.shop AND a.sday = d1.dkey AND c.sday = d2.dkey AND d1.week = d2.week AND t.wh = 1');
-- a filter: of these types no key is made
SET timezone = 'UTC';
SELECT check_whole('SELECT count(*), sum(onhand), min(qty) FROM sold s, stock t, days d1, days d2 WHERE s.item = t.item AND sday = d1.dkey AND iday = d2.dkey AND d1.wtime = d2.wtime AT TIME ZONE ''UTC''');
RESET timezone;
SELECT check_whole('SELECT count(*), sum(onhand), sum(d2.dkey) FROM stock t, days d1, days d2 WHERE iday = d1.dkey AND d1.week = t.wh AND d1.week = d2.week');
-- numerics of several scales are no keys
SELECT plan_of('SELECT count(*) FROM sold s, stock t, days d1, days d2 WHERE s.item = t.item AND sday = d1.dkey AND iday = d2.dkey AND d1.nweek = d2.week');
-- below and beside other joins
SELECT check_whole('SELECT count(*), count(x.shop), sum(onhand) FROM sold s JOIN stock t ON s.item = t.item JOIN days d1 ON sday = d1.dkey JOIN days d2 ON iday = d2.dkey AND d1.week = d2.week LEFT JOIN sold x ON x.qty = onhand AND x.shop = 2 AND x.sday = d1.week');
SELECT check_whole('SELECT wh, count(*) FROM sold s, stock t, days d1, days d2 WHERE s.item = t.item AND sday = d1.dkey AND iday = d2.dkey AND d1.week = d2.week AND NOT EXISTS (SELECT FROM sold x WHERE x.item = s.item AND x.sday > iday) GROUP BY wh');
SELECT check_whole('SELECT count(*), sum(g.n) FROM sold s, days d1, (SELECT item, week, count(*) AS n FROM stock, days WHERE iday = dkey GROUP BY 1, 2) g WHERE s.item = g.item AND sday = d1.dkey AND d1.week = g.week');
SELECT check_whole('SELECT count(*) FROM customer, (SELECT s.shop, d1.week, t.wh FROM sold s, stock t, days d1, days d2 WHERE s.item = t.item AND sday = d1.dkey AND iday = d2.dkey AND d1.week = d2.week OFFSET 0) x WHERE c_id = x.week');
-- a build with more rows than expected, behind a probe with several matches: it grows by what there is, not to 3 * 10^9 rows
CREATE TABLE many AS SELECT i AS id, i AS same, i % 1000 AS g FROM generate_series(1, 30000) i;
CREATE TABLE lines AS SELECT i / 2 AS id, i AS n FROM generate_series(1, 100000) i;
CREATE TABLE asks AS SELECT i % 1000 AS item FROM generate_series(1, 40000) i;
VACUUM (FREEZE, ANALYZE) many, lines, asks;
SELECT check_whole('SELECT count(*), sum(n), sum(item) FROM asks, many LEFT JOIN lines ON many.id = lines.id WHERE item = g AND many.id + 0 = same', '{cached}');
-- both columns come to a build that another build has
SELECT check_whole('SELECT count(*), sum(n), sum(onhand) FROM lines l, stock t, sold s, days d1, days d2 WHERE l.n = t.onhand AND s.item = t.item AND sday = d1.dkey AND iday = d2.dkey AND d1.week = d2.week', '{cached}');
CREATE FUNCTION passes_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	PERFORM set_config('gpuconc.debug_offload', 'require', true);
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'passes=' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
SELECT passes_of('SELECT count(*), sum(n), sum(item) FROM asks, many LEFT JOIN lines ON many.id = lines.id WHERE item = g AND many.id + 0 = same');
DROP FUNCTION passes_of;
DROP TABLE many, lines, asks;
-- a day is found once by each row that asks for it: rows that are joined are no more than these, and their sums no larger
CREATE TABLE calendar_days AS SELECT i AS day FROM generate_series(1, 70000) i;
ALTER TABLE calendar_days ADD PRIMARY KEY (day);
CREATE TABLE returned AS SELECT i * 3 % 20000 * 4 AS day, i % 50 AS cust, i % 7 AS shop, ((i % 1000 + i % 50 * 100) * 1600.5)::numeric(9, 2) AS amount FROM generate_series(1, 28000) i;
VACUUM (FREEZE, ANALYZE) calendar_days, returned;
SELECT q, check_whole(q, '{cached}') FROM unnest(ARRAY[
	'SELECT count(*), sum(t) FROM (SELECT cust, shop, sum(amount) AS t FROM returned r, calendar_days d WHERE r.day = d.day GROUP BY 1, 2) a, (SELECT shop, avg(t) * 1.2 AS m FROM (SELECT cust, shop, sum(amount) AS t FROM returned r, calendar_days d WHERE r.day = d.day GROUP BY 1, 2) c GROUP BY shop) b WHERE a.shop = b.shop AND t > m',
	'SELECT count(*), sum(amount), max(d.day) FROM calendar_days d LEFT JOIN returned r ON r.day = d.day', 'SELECT count(*), sum(r.amount), sum(x.amount) FROM calendar_days d LEFT JOIN returned r ON r.day = d.day LEFT JOIN returned x ON x.day = d.day AND x.shop = 3',
	'SELECT count(*), sum(r.amount), sum(x.amount) FROM calendar_days d, returned r, returned x WHERE r.day = d.day AND x.day = d.day AND x.shop < 3'
]) AS q;
DROP TABLE calendar_days, returned;
-- nor fewer than these: each day may be joined to several rows, and be kept without any, and the sums have more than 64 bits
CREATE TABLE heavy_days AS SELECT i AS day, 1000000000000000 + i AS weight FROM generate_series(1, 30000) i;
ALTER TABLE heavy_days ADD PRIMARY KEY (day);
CREATE TABLE heavy AS SELECT 5 AS day, 100000000000000 + i AS weight FROM generate_series(1, 1000) i;
VACUUM (FREEZE, ANALYZE) heavy_days, heavy;
SELECT q, check_whole(q, '{cached}') FROM unnest(ARRAY[
	'SELECT count(*), sum(r.weight), sum(x.weight) FROM heavy_days d, heavy r, heavy x WHERE r.day = d.day AND x.day = d.day', 'SELECT count(r.day), sum(d.weight) FROM heavy_days d LEFT JOIN heavy r ON r.day = d.day'
]) AS q;
DROP TABLE heavy_days, heavy;
-- more equalities than a key has columns: the others filter
DO $$ BEGIN EXECUTE (SELECT 'CREATE TABLE wide AS SELECT i AS id, ' || string_agg(format('i %% %s AS c%s', c + 1, c), ', ') || ' FROM generate_series(1, 3000) i' FROM generate_series(1, 20) c); END $$;
CREATE TABLE wide_too AS SELECT * FROM wide WHERE id % 3 > 0;
UPDATE wide_too SET c20 = c20 + id % 2, c17 = CASE WHEN id % 5 > 0 THEN c17 END;
VACUUM (FREEZE, ANALYZE) wide, wide_too;
SELECT string_agg(format('a.c%s = b.c%1$s', c), ' AND ') AS alike, string_agg('c' || c, ', ') AS columns FROM generate_series(1, 20) c \gset
SELECT plan_of(format('SELECT count(*) FROM wide a JOIN wide_too b ON %s', :'alike'));
SELECT j, check_whole(format('SELECT count(*), sum(a.id), sum(b.id) FROM wide a %s wide_too b ON %s', j, :'alike'), '{cached}') FROM unnest(ARRAY['JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN']) AS j;
SELECT j, check_whole(format('SELECT count(*), sum(a.id) FROM wide a WHERE %s (SELECT FROM wide_too b WHERE %s)', j, :'alike'), '{cached}') FROM unnest(ARRAY['EXISTS', 'NOT EXISTS']) AS j;
SELECT check_whole(format('SELECT count(*), sum(a.id) FROM wide a WHERE (%s) IN (SELECT %1$s FROM wide_too)', :'columns'), '{cached}');
DROP TABLE wide, wide_too;
DO $$ BEGIN EXECUTE (SELECT 'DROP TABLE ' || string_agg(s || '.' || t, ', ') FROM unnest('{cached,delta,mixed}'::text[]) s, unnest('{days,sold,stock}'::text[]) t); END $$;
