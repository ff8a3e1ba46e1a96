-- TPC-H Q20 with the sum of each part and supplier computed once: the same rows
select
	s_name,
	s_address
from
	supplier,
	nation
where
	s_suppkey in (
		select
			ps_suppkey
		from
			partsupp,
			(
				select
					l_partkey,
					l_suppkey,
					0.5 * sum(l_quantity) as half
				from
					lineitem
				where
					l_shipdate >= date '1994-01-01'
					and l_shipdate < date '1994-01-01' + interval '1' year
					and l_partkey in (select p_partkey from part where p_name like 'forest%')
				group by
					l_partkey,
					l_suppkey
			) as sums
		where
			ps_partkey = l_partkey
			and ps_suppkey = l_suppkey
			and ps_availqty > half
	)
	and s_nationkey = n_nationkey
	and n_name = 'CANADA'
order by
	s_name;
