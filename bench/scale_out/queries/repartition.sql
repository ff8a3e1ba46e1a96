-- A join by another key than that of the shards: workers exchange rows in files.
set citus.enable_repartition_joins = on;
select l_shipmode, count(*), sum(o_totalprice) from lineitem, orders where l_partkey = o_custkey and l_quantity > 45 and o_orderpriority = '2-HIGH' group by l_shipmode order by l_shipmode
