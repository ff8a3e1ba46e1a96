-- A materialized CTE with LIMIT: an intermediate result that shards join.
with r as materialized (select o_custkey, count(*) as c from orders group by 1 order by c desc, 1 limit 500)
select c, count(*), sum(l_quantity), avg(l_extendedprice) from lineitem join orders on l_orderkey = o_orderkey join r using (o_custkey) group by c order by c
