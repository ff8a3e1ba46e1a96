-- Shape of TPC-DS query 75: sales less returns of three channels by UNION, the CTE joined with itself for the previous year.
-- offloaded: 1
with net as (
	select d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id, sum(n) as n, sum(amount) as amount
	from (select d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id, cs_quantity - coalesce(cr_return_quantity, 0) as n, cs_ext_sales_price - coalesce(cr_return_amount, 0.0) as amount
		from catalog_sales join item on i_item_sk = cs_item_sk join date_dim on d_date_sk = cs_sold_date_sk
			left join catalog_returns on cs_order_number = cr_order_number and cs_item_sk = cr_item_sk
		where i_category in ('Books', 'Home', 'Sports')
		union
		select d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id, ss_quantity - coalesce(sr_return_quantity, 0), ss_ext_sales_price - coalesce(sr_return_amt, 0.0)
		from store_sales join item on i_item_sk = ss_item_sk join date_dim on d_date_sk = ss_sold_date_sk
			left join store_returns on ss_ticket_number = sr_ticket_number and ss_item_sk = sr_item_sk
		where i_category in ('Books', 'Home', 'Sports')
		union
		select d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id, ws_quantity - coalesce(wr_return_quantity, 0), ws_ext_sales_price - coalesce(wr_return_amt, 0.0)
		from web_sales join item on i_item_sk = ws_item_sk join date_dim on d_date_sk = ws_sold_date_sk
			left join web_returns on ws_order_number = wr_order_number and ws_item_sk = wr_item_sk
		where i_category in ('Books', 'Home', 'Sports')) x
	group by d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id)
select p.d_year as previous, c.d_year as year, c.i_brand_id, c.i_class_id, c.i_category_id, c.i_manufact_id, p.n as n_before, c.n as n_now, c.n - p.n as n_diff, c.amount - p.amount as amount_diff
from net c, net p
where c.i_brand_id = p.i_brand_id and c.i_class_id = p.i_class_id and c.i_category_id = p.i_category_id and c.i_manufact_id = p.i_manufact_id
	and c.d_year = 2001 and p.d_year = 2000 and c.n::numeric(17,2) / p.n::numeric(17,2) < 0.9
order by n_diff, amount_diff, 3, 4, 5, 6
limit 100;
