-- Shape of TPC-DS query 64: a very wide join of sales and returns in a CTE, joined with itself for the next year.
-- offloaded: 1
with refunds as (
	select cs_item_sk as item, sum(cs_ext_list_price) as sale, sum(cr_refunded_cash + cr_store_credit) as refund
	from catalog_sales, catalog_returns
	where cs_item_sk = cr_item_sk and cs_order_number = cr_order_number
	group by cs_item_sk
	having sum(cs_ext_list_price) > 2 * sum(cr_refunded_cash + cr_store_credit)),
crossed as (
	select i_product_name as product, i_item_sk as item, s_store_name as store, s_zip as zip, d1.d_year as sold, count(*) as n,
		sum(ss_wholesale_cost) as s1, sum(ss_list_price) as s2, sum(ss_coupon_amt) as s3
	from store_sales, store_returns, refunds, date_dim d1, date_dim d2, date_dim d3, store, customer, customer_demographics cd1,
		customer_demographics cd2, promotion, household_demographics hd1, household_demographics hd2, customer_address ad1, customer_address ad2,
		income_band ib1, income_band ib2, item
	where ss_store_sk = s_store_sk and ss_sold_date_sk = d1.d_date_sk and ss_customer_sk = c_customer_sk and ss_cdemo_sk = cd1.cd_demo_sk
		and ss_hdemo_sk = hd1.hd_demo_sk and ss_addr_sk = ad1.ca_address_sk and ss_item_sk = i_item_sk and ss_item_sk = sr_item_sk
		and ss_ticket_number = sr_ticket_number and ss_item_sk = refunds.item and c_current_cdemo_sk = cd2.cd_demo_sk
		and c_current_hdemo_sk = hd2.hd_demo_sk and c_current_addr_sk = ad2.ca_address_sk and c_first_sales_date_sk = d2.d_date_sk
		and c_first_shipto_date_sk = d3.d_date_sk and ss_promo_sk = p_promo_sk and hd1.hd_income_band_sk = ib1.ib_income_band_sk
		and hd2.hd_income_band_sk = ib2.ib_income_band_sk and cd1.cd_marital_status <> cd2.cd_marital_status
		and i_current_price between 5 and 35 and ib1.ib_lower_bound >= 0 and ib2.ib_upper_bound > 0 and d2.d_year > 1997 and d3.d_year > 1997
	group by i_product_name, i_item_sk, s_store_name, s_zip, d1.d_year)
select a.product, a.store, a.zip, a.sold, a.n, a.s1, a.s2, a.s3, b.sold as again, b.n as again_n, b.s1 as again_s1, b.s2 as again_s2, b.s3 as again_s3
from crossed a, crossed b
where a.item = b.item and a.sold = 1999 and b.sold = 2000 and b.n <= a.n + 1 and a.store = b.store and a.zip = b.zip
order by a.product, a.store, a.zip, again_n, a.s1, again_s1;
