-- 64 bits of transaction ids: 32 bits of the store's, near the next id, in this epoch or the last.
\pset format unaligned
SELECT epoch, next, xid, full_xid >> 32 AS of_epoch, full_xid & 4294967295 AS of_xid
FROM (VALUES
	-- at the beginning of an epoch: ids of the last one
	(4, 10, 9), (4, 10, 3), (4, 10, 4294967290), (4, 10, 4294967295), (4, 3, 4294967295), (4, 10, 2147483659),
	-- at its end; the second is ahead
	(3, 4294967290, 4294967289), (3, 4294967290, 3), (3, 4294967295, 2147483648),
	-- the next id itself, and one that is ahead
	(4, 10, 10), (4, 10, 12), (3, 4294967295, 4294967295), (4, 3, 3),
	-- in the middle, and in the first epoch
	(4, 2147483648, 3), (4, 2147483700, 60), (4, 2147483647, 4294967295), (0, 1000, 3), (0, 1000, 999), (1, 5, 4294967295)) AS v (epoch, next, xid),
	LATERAL (SELECT gpuconc_columns_test_full_xid(xid::text::xid, ((epoch::bigint << 32) + next)::text::xid8)::text::bigint AS full_xid) AS f;
