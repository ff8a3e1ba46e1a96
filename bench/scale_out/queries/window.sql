-- A window by the key over a join of shards, aggregated outside.
select r, count(*), sum(l_quantity) from (select l_quantity, rank() over (partition by l_orderkey order by l_extendedprice desc, l_linenumber) as r from lineitem join orders on l_orderkey = o_orderkey where o_orderpriority = '1-URGENT') x group by r order by r
