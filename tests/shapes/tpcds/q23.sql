-- Shape of TPC-DS query 23: IN of frequent items, IN of best customers found by HAVING over a scalar sub-select.
-- offloaded: 3
with frequent as (
	select substr(i_item_desc, 1, 12) as word, i_item_sk as sk, d_moy as month, count(*) as n
	from store_sales, date_dim, item
	where ss_sold_date_sk = d_date_sk and ss_item_sk = i_item_sk and d_year in (1999, 2000)
	group by substr(i_item_desc, 1, 12), i_item_sk, d_moy
	having count(*) > 3),
most as (
	select max(total) as total
	from (select c_customer_sk, sum(ss_quantity * ss_sales_price) as total
		from store_sales, customer, date_dim
		where ss_customer_sk = c_customer_sk and ss_sold_date_sk = d_date_sk and d_year in (1999, 2000)
		group by c_customer_sk) x),
best as (
	select c_customer_sk as sk, sum(ss_quantity * ss_sales_price) as total
	from store_sales, customer
	where ss_customer_sk = c_customer_sk
	group by c_customer_sk
	having sum(ss_quantity * ss_sales_price) > 0.1 * (select total from most))
select c_last_name, c_first_name, sum(sales) as sales
from (select c_last_name, c_first_name, cs_quantity * cs_list_price as sales
	from catalog_sales, customer, date_dim
	where d_year = 2000 and cs_sold_date_sk = d_date_sk and cs_item_sk in (select sk from frequent)
		and cs_bill_customer_sk in (select sk from best) and cs_bill_customer_sk = c_customer_sk
	union all
	select c_last_name, c_first_name, ws_quantity * ws_list_price
	from web_sales, customer, date_dim
	where d_year = 2000 and ws_sold_date_sk = d_date_sk and ws_item_sk in (select sk from frequent)
		and ws_bill_customer_sk in (select sk from best) and ws_bill_customer_sk = c_customer_sk) y
group by c_last_name, c_first_name
order by c_last_name, c_first_name, sales
limit 100;
