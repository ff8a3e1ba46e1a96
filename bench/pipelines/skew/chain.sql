-- Skewed lines pass two hash builds, each of which drops most of them.
select count(*), sum(v) from skew_line join skew_order using (o) join skew_customer cu on c * 1000003::bigint = cu.k
	join skew_part pa on p * 1000003::bigint = pa.k where day = 7 and cu.segment < 3 and pa.kind < 3
