-- Shape of TPC-DS query 97: FULL JOIN of the customers and items of two channels, counted by CASE.
-- offloaded: 1
with ss as (
	select ss_customer_sk as cust, ss_item_sk as item from store_sales, date_dim
	where ss_sold_date_sk = d_date_sk and d_month_seq between 1200 and 1211 group by ss_customer_sk, ss_item_sk),
cs as (
	select cs_bill_customer_sk as cust, cs_item_sk as item from catalog_sales, date_dim
	where cs_sold_date_sk = d_date_sk and d_month_seq between 1200 and 1211 group by cs_bill_customer_sk, cs_item_sk)
select sum(case when ss.cust is not null and cs.cust is null then 1 else 0 end) as store_only,
	sum(case when ss.cust is null and cs.cust is not null then 1 else 0 end) as catalog_only,
	sum(case when ss.cust is not null and cs.cust is not null then 1 else 0 end) as both
from ss full join cs on ss.cust = cs.cust and ss.item = cs.item;
