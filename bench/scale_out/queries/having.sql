-- HAVING over groups of all shards.
select l_suppkey, sum(l_quantity), min(l_shipdate), max(l_comment) from lineitem where l_shipdate >= date '1995-01-01' group by l_suppkey having sum(l_quantity) > 3000 order by l_suppkey
