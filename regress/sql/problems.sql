-- Columns that PostgreSQL must answer for because of a value that is in them, and that
-- are offloaded again once it is gone.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA problems;
SET search_path = problems, public;

CREATE TABLE odd (id int, n numeric, t text) WITH (autovacuum_enabled = off);
CREATE FUNCTION refill(change text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE odd;
	INSERT INTO odd SELECT i, i % 100 + 0.5, 'v' || i % 7 FROM generate_series(1, 5000) AS i;
	EXECUTE 'UPDATE odd SET ' || change || ' WHERE id IN (1234, 4321)';
END $$;
CREATE FUNCTION check_odd() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	verdict text := check_here('SELECT count(*), sum(n), min(n), max(t) FROM odd');
BEGIN
	PERFORM settle();
	RETURN verdict;
END $$;
-- Pages that VACUUM made stale are served again only once they were loaded.
CREATE FUNCTION is_loaded() RETURNS bool LANGUAGE sql AS $$
	SELECT bool_and(pages_served = 1) FROM gpuconc_cache WHERE relation = 'odd'::regclass
$$;

-- The value stays: not loaded for it, whatever is vacuumed.
SELECT settle(), refill($$n = 'NaN'$$);
VACUUM odd;
SELECT check_odd(), is_loaded();
UPDATE odd SET id = -id WHERE id = 1;
VACUUM odd;
SELECT check_odd(), is_loaded();
SELECT check_odd(), is_loaded();
UPDATE odd SET t = 'beside' WHERE n = 'NaN';
VACUUM odd;
SELECT check_odd(), is_loaded();
-- One of two goes: tried once.  Then the other.
UPDATE odd SET n = 0.5 WHERE id = 1234;
VACUUM odd;
SELECT check_odd();
SELECT check_odd();
DELETE FROM odd WHERE n = 'NaN';
SELECT check_odd();
VACUUM odd;
SELECT check_odd(), is_loaded();
SELECT check_odd(), is_loaded();

-- Other values, by DELETE and UPDATE.
SELECT settle(), refill($$n = '-Infinity'$$);
VACUUM odd;
SELECT check_odd();
DELETE FROM odd WHERE id IN (1234, 4321);
VACUUM odd;
SELECT check_odd();
SELECT settle(), refill($$n = 1e38 + 0.5$$);
VACUUM odd;
SELECT check_odd();
UPDATE odd SET n = 0.5 WHERE n > 1e15;
VACUUM odd;
SELECT check_odd();
SELECT settle(), refill($$n = 1e-40$$);
VACUUM odd;
SELECT check_odd();
UPDATE odd SET n = 0.5 WHERE n = 1e-40;
VACUUM odd;
SELECT check_odd();
SELECT settle(), refill($$t = repeat('long', 20000)$$);
VACUUM odd;
SELECT check_odd();
UPDATE odd SET t = 'short' WHERE id IN (1234, 4321);
VACUUM odd;
SELECT check_odd();

-- Met in rows beside the cache only: gone with them, without VACUUM.
SELECT settle(), refill('n = 0.5');
VACUUM odd;
SELECT check_odd();
INSERT INTO odd VALUES (5001, 'NaN', 'v');
SELECT check_odd();
DELETE FROM odd WHERE id = 5001;
SELECT check_odd();
BEGIN;
INSERT INTO odd VALUES (5001, 1e-40, repeat('long', 20000));
SELECT check_odd();
ROLLBACK;
SELECT check_odd();
VACUUM odd;
SELECT check_odd(), is_loaded();

-- Prewarming tries again, too.
SELECT settle(), refill($$n = 'NaN'$$);
VACUUM odd;
SELECT gpuconc_prewarm('odd') > 0 AS prewarmed;
SELECT column_name, problem FROM gpuconc_cache WHERE relation = 'odd'::regclass ORDER BY 1;
DELETE FROM odd WHERE n = 'NaN';
VACUUM odd;
SELECT gpuconc_prewarm('odd') > 0 AS prewarmed;
SELECT column_name, problem FROM gpuconc_cache WHERE relation = 'odd'::regclass ORDER BY 1;

-- Quotients and averages have 16 to 20 digits behind the point: 128 bits hold them, and 64 as numeric(p,s).
CREATE TABLE quotients AS SELECT i, i % 10 AS k, i % 1000 / 10.0 AS ratio FROM generate_series(1, 2000) AS i;
CREATE TABLE averages AS SELECT i / 4 AS c, k, avg(ratio) * 100 AS a FROM quotients GROUP BY 1, 2;
VACUUM ANALYZE quotients, averages;
SELECT check_here('SELECT k, sum(ratio) FROM quotients GROUP BY k');
SELECT check_here('SELECT k, max(a) FROM averages GROUP BY k');
SELECT relation, column_name, problem FROM gpuconc_cache WHERE relation IN ('quotients'::regclass, 'averages'::regclass) AND problem IS NOT NULL ORDER BY 1;
ALTER TABLE quotients ALTER ratio TYPE numeric(18,6);
ALTER TABLE averages ALTER a TYPE numeric(18,6);
VACUUM ANALYZE quotients, averages;
SELECT check_here('SELECT k, sum(ratio) FROM quotients GROUP BY k');
SELECT check_here('SELECT k, max(a) FROM averages GROUP BY k');

DROP SCHEMA problems CASCADE;
