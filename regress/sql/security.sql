-- Privileges, row security, security barriers: the cache shows nobody what
-- PostgreSQL would not.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE ROLE regress_gpuconc_owner;
CREATE ROLE regress_gpuconc_reader;
CREATE ROLE regress_gpuconc_nobody;
CREATE SCHEMA vault;
GRANT USAGE ON SCHEMA vault TO PUBLIC;
SET search_path = vault, public;
CREATE TABLE secret (id int PRIMARY KEY, owner text NOT NULL, word text, amount int) WITH (autovacuum_enabled = off);
INSERT INTO secret SELECT i, CASE WHEN i % 2 = 0 THEN 'regress_gpuconc_reader' ELSE 'somebody' END, CASE WHEN i % 2 = 0 THEN 'word ' || i % 10 ELSE 'hidden ' || i % 10 END, i
FROM generate_series(1, 2000) AS i;
ALTER TABLE secret OWNER TO regress_gpuconc_owner;
VACUUM (FREEZE, ANALYZE) secret;
SELECT gpuconc_prewarm('secret') > 0 AS cached;

-- privileges: of the table, of a column, through a view, through a function
SET ROLE regress_gpuconc_reader;
SET gpuconc.debug_offload = require;
SELECT count(*) FROM secret;
SELECT gpuconc_prewarm('secret');
SELECT gpuconc_evict('secret');
SELECT count(*) FROM gpuconc_cache WHERE relation = 'secret'::regclass;
EXPLAIN SELECT sum(amount) FROM secret;
RESET ROLE;
GRANT SELECT (id, amount) ON secret TO regress_gpuconc_reader;
SET ROLE regress_gpuconc_reader;
SELECT sum(amount), max(id) FROM secret;
SELECT max(word) FROM secret;
SELECT count(*) FROM secret WHERE word = 'hidden 1';
SELECT count(*) FROM secret GROUP BY word;
SELECT gpuconc_prewarm('secret');
SELECT column_name FROM gpuconc_cache WHERE relation = 'secret'::regclass ORDER BY 1;
RESET ROLE;
CREATE VIEW public_part AS SELECT word, amount FROM secret WHERE owner = 'regress_gpuconc_reader';
ALTER VIEW public_part OWNER TO regress_gpuconc_owner;
GRANT SELECT ON public_part TO regress_gpuconc_reader;
CREATE FUNCTION total() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT sum(amount) FROM vault.secret';
ALTER FUNCTION total OWNER TO regress_gpuconc_owner;
SET ROLE regress_gpuconc_reader;
SELECT word, sum(amount) FROM public_part GROUP BY word ORDER BY word;
SELECT total();
PREPARE kept AS SELECT sum(amount) FROM secret;
EXECUTE kept;
RESET ROLE;
REVOKE ALL ON secret FROM regress_gpuconc_reader;
SET ROLE regress_gpuconc_reader;
EXECUTE kept;
SET ROLE regress_gpuconc_nobody;
SELECT sum(amount) FROM public_part;
EXECUTE kept;
RESET ROLE;

-- row security
GRANT SELECT ON secret TO regress_gpuconc_reader, regress_gpuconc_nobody;
CREATE POLICY own ON secret USING (owner = current_user);
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
SET gpuconc.debug_offload = allow;
-- The function tells which rows it sees.
CREATE FUNCTION leak(text) RETURNS bool LANGUAGE plpgsql IMMUTABLE COST 0.0000001 AS $$BEGIN RAISE NOTICE 'saw %', $1; RETURN true; END$$;
CREATE FUNCTION fails(text) RETURNS int LANGUAGE plpgsql IMMUTABLE COST 0.0000001 AS $$BEGIN RETURN CASE WHEN $1 LIKE 'hidden%' THEN 1 / (length($1) - length($1)) ELSE 1 END; END$$;
SET ROLE regress_gpuconc_reader;
SELECT count(*), sum(amount), min(word), max(word) FROM secret;
SELECT word, count(*) FROM secret GROUP BY word ORDER BY word;
SELECT count(*) FROM secret WHERE word LIKE 'hidden%';
SELECT count(*) FROM secret WHERE word ~ '^hidden';
SELECT count(*) FROM secret WHERE leak(word) AND id < 5;
SELECT max(fails(word)) FROM secret;
SELECT count(*) FROM secret WHERE fails(word) = 1;
SELECT max(substring(word FROM 6)::int) FROM secret;
SELECT count(*) FROM secret WHERE substring(word FROM 6)::int >= 0;
SELECT count(*) FROM secret WHERE 1 / (id % 2 - 1) < 0;
SELECT max(1 / (amount % 2 - 1)) FROM secret;
SELECT q, refusal(q) FROM unnest(ARRAY[
	'SELECT max(upper(word)) FROM secret', 'SELECT count(*) FROM secret WHERE word LIKE ''hidden%''', 'SELECT count(*) FROM secret WHERE word = ''hidden 1''', 'SELECT count(*), sum(amount) FROM secret', 'SELECT max(substring(word FROM 6)::int) FROM secret', 'SELECT min(word) FROM secret', 'SELECT count(*) FROM secret WHERE fails(word) = 1'
]) AS q;
SET ROLE regress_gpuconc_nobody;
SELECT count(*), sum(amount), min(word) FROM secret;
SELECT max(word) FROM secret WHERE word > '';
RESET ROLE;
SET ROLE regress_gpuconc_owner;
SELECT count(*), sum(amount), max(word) FROM secret;
RESET ROLE;
ALTER TABLE secret FORCE ROW LEVEL SECURITY;
SET ROLE regress_gpuconc_owner;
SELECT count(*), sum(amount), max(word) FROM secret;
RESET ROLE;
SELECT count(*), sum(amount), max(word) FROM secret;
-- a plan made for one role is not used for another
SET ROLE regress_gpuconc_reader;
PREPARE mine AS SELECT count(*), sum(amount) FROM secret;
EXECUTE mine;
SET ROLE regress_gpuconc_nobody;
EXECUTE mine;
RESET ROLE;
EXECUTE mine;
-- a policy of numbers is offloaded, hidden rows do not fail; the other table of a join, too
DROP POLICY own ON secret;
CREATE POLICY small ON secret USING (id % 2 = 0);
SET ROLE regress_gpuconc_reader;
SET gpuconc.debug_offload = require;
SELECT count(*), sum(amount) FROM secret;
SELECT amount % 3, count(*) FROM secret WHERE amount > 100 GROUP BY 1 ORDER BY 1;
SET gpuconc.debug_offload = allow;
SELECT count(*) FROM secret WHERE 1 / (id % 2 - 1) < 0;
SELECT sum(2147483647 * (id % 2) * 2 + amount) FROM secret;
SELECT count(*), sum(b.amount) FROM secret a JOIN secret b ON a.id = b.id + 1;
SELECT count(*), max(b.word) FROM secret a JOIN secret b ON a.id = b.id;
-- the small table of a join, too: what was built for one role is not another's
RESET ROLE;
DROP POLICY small ON secret;
CREATE POLICY own ON secret USING (owner = current_user);
CREATE TABLE facts WITH (autovacuum_enabled = off) AS SELECT i AS k, i % 2000 + 1 AS id FROM generate_series(1, 20000) AS i;
GRANT SELECT ON facts TO PUBLIC;
SELECT settle() \g /dev/null
VACUUM (FREEZE, ANALYZE) facts;
SET gpuconc.debug_offload = require;
PREPARE built AS SELECT count(*), sum(amount), min(word), max(word) FROM facts JOIN secret USING (id);
EXECUTE built;
SET ROLE regress_gpuconc_reader;
EXECUTE built;
SET ROLE regress_gpuconc_nobody;
EXECUTE built;
SET ROLE regress_gpuconc_reader;
EXECUTE built;
SELECT word, count(*) FROM facts JOIN secret USING (id) GROUP BY word ORDER BY word;
SET gpuconc.debug_offload = allow;
RESET ROLE;
ALTER TABLE secret DISABLE ROW LEVEL SECURITY;

-- security barriers
CREATE VIEW fenced WITH (security_barrier) AS SELECT word, amount, id FROM secret WHERE id % 2 = 0;
GRANT SELECT ON fenced TO regress_gpuconc_reader;
SET ROLE regress_gpuconc_reader;
SELECT count(*) FROM fenced WHERE leak(word) AND id < 5;
SELECT max(fails(word)), count(*) FROM fenced;
SELECT count(*) FROM fenced WHERE fails(word) = 1;
SELECT count(*) FROM fenced WHERE 1 / (id % 2 - 1) < 0;
SELECT word, count(*) FROM fenced GROUP BY word ORDER BY word;
SELECT count(*) FROM fenced WHERE word LIKE 'hidden%';
RESET ROLE;

DROP SCHEMA vault CASCADE;
DROP ROLE regress_gpuconc_owner, regress_gpuconc_reader, regress_gpuconc_nobody;
