-- Shape of TPC-DS query 95: a CTE of a fact joined with itself, used by two IN sub-selects.
-- offloaded: 1
with split as (
	select ws1.ws_order_number, ws1.ws_warehouse_sk as w1, ws2.ws_warehouse_sk as w2
	from web_sales ws1, web_sales ws2
	where ws1.ws_order_number = ws2.ws_order_number and ws1.ws_warehouse_sk <> ws2.ws_warehouse_sk)
select count(distinct ws_order_number) as orders, sum(ws_ext_ship_cost) as shipping, sum(ws_net_profit) as profit
from web_sales ws1, date_dim, customer_address, web_site
where d_date between date '1999-02-01' and date '1999-07-31' and ws1.ws_ship_date_sk = d_date_sk and ws1.ws_ship_addr_sk = ca_address_sk
	and ca_state in ('TN', 'GA', 'TX') and ws1.ws_web_site_sk = web_site_sk and web_company_name in ('pri', 'able')
	and ws1.ws_order_number in (select ws_order_number from split)
	and ws1.ws_order_number in (select wr_order_number from web_returns, split where wr_order_number = split.ws_order_number);
