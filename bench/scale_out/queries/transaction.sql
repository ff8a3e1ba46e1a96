-- The transaction sees the rows that it has written.
begin;
update lineitem set l_tax = l_tax + 0.5 where l_orderkey < 1000;
delete from orders where o_orderkey between 1000 and 1200;
select count(*), sum(l_tax) from lineitem;
select count(*), sum(l_tax), sum(o_totalprice) from lineitem join orders on l_orderkey = o_orderkey where l_tax > 0.4;
rollback;
select count(*), sum(l_tax) from lineitem
