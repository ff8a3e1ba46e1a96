-- An average over all shards as a condition of a join: the subquery is an intermediate result.
select l_shipmode, count(*), sum(l_extendedprice * (1 - l_discount)) from lineitem join orders on l_orderkey = o_orderkey
where o_totalprice > (select avg(o_totalprice) from orders) group by l_shipmode order by l_shipmode
