-- Shape of TPC-DS query 39: deviation over mean of stock per month, the CTE joined with itself for the next month.
-- offloaded: 1
with stock as (
	select w_warehouse_sk as w, i_item_sk as i, d_moy as m, deviation, mean, case when mean <> 0 then deviation / mean end as cov
	from (select w_warehouse_sk, i_item_sk, d_moy, stddev_samp(inv_quantity_on_hand) as deviation, avg(inv_quantity_on_hand) as mean
		from inventory, item, warehouse, date_dim
		where inv_item_sk = i_item_sk and inv_warehouse_sk = w_warehouse_sk and inv_date_sk = d_date_sk and d_year = 2000
		group by w_warehouse_sk, i_item_sk, d_moy) x
	where case when mean = 0 then 0 else deviation / mean end > 1)
select a.w, a.i, a.m, a.mean, a.cov, b.m as next_month, b.mean as next_mean, b.cov as next_cov
from stock a join stock b on a.i = b.i and a.w = b.w
where a.m = 1 and b.m = 2
order by a.w, a.i, a.m, a.mean, a.cov;
