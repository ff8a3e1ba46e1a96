-- Shape of TPC-DS query 78: what was not returned in three channels by LEFT JOIN, their sums LEFT JOINed.
-- offloaded: 1
with ws as (
	select d_year as year, ws_item_sk as item, ws_bill_customer_sk as cust, sum(ws_quantity) as qty, sum(ws_wholesale_cost) as wc, sum(ws_sales_price) as sp
	from web_sales left join web_returns on wr_order_number = ws_order_number and ws_item_sk = wr_item_sk join date_dim on ws_sold_date_sk = d_date_sk
	where wr_order_number is null group by d_year, ws_item_sk, ws_bill_customer_sk),
cs as (
	select d_year as year, cs_item_sk as item, cs_bill_customer_sk as cust, sum(cs_quantity) as qty, sum(cs_wholesale_cost) as wc, sum(cs_sales_price) as sp
	from catalog_sales left join catalog_returns on cr_order_number = cs_order_number and cs_item_sk = cr_item_sk join date_dim on cs_sold_date_sk = d_date_sk
	where cr_order_number is null group by d_year, cs_item_sk, cs_bill_customer_sk),
ss as (
	select d_year as year, ss_item_sk as item, ss_customer_sk as cust, sum(ss_quantity) as qty, sum(ss_wholesale_cost) as wc, sum(ss_sales_price) as sp
	from store_sales left join store_returns on sr_ticket_number = ss_ticket_number and ss_item_sk = sr_item_sk join date_dim on ss_sold_date_sk = d_date_sk
	where sr_ticket_number is null group by d_year, ss_item_sk, ss_customer_sk)
select ss.item, ss.cust, round(ss.qty::numeric / coalesce(ws.qty + cs.qty, 1), 2) as ratio, ss.qty, ss.wc, ss.sp, coalesce(ws.qty, 0) + coalesce(cs.qty, 0) as other_qty,
	coalesce(ws.sp, 0) + coalesce(cs.sp, 0) as other_sp
from ss left join ws on ws.year = ss.year and ws.item = ss.item and ws.cust = ss.cust left join cs on cs.year = ss.year and cs.item = ss.item and cs.cust = ss.cust
where coalesce(ws.qty, 0) > 0 or coalesce(cs.qty, 0) > 0 and ss.year = 2000
order by ss.item, ss.cust, ss.qty desc, ss.wc desc, ss.sp desc, other_qty, other_sp
limit 100;
