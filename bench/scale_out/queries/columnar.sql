-- Tables of another access method beside ordinary ones.
select o_orderpriority, count(*), sum(l_quantity), max(l_shipdate) from lineitem_columnar join orders on l_orderkey = o_orderkey group by o_orderpriority order by o_orderpriority
