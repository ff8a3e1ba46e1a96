-- Shape of TPC-DS query 9: scalar sub-selects in every branch of CASE.
-- offloaded: 7
select r_reason_sk,
	case when (select count(*) from store_sales where ss_quantity between 1 and 20) > 10000
		then (select avg(ss_ext_discount_amt) from store_sales where ss_quantity between 1 and 20)
		else (select avg(ss_net_paid) from store_sales where ss_quantity between 1 and 20) end as low,
	case when (select count(*) from store_sales where ss_quantity between 21 and 60) > 60000
		then (select avg(ss_ext_discount_amt) from store_sales where ss_quantity between 21 and 60)
		else (select avg(ss_net_paid) from store_sales where ss_quantity between 21 and 60) end as middle,
	case when (select max(ss_sales_price) from store_sales where ss_quantity between 61 and 100) > 100
		then (select min(ss_ext_list_price) from store_sales where ss_quantity between 61 and 100)
		else (select 1 / (count(*) - count(*)) from store_sales where ss_quantity between 61 and 100) end as high
from reason
where r_reason_sk in (1, 2)
order by r_reason_sk;
