-- Shape of TPC-DS query 21: inventory before and after a day, and a filter on their ratio outside.
-- offloaded: 1
select *
from (select w_warehouse_name, i_item_id,
		sum(case when d_date < date '2000-04-11' then inv_quantity_on_hand else 0 end) as before,
		sum(case when d_date >= date '2000-04-11' then inv_quantity_on_hand else 0 end) as after
	from inventory, warehouse, item, date_dim
	where i_current_price between 20.00 and 60.00 and i_item_sk = inv_item_sk and inv_warehouse_sk = w_warehouse_sk and inv_date_sk = d_date_sk
		and d_date between date '2000-03-12' and date '2000-05-11'
	group by w_warehouse_name, i_item_id) x
where case when before > 0 then after::numeric / before end between 2.0 / 3 and 3.0 / 2
order by w_warehouse_name, i_item_id
limit 100;
