-- Shape of TPC-DS query 5: sales and returns of three channels side by side, then a ROLLUP.
-- offloaded: 1
with per_store as (
	select s_store_id as id, sum(sales) as sales, sum(profit) as profit, sum(returned) as returned, sum(loss) as loss
	from (select ss_store_sk as sk, ss_sold_date_sk as day, ss_ext_sales_price as sales, ss_net_profit as profit, 0::numeric(7,2) as returned, 0::numeric(7,2) as loss
		from store_sales
		union all
		select sr_store_sk, sr_returned_date_sk, 0::numeric(7,2), 0::numeric(7,2), sr_return_amt, sr_net_loss from store_returns) x, date_dim, store
	where day = d_date_sk and d_date between date '2000-08-01' and date '2000-08-31' and sk = s_store_sk
	group by s_store_id),
per_page as (
	select cp_catalog_page_id as id, sum(sales) as sales, sum(profit) as profit, sum(returned) as returned, sum(loss) as loss
	from (select cs_catalog_page_sk as sk, cs_sold_date_sk as day, cs_ext_sales_price as sales, cs_net_profit as profit, 0::numeric(7,2) as returned, 0::numeric(7,2) as loss
		from catalog_sales
		union all
		select cr_catalog_page_sk, cr_returned_date_sk, 0::numeric(7,2), 0::numeric(7,2), cr_return_amount, cr_net_loss from catalog_returns) x, date_dim, catalog_page
	where day = d_date_sk and d_date between date '2000-08-01' and date '2000-08-31' and sk = cp_catalog_page_sk
	group by cp_catalog_page_id),
per_site as (
	select web_site_id as id, sum(sales) as sales, sum(profit) as profit, sum(returned) as returned, sum(loss) as loss
	from (select ws_web_site_sk as sk, ws_sold_date_sk as day, ws_ext_sales_price as sales, ws_net_profit as profit, 0::numeric(7,2) as returned, 0::numeric(7,2) as loss
		from web_sales
		union all
		select ws_web_site_sk, wr_returned_date_sk, 0::numeric(7,2), 0::numeric(7,2), wr_return_amt, wr_net_loss
		from web_returns left join web_sales on wr_item_sk = ws_item_sk and wr_order_number = ws_order_number) x, date_dim, web_site
	where day = d_date_sk and d_date between date '2000-08-01' and date '2000-08-31' and sk = web_site_sk
	group by web_site_id)
select channel, id, sum(sales) as sales, sum(returned) as returned, sum(profit - loss) as profit
from (select 'store' as channel, id, sales, returned, profit, loss from per_store
	union all select 'catalog', id, sales, returned, profit, loss from per_page
	union all select 'web', id, sales, returned, profit, loss from per_site) y
group by rollup (channel, id)
order by channel nulls first, id nulls first
limit 100;
