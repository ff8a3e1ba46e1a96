-- Shape of TPC-DS query 7: a star join of five tables with averages per item.
-- offloaded: 1
select i_item_id, avg(ss_quantity) as quantity, avg(ss_list_price) as list_price, avg(ss_coupon_amt) as coupon, avg(ss_sales_price) as price
from store_sales, customer_demographics, date_dim, item, promotion
where ss_sold_date_sk = d_date_sk and ss_item_sk = i_item_sk and ss_cdemo_sk = cd_demo_sk and ss_promo_sk = p_promo_sk
	and cd_gender = 'F' and cd_marital_status in ('S', 'W') and (p_channel_email = 'N' or p_channel_event = 'N') and d_year = 2000
group by i_item_id
order by i_item_id
limit 100;
