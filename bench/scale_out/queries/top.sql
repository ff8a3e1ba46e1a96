-- Groups by the key with ORDER BY and LIMIT, which are pushed down whole.
select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue, count(*) from lineitem group by l_orderkey order by revenue desc, 1 limit 20
