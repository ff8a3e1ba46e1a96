-- Statements that write and read at once, and what runs inside of others: the rows
-- seen are those of the command's own snapshot.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
SET search_path = public;
CREATE TABLE acc (k int PRIMARY KEY, v int, s text) WITH (autovacuum_enabled = off);
INSERT INTO acc SELECT i, i % 10, 's' || i % 3 FROM generate_series(1, 1000) AS i;
VACUUM (FREEZE, ANALYZE) acc;
CREATE TABLE target (k int, n bigint, total bigint);
SET gpuconc.debug_offload = require;

-- INSERT ... SELECT, from elsewhere and from itself
EXPLAIN (COSTS OFF) INSERT INTO target SELECT v, count(*), sum(k) FROM acc GROUP BY v;
INSERT INTO target SELECT v, count(*), sum(k) FROM acc GROUP BY v;
SELECT count(*), sum(n), sum(total) FROM target;
INSERT INTO acc SELECT 1000 + row_number() OVER (ORDER BY v), count(*), 'sum' FROM acc GROUP BY v;
INSERT INTO acc SELECT k + 10000, v, s FROM acc WHERE v = 3;
SELECT count(*), sum(v), max(k) FROM acc;
-- UPDATE and DELETE that read aggregates of the same table
UPDATE acc SET v = v + q.n FROM (SELECT s, count(*) AS n FROM acc GROUP BY s) AS q WHERE acc.s = q.s AND acc.k <= 5;
SELECT k, v, s FROM acc WHERE k <= 6 ORDER BY k;
UPDATE acc SET v = (SELECT max(v) FROM acc) WHERE k = 7;
DELETE FROM acc WHERE v = (SELECT max(v) FROM acc) AND k <> 7;
SELECT count(*), sum(v), max(v) FROM acc;
MERGE INTO target t USING (SELECT v, count(*) AS n FROM acc GROUP BY v) AS q ON t.k = q.v
	WHEN MATCHED THEN UPDATE SET n = q.n WHEN NOT MATCHED THEN INSERT VALUES (q.v, q.n, 0);
SELECT k, n, total FROM target ORDER BY k;
-- CTEs that write: the others see the state before
WITH ins AS (INSERT INTO acc SELECT i, 5, 'cte' FROM generate_series(20001, 20100) AS i RETURNING k)
SELECT (SELECT count(*) FROM acc), (SELECT count(*) FROM ins), (SELECT sum(v) FROM acc WHERE s = 'cte');
WITH del AS (DELETE FROM acc WHERE s = 'cte' RETURNING v) SELECT count(*), sum(v), (SELECT count(*) FROM acc WHERE s = 'cte') FROM del;
SELECT count(*) FROM acc WHERE s = 'cte';
-- (a row source must not change data)
SET gpuconc.debug_offload = allow;
WITH up AS (UPDATE acc SET v = v + 1 WHERE k < 10 RETURNING k, v) SELECT sum(up.v), sum(acc.v) FROM up JOIN acc USING (k);
SET gpuconc.debug_offload = require;

-- triggers and functions that look while a command runs, or between commands
CREATE TABLE seen (moment text, n bigint, total bigint);
CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO seen SELECT TG_WHEN || ' ' || TG_LEVEL, count(*), sum(v) FROM acc WHERE s = 'trig';
	RETURN NEW;
END $$;
CREATE TRIGGER before_row BEFORE INSERT ON acc FOR EACH ROW EXECUTE FUNCTION look();
CREATE TRIGGER after_row AFTER INSERT ON acc FOR EACH ROW EXECUTE FUNCTION look();
CREATE TRIGGER after_all AFTER INSERT ON acc FOR EACH STATEMENT EXECUTE FUNCTION look();
INSERT INTO acc SELECT i, 1, 'trig' FROM generate_series(30001, 30003) AS i;
SELECT * FROM seen;
DROP TRIGGER before_row ON acc;
DROP TRIGGER after_row ON acc;
DROP TRIGGER after_all ON acc;
CREATE FUNCTION step_by_step() RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	FOR i IN 1 .. 3 LOOP
		INSERT INTO acc VALUES (40000 + i, i, 'step');
		SELECT sum(v) INTO n FROM acc WHERE s = 'step';
		RETURN NEXT n;
		BEGIN
			INSERT INTO acc VALUES (50000 + i, 1000, 'step');
			SELECT sum(v) INTO n FROM acc WHERE s = 'step';
			RETURN NEXT n;
			RAISE EXCEPTION 'undo';
		EXCEPTION WHEN raise_exception THEN
			SELECT sum(v) INTO n FROM acc WHERE s = 'step';
			RETURN NEXT n;
		END;
	END LOOP;
END $$;
SELECT step_by_step();
-- a volatile function sees what the query that calls it has done; a stable one does not
CREATE FUNCTION count_volatile() RETURNS bigint LANGUAGE sql VOLATILE AS $$SELECT count(*) FROM acc WHERE s = 'self'$$;
CREATE FUNCTION count_stable() RETURNS bigint LANGUAGE plpgsql STABLE AS $$BEGIN RETURN (SELECT count(*) FROM acc WHERE s = 'self'); END$$;
INSERT INTO acc SELECT 60000 + i, 10 * count_volatile() + count_stable(), 'self' FROM generate_series(1, 4) AS i;
SELECT v, count(*) FROM acc WHERE s = 'self' GROUP BY v ORDER BY v;

-- procedures that commit in the middle
CREATE PROCEDURE committing() LANGUAGE plpgsql AS $$
DECLARE
	r record;
	n bigint;
BEGIN
	FOR r IN SELECT v, count(*) AS c FROM acc WHERE k <= 1000 GROUP BY v ORDER BY v LIMIT 3 LOOP
		INSERT INTO acc VALUES (70000 + r.v, r.c, 'commit');
		COMMIT;
		SELECT count(*) INTO n FROM acc WHERE s = 'commit';
		RAISE NOTICE '% %', r.v, n;
		INSERT INTO acc VALUES (80000 + r.v, r.c, 'commit');
		ROLLBACK;
	END LOOP;
END $$;
CALL committing();

-- other ways to run a query
COPY (SELECT v, count(*) FROM acc WHERE k <= 1000 GROUP BY v HAVING v < 3 ORDER BY v) TO STDOUT;
CREATE TABLE copied AS SELECT v, count(*) AS n FROM acc WHERE k <= 1000 GROUP BY v;
SELECT count(*), sum(n) FROM copied;
SELECT v, count(*) AS n INTO TEMP into_temp FROM acc WHERE k <= 1000 GROUP BY v;
SELECT check_same('SELECT a.v, a.n FROM into_temp a JOIN copied b ON a.v = b.v AND a.n = b.n', '{public}');
CREATE MATERIALIZED VIEW summed AS SELECT s, sum(v) AS total FROM acc GROUP BY s;
INSERT INTO acc VALUES (90000, 77, 'refresh');
REFRESH MATERIALIZED VIEW summed;
SELECT total FROM summed WHERE s = 'refresh';
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) INSERT INTO copied SELECT v, count(*) FROM acc WHERE false GROUP BY v;
DO $$BEGIN PERFORM count(*) FROM acc; ASSERT (SELECT max(v) FROM acc WHERE s = 'refresh') = 77; END$$;
-- beside a transaction ID of its own
SELECT pg_current_xact_id() IS NOT NULL AS writing, count(*) FROM acc WHERE s = 'refresh';
-- temporary tables, created, filled and dropped with their transaction
BEGIN;
CREATE TEMP TABLE short_lived ON COMMIT DROP AS SELECT k, v FROM acc WHERE k <= 100;
SELECT check_same('SELECT a.v, count(*) FROM short_lived a JOIN acc b ON a.k = b.k GROUP BY a.v', '{public}');
INSERT INTO short_lived SELECT k, v FROM acc WHERE k BETWEEN 101 AND 200;
SELECT check_same('SELECT count(*) FROM short_lived a JOIN acc b ON a.k = b.k', '{public}');
COMMIT;
DROP MATERIALIZED VIEW summed;
DROP TABLE acc, target, seen, copied;
DROP FUNCTION look, step_by_step, count_volatile, count_stable;
DROP PROCEDURE committing;
