-- Does an installed gpuconc answer a query, by device host where there is no GPU?
CREATE EXTENSION gpuconc;
DO $$
BEGIN
	WHILE (SELECT state FROM gpuconc_devices) = 'starting' LOOP
		PERFORM pg_sleep(0.1);
	END LOOP;
END $$;
SELECT device, name, state, detail FROM gpuconc_devices;

CREATE TABLE part AS SELECT i AS id, 'category ' || i % 7 AS category FROM generate_series(0, 99) AS i;
CREATE TABLE sale AS SELECT i % 100 AS part, (i % 1000 / 4.0)::numeric(8,2) AS price FROM generate_series(1, 100003) AS i;
VACUUM ANALYZE part, sale;

-- An error if it is not offloaded.
SET gpuconc.enabled = on;
SET gpuconc.debug_offload = require;
CREATE TABLE got AS
SELECT category, count(*) AS sales, sum(price) AS total, avg(price) AS mean FROM sale JOIN part ON part = id GROUP BY category;
SET gpuconc.debug_offload = forbid;
CREATE TABLE wanted AS
SELECT category, count(*) AS sales, sum(price) AS total, avg(price) AS mean FROM sale JOIN part ON part = id GROUP BY category;
DO $$
BEGIN
	ASSERT (SELECT count(*) FROM got) = 7, 'rows are missing';
	ASSERT NOT EXISTS ((TABLE got EXCEPT ALL TABLE wanted) UNION ALL (TABLE wanted EXCEPT ALL TABLE got)),
		'not the answer of PostgreSQL';
	ASSERT (SELECT offloaded FROM gpuconc_stat) >= 1, 'PostgreSQL itself has answered';
END $$;
