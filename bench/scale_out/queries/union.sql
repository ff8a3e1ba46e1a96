-- UNION ALL by the key.
select k % 7 as m, count(*), sum(v) from (select l_orderkey as k, l_quantity as v from lineitem where l_returnflag = 'R' union all select o_orderkey, o_totalprice from orders where o_shippriority = 0) x group by m order by m
