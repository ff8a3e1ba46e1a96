-- Suppliers whose lines alone are dear in their order, as TPC-H's Q21 asks for those that alone were late.
select l.s, count(*) as n from skew_line l join skew_order using (o) where day = 7 and l.v > 900
	and exists (select 1 from skew_line l2 where l2.o = l.o and l2.s <> l.s)
	and not exists (select 1 from skew_line l3 where l3.o = l.o and l3.s <> l.s and l3.v > 900)
	group by l.s order by n desc, l.s limit 20
