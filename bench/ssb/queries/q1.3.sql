-- SSB Q1.3: as Q1.1, for one week, discounts of 5 to 7 percent and fairly large quantities
select sum(lo_extendedprice * lo_discount) as revenue
from lineorder, date
where lo_orderdate = d_datekey
	and d_weeknuminyear = 6
	and d_year = 1994
	and lo_discount between 5 and 7
	and lo_quantity between 36 and 40;
