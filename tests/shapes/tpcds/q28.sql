-- Shape of TPC-DS query 28: a cross join of sub-selects with a plain and a DISTINCT aggregate each.
-- offloaded: 1
select b1.*, b2.*, b3.*
from (select avg(ss_list_price) as avg1, count(ss_list_price) as n1, count(distinct ss_list_price) as d1
	from store_sales where ss_quantity between 0 and 5 and (ss_list_price between 11 and 40 or ss_coupon_amt between 460 and 1460 or ss_wholesale_cost between 14 and 34)) b1,
	(select avg(ss_list_price) as avg2, count(ss_list_price) as n2, count(distinct ss_list_price) as d2
	from store_sales where ss_quantity between 6 and 10 and (ss_list_price between 91 and 101 or ss_coupon_amt between 1430 and 2430 or ss_wholesale_cost between 32 and 52)) b2,
	(select avg(ss_list_price) as avg3, count(ss_list_price) as n3, count(distinct ss_list_price) as d3
	from store_sales where ss_quantity between 11 and 15 and (ss_list_price between 66 and 76 or ss_coupon_amt between 920 and 1920 or ss_wholesale_cost between 4 and 24)) b3;
