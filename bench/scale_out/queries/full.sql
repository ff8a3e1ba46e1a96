-- A full join by the key.
select count(*), count(a.k), count(b.k), sum(a.q), sum(b.p) from (select l_orderkey as k, sum(l_quantity) as q from lineitem where l_tax > 0.03 group by 1) a full join (select o_orderkey as k, o_totalprice as p from orders where o_orderstatus <> 'F') b on a.k = b.k
