-- Shape of TPC-DS query 18: averages of many columns by ROLLUP over places, a table joined twice.
-- offloaded: 1
select i_item_id, ca_country, ca_state, ca_county, avg(cs_quantity::numeric(12,2)) as quantity, avg(cs_list_price::numeric(12,2)) as price,
	avg(cs_coupon_amt::numeric(12,2)) as coupon, avg(c_birth_year::numeric(12,2)) as birth, avg(cd1.cd_dep_count::numeric(12,2)) as deps
from catalog_sales, customer_demographics cd1, customer_demographics cd2, customer, customer_address, date_dim, item
where cs_sold_date_sk = d_date_sk and cs_item_sk = i_item_sk and cs_bill_cdemo_sk = cd1.cd_demo_sk and cs_bill_customer_sk = c_customer_sk
	and cd1.cd_gender = 'F' and cd1.cd_education_status in ('Unknown', 'College', 'Primary') and c_current_cdemo_sk = cd2.cd_demo_sk
	and c_current_addr_sk = ca_address_sk and c_birth_month in (1, 6, 8, 9, 12, 2) and d_year = 2001 and ca_state in ('TN', 'GA', 'TX', 'OH', 'CA')
group by rollup (i_item_id, ca_country, ca_state, ca_county)
order by ca_country nulls first, ca_state nulls first, ca_county nulls first, i_item_id nulls first, quantity, price, coupon, birth, deps
limit 150;
