-- Shape of TPC-DS query 44: best and worst items by rank over averages, with HAVING over a scalar sub-select.
-- offloaded: 3
select best.rank, i1.i_product_name as best, i2.i_product_name as worst
from (select * from (select item_sk, rank() over (order by profit) as rank
		from (select ss_item_sk as item_sk, avg(ss_net_profit) as profit
			from store_sales s1 where ss_store_sk = 4 group by ss_item_sk
			having avg(ss_net_profit) > 0.9 * (select avg(ss_net_profit) from store_sales where ss_store_sk = 4 and ss_promo_sk is null)) x) y where rank < 11) worst,
	(select * from (select item_sk, rank() over (order by profit desc) as rank
		from (select ss_item_sk as item_sk, avg(ss_net_profit) as profit
			from store_sales s1 where ss_store_sk = 4 group by ss_item_sk
			having avg(ss_net_profit) > 0.9 * (select avg(ss_net_profit) from store_sales where ss_store_sk = 4 and ss_promo_sk is null)) x) y where rank < 11) best,
	item i1, item i2
where worst.rank = best.rank and i1.i_item_sk = best.item_sk and i2.i_item_sk = worst.item_sk
order by best.rank, best, worst;
