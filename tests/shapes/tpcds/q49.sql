-- Shape of TPC-DS query 49: the worst return ratios of three channels by two ranks each, UNION of all.
-- offloaded: 1
select channel, item, ratio, return_rank, currency_rank
from (select 'web' as channel, item, ratio, rank() over (order by ratio) as return_rank, rank() over (order by currency) as currency_rank
	from (select ws_item_sk as item, sum(coalesce(wr_return_quantity, 0))::numeric(15,4) / sum(coalesce(ws_quantity, 0)) as ratio,
			sum(coalesce(wr_return_amt, 0))::numeric(15,4) / sum(coalesce(ws_net_paid, 0)) as currency
		from web_sales left join web_returns on ws_order_number = wr_order_number and ws_item_sk = wr_item_sk, date_dim
		where wr_return_amt > 100 and ws_net_profit > 1 and ws_net_paid > 0 and ws_quantity > 0 and ws_sold_date_sk = d_date_sk and d_year = 2001
		group by ws_item_sk) x
	union
	select 'catalog', item, ratio, rank() over (order by ratio), rank() over (order by currency)
	from (select cs_item_sk as item, sum(coalesce(cr_return_quantity, 0))::numeric(15,4) / sum(coalesce(cs_quantity, 0)) as ratio,
			sum(coalesce(cr_return_amount, 0))::numeric(15,4) / sum(coalesce(cs_net_paid, 0)) as currency
		from catalog_sales left join catalog_returns on cs_order_number = cr_order_number and cs_item_sk = cr_item_sk, date_dim
		where cr_return_amount > 100 and cs_net_profit > 1 and cs_net_paid > 0 and cs_quantity > 0 and cs_sold_date_sk = d_date_sk and d_year = 2001
		group by cs_item_sk) x
	union
	select 'store', item, ratio, rank() over (order by ratio), rank() over (order by currency)
	from (select ss_item_sk as item, sum(coalesce(sr_return_quantity, 0))::numeric(15,4) / sum(coalesce(ss_quantity, 0)) as ratio,
			sum(coalesce(sr_return_amt, 0))::numeric(15,4) / sum(coalesce(ss_net_paid, 0)) as currency
		from store_sales left join store_returns on ss_ticket_number = sr_ticket_number and ss_item_sk = sr_item_sk, date_dim
		where sr_return_amt > 100 and ss_net_profit > 1 and ss_net_paid > 0 and ss_quantity > 0 and ss_sold_date_sk = d_date_sk and d_year = 2001
		group by ss_item_sk) x) y
where return_rank <= 10 or currency_rank <= 10
order by channel, return_rank, currency_rank, item;
