-- One shard.
select l_orderkey, count(*), sum(l_quantity), avg(l_tax) from lineitem where l_orderkey = 7 group by l_orderkey
