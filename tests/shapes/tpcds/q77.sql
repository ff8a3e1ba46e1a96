-- Shape of TPC-DS query 77: sums of sales and of returns per channel, LEFT JOINs of them, ROLLUP.
-- offloaded: 1
with ss as (
	select s_store_sk as sk, sum(ss_ext_sales_price) as sales, sum(ss_net_profit) as profit
	from store_sales, date_dim, store where ss_sold_date_sk = d_date_sk and d_date between date '2000-08-03' and date '2000-09-30' and ss_store_sk = s_store_sk group by s_store_sk),
sr as (
	select s_store_sk as sk, sum(sr_return_amt) as returned, sum(sr_net_loss) as loss
	from store_returns, date_dim, store where sr_returned_date_sk = d_date_sk and d_date between date '2000-08-03' and date '2000-09-30' and sr_store_sk = s_store_sk group by s_store_sk),
cs as (
	select cs_call_center_sk as sk, sum(cs_ext_sales_price) as sales, sum(cs_net_profit) as profit
	from catalog_sales, date_dim where cs_sold_date_sk = d_date_sk and d_date between date '2000-08-03' and date '2000-09-30' group by cs_call_center_sk),
cr as (
	select sum(cr_return_amount) as returned, sum(cr_net_loss) as loss
	from catalog_returns, date_dim where cr_returned_date_sk = d_date_sk and d_date between date '2000-08-03' and date '2000-09-30'),
ws as (
	select wp_web_page_sk as sk, sum(ws_ext_sales_price) as sales, sum(ws_net_profit) as profit
	from web_sales, date_dim, web_page where ws_sold_date_sk = d_date_sk and d_date between date '2000-08-03' and date '2000-09-30' and ws_web_page_sk = wp_web_page_sk group by wp_web_page_sk),
wr as (
	select wp_web_page_sk as sk, sum(wr_return_amt) as returned, sum(wr_net_loss) as loss
	from web_returns, date_dim, web_page where wr_returned_date_sk = d_date_sk and d_date between date '2000-08-03' and date '2000-09-30' and wr_web_page_sk = wp_web_page_sk group by wp_web_page_sk)
select channel, sk, sum(sales) as sales, sum(returned) as returned, sum(profit) as profit
from (select 'store' as channel, ss.sk, sales, coalesce(returned, 0) as returned, profit - coalesce(loss, 0) as profit from ss left join sr on ss.sk = sr.sk
	union all select 'catalog', cs.sk, sales, returned, profit - loss from cs, cr
	union all select 'web', ws.sk, sales, coalesce(returned, 0), profit - coalesce(loss, 0) from ws left join wr on ws.sk = wr.sk) x
group by rollup (channel, sk)
order by channel nulls first, sk nulls first, sales
limit 100;
