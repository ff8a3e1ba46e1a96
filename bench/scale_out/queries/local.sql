-- A table of the coordinator alone: Citus plans it apart, and sends its rows.
create temp table chosen as select o_orderkey as k, count(*) as n from orders where o_totalprice > 300000 group by 1;
select count(*), sum(n), sum(l_quantity), max(l_shipdate) from lineitem join chosen on l_orderkey = k;
drop table chosen
