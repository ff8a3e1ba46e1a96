-- SSB Q1.1: what discounts of 1 to 3 percent on small quantities gave away in one year
select sum(lo_extendedprice * lo_discount) as revenue
from lineorder, date
where lo_orderdate = d_datekey
	and d_year = 1993
	and lo_discount between 1 and 3
	and lo_quantity < 25;
