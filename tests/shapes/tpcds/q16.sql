-- Shape of TPC-DS query 16: count(DISTINCT), EXISTS with an inequality, NOT EXISTS.
-- offloaded: 1
select count(distinct cs_order_number) as orders, sum(cs_ext_ship_cost) as shipping, sum(cs_net_profit) as profit
from catalog_sales cs1, date_dim, customer_address, call_center
where d_date between date '2000-02-01' and date '2000-05-31' and cs1.cs_ship_date_sk = d_date_sk and cs1.cs_ship_addr_sk = ca_address_sk
	and ca_state in ('GA', 'TX', 'OH') and cs1.cs_call_center_sk = cc_call_center_sk and cc_county in ('county1', 'county2')
	and exists (select from catalog_sales cs2 where cs1.cs_order_number = cs2.cs_order_number and cs1.cs_warehouse_sk <> cs2.cs_warehouse_sk)
	and not exists (select from catalog_returns where cr_order_number = cs1.cs_order_number);
