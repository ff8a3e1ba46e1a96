-- Distinct values, which workers cannot count alone.
select l_shipmode, count(distinct l_suppkey), count(distinct l_orderkey) from lineitem group by l_shipmode order by l_shipmode
