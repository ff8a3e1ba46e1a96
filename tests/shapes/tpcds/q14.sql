-- Shape of TPC-DS query 14: items sold in all channels by INTERSECT, IN over three unions, HAVING over a scalar CTE, ROLLUP.
-- offloaded: 4
with everywhere as (
	select i_item_sk as sk
	from item, (
		select s.i_brand_id as brand, s.i_class_id as class, s.i_category_id as category
		from store_sales, item s, date_dim where ss_item_sk = s.i_item_sk and ss_sold_date_sk = d_date_sk and d_year between 1999 and 2001
		intersect
		select c.i_brand_id, c.i_class_id, c.i_category_id
		from catalog_sales, item c, date_dim where cs_item_sk = c.i_item_sk and cs_sold_date_sk = d_date_sk and d_year between 1999 and 2001
		intersect
		select w.i_brand_id, w.i_class_id, w.i_category_id
		from web_sales, item w, date_dim where ws_item_sk = w.i_item_sk and ws_sold_date_sk = d_date_sk and d_year between 1999 and 2001) x
	where i_brand_id = brand and i_class_id = class and i_category_id = category),
average as (
	select avg(quantity * price) as sales
	from (select ss_quantity as quantity, ss_list_price as price from store_sales, date_dim where ss_sold_date_sk = d_date_sk and d_year between 1999 and 2001
		union all
		select cs_quantity, cs_list_price from catalog_sales, date_dim where cs_sold_date_sk = d_date_sk and d_year between 1999 and 2001
		union all
		select ws_quantity, ws_list_price from web_sales, date_dim where ws_sold_date_sk = d_date_sk and d_year between 1999 and 2001) x)
select channel, brand, class, category, sum(sales) as sales, sum(lines) as lines
from (
	select 's' as channel, i_brand_id as brand, i_class_id as class, i_category_id as category, sum(ss_quantity * ss_list_price) as sales, count(*) as lines
	from store_sales, item, date_dim
	where ss_item_sk in (select sk from everywhere) and ss_item_sk = i_item_sk and ss_sold_date_sk = d_date_sk and d_year = 2001 and d_moy = 11
	group by i_brand_id, i_class_id, i_category_id
	having sum(ss_quantity * ss_list_price) > (select sales from average)
	union all
	select 'c', i_brand_id, i_class_id, i_category_id, sum(cs_quantity * cs_list_price), count(*)
	from catalog_sales, item, date_dim
	where cs_item_sk in (select sk from everywhere) and cs_item_sk = i_item_sk and cs_sold_date_sk = d_date_sk and d_year = 2001 and d_moy = 11
	group by i_brand_id, i_class_id, i_category_id
	having sum(cs_quantity * cs_list_price) > (select sales from average)
	union all
	select 'w', i_brand_id, i_class_id, i_category_id, sum(ws_quantity * ws_list_price), count(*)
	from web_sales, item, date_dim
	where ws_item_sk in (select sk from everywhere) and ws_item_sk = i_item_sk and ws_sold_date_sk = d_date_sk and d_year = 2001 and d_moy = 11
	group by i_brand_id, i_class_id, i_category_id
	having sum(ws_quantity * ws_list_price) > (select sales from average)) y
group by rollup (channel, brand, class, category)
order by channel nulls first, brand nulls first, class nulls first, category nulls first
limit 200;
