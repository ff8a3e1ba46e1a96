-- TPC-H Q17 with the average of each part computed once: the same rows
select
	sum(l_extendedprice) / 7.0 as avg_yearly
from
	lineitem,
	part,
	(
		select
			l_partkey as a_partkey,
			0.2 * avg(l_quantity) as a_quantity
		from
			lineitem
		where
			l_partkey in (select p_partkey from part where p_brand = 'Brand#23' and p_container = 'MED BOX')
		group by
			l_partkey
	) as averages
where
	p_partkey = l_partkey
	and p_brand = 'Brand#23'
	and p_container = 'MED BOX'
	and a_partkey = p_partkey
	and l_quantity < a_quantity;
