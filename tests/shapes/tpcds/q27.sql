-- Shape of TPC-DS query 27: a star join by ROLLUP with GROUPING().
-- offloaded: 1
select i_item_id, s_state, grouping(s_state) as all_states, avg(ss_quantity) as quantity, avg(ss_list_price) as list_price, avg(ss_sales_price) as price
from store_sales, customer_demographics, date_dim, store, item
where ss_sold_date_sk = d_date_sk and ss_item_sk = i_item_sk and ss_store_sk = s_store_sk and ss_cdemo_sk = cd_demo_sk
	and cd_gender = 'M' and cd_marital_status = 'S' and d_year = 2000
group by rollup (i_item_id, s_state)
having grouping(i_item_id) + grouping(s_state) < 2 or count(*) > 100
order by i_item_id nulls first, s_state nulls first, 3
limit 200;
