-- Shape of TPC-DS query 10: EXISTS for one channel, and EXISTS in one of two others.
-- offloaded: 1
select cd_gender, cd_marital_status, cd_education_status, count(*) as persons, max(cd_dep_count) as deps, avg(cd_purchase_estimate) as estimate
from customer c, customer_address, customer_demographics
where c_current_addr_sk = ca_address_sk and c_birth_month <= 2 and ca_county in ('county1', 'county2') and cd_demo_sk = c_current_cdemo_sk
	and exists (select from store_sales, date_dim where c_customer_sk = ss_customer_sk and ss_sold_date_sk = d_date_sk and d_year = 2001 and d_moy between 1 and 9)
	and (exists (select from web_sales, date_dim where c_customer_sk = ws_bill_customer_sk and ws_sold_date_sk = d_date_sk and d_year = 2001 and d_moy between 1 and 9)
		or exists (select from catalog_sales, date_dim where c_customer_sk = cs_ship_customer_sk and cs_sold_date_sk = d_date_sk and d_year = 2001 and d_moy between 1 and 9))
group by cd_gender, cd_marital_status, cd_education_status
order by 1, 2, 3;
