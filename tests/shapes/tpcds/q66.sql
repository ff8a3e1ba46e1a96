-- Shape of TPC-DS query 66: a pivot of months for two channels, and the sums of their union.
-- offloaded: 1
select warehouse, area, carriers, year, sum(jan) as jan, sum(feb) as feb, sum(jun) as jun, sum(dec) as dec, sum(jan / area) as jan_per_area, sum(dec_net) as dec_net
from (select w_warehouse_name as warehouse, w_warehouse_sq_ft as area, 'carrier3' || ',' || 'carrier7' as carriers, d_year as year,
		sum(case when d_moy = 1 then ws_ext_sales_price * ws_quantity else 0 end) as jan,
		sum(case when d_moy = 2 then ws_ext_sales_price * ws_quantity else 0 end) as feb,
		sum(case when d_moy = 6 then ws_ext_sales_price * ws_quantity else 0 end) as jun,
		sum(case when d_moy = 12 then ws_ext_sales_price * ws_quantity else 0 end) as dec,
		sum(case when d_moy = 12 then ws_net_paid * ws_quantity else 0 end) as dec_net
	from web_sales, warehouse, date_dim, time_dim, ship_mode
	where ws_warehouse_sk = w_warehouse_sk and ws_sold_date_sk = d_date_sk and ws_sold_time_sk = t_time_sk and ws_ship_mode_sk = sm_ship_mode_sk
		and d_year = 2001 and t_time between 30000 and 30000 + 28800 and sm_carrier in ('carrier3', 'carrier7')
	group by w_warehouse_name, w_warehouse_sq_ft, d_year
	union all
	select w_warehouse_name, w_warehouse_sq_ft, 'carrier3' || ',' || 'carrier7', d_year,
		sum(case when d_moy = 1 then cs_sales_price * cs_quantity else 0 end), sum(case when d_moy = 2 then cs_sales_price * cs_quantity else 0 end),
		sum(case when d_moy = 6 then cs_sales_price * cs_quantity else 0 end), sum(case when d_moy = 12 then cs_sales_price * cs_quantity else 0 end),
		sum(case when d_moy = 12 then cs_net_paid * cs_quantity else 0 end)
	from catalog_sales, warehouse, date_dim, time_dim, ship_mode
	where cs_warehouse_sk = w_warehouse_sk and cs_sold_date_sk = d_date_sk and cs_sold_time_sk = t_time_sk and cs_ship_mode_sk = sm_ship_mode_sk
		and d_year = 2001 and t_time between 30000 and 30000 + 28800 and sm_carrier in ('carrier3', 'carrier7')
	group by w_warehouse_name, w_warehouse_sq_ft, d_year) x
group by warehouse, area, carriers, year
order by warehouse nulls first;
