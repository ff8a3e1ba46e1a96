-- Shape of TPC-DS query 17: three facts in a row: sold in a store, returned, bought again by catalog.
-- offloaded: 1
select i_item_id, i_item_desc, s_state, count(ss_quantity) as n, avg(ss_quantity) as sold, stddev_samp(ss_quantity) as deviation,
	avg(sr_return_quantity) as returned, avg(cs_quantity) as again
from store_sales, store_returns, catalog_sales, date_dim d1, date_dim d2, date_dim d3, store, item
where d1.d_quarter_name in ('2000Q1', '2000Q2') and d1.d_date_sk = ss_sold_date_sk and i_item_sk = ss_item_sk and s_store_sk = ss_store_sk
	and ss_customer_sk = sr_customer_sk and ss_item_sk = sr_item_sk and ss_ticket_number = sr_ticket_number
	and sr_returned_date_sk = d2.d_date_sk and d2.d_year = 2000
	and sr_customer_sk = cs_bill_customer_sk and sr_item_sk = cs_item_sk and cs_sold_date_sk = d3.d_date_sk and d3.d_year = 2000
group by i_item_id, i_item_desc, s_state
order by i_item_id, i_item_desc, s_state
limit 100;
