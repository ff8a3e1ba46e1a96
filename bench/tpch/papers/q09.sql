-- Listing 5 of Paul, He and He 2016: Q9 with a range of part keys instead of LIKE; "from (" is missing there
select nation, o_year, sum(amount) as sum_profit
from (
	select n_name as nation,
		extract(year from o_orderdate) as o_year,
		l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity as amount
	from part, supplier, lineitem, partsupp, orders, nation
	where s_suppkey = l_suppkey
		and ps_suppkey = l_suppkey
		and ps_partkey = l_partkey
		and p_partkey = l_partkey
		and o_orderkey = l_orderkey
		and s_nationkey = n_nationkey
		and p_partkey < 1000
) as profit
group by nation, o_year
order by o_year desc;
