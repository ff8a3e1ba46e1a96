-- Shape of TPC-DS query 51: cumulative sums of two channels, FULL JOIN, running maxima over them.
-- offloaded: 1
with web as (
	select ws_item_sk as item, d_date, sum(sum(ws_sales_price)) over (partition by ws_item_sk order by d_date rows between unbounded preceding and current row) as cume
	from web_sales, date_dim
	where ws_sold_date_sk = d_date_sk and d_month_seq between 1200 and 1205
	group by ws_item_sk, d_date),
shop as (
	select ss_item_sk as item, d_date, sum(sum(ss_sales_price)) over (partition by ss_item_sk order by d_date rows between unbounded preceding and current row) as cume
	from store_sales, date_dim
	where ss_sold_date_sk = d_date_sk and d_month_seq between 1200 and 1205
	group by ss_item_sk, d_date)
select *
from (select item, d_date, web_sales, store_sales,
		max(web_sales) over (partition by item order by d_date rows between unbounded preceding and current row) as web_cume,
		max(store_sales) over (partition by item order by d_date rows between unbounded preceding and current row) as store_cume
	from (select coalesce(web.item, shop.item) as item, coalesce(web.d_date, shop.d_date) as d_date, web.cume as web_sales, shop.cume as store_sales
		from web full join shop on web.item = shop.item and web.d_date = shop.d_date) x) y
where web_cume > store_cume
order by item, d_date
limit 100;
