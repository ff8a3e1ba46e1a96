-- Listing 6 of Paul, He and He 2016: Q14 without LIKE; "case when p_partkey then" is their C, and true but for 0
select 100.00 * sum(case when p_partkey <> 0 then
		l_extendedprice * (1 - l_discount) else 0 end) /
	sum(l_extendedprice * (1 - l_discount)) as promo_revenue
from lineitem, part
where l_partkey = p_partkey
	and l_shipdate >= date '1995-09-01'
	and l_shipdate < date '1995-10-01';
