-- Shape of TPC-DS query 70: ROLLUP with GROUPING(), a rank within each level, IN of states ranked by a window.
-- offloaded: 1
select sum(ss_net_profit) as total, s_state, s_county, grouping(s_state) + grouping(s_county) as level,
	rank() over (partition by grouping(s_state) + grouping(s_county), case when grouping(s_county) = 0 then s_state end order by sum(ss_net_profit) desc) as rank_in_parent
from store_sales, date_dim d1, store
where d1.d_month_seq between 1200 and 1211 and d1.d_date_sk = ss_sold_date_sk and s_store_sk = ss_store_sk
	and s_state in (select state from (select s_state as state, rank() over (partition by s_state order by sum(ss_net_profit) desc) as ranking
		from store_sales, store, date_dim
		where d_month_seq between 1200 and 1211 and d_date_sk = ss_sold_date_sk and s_store_sk = ss_store_sk
		group by s_state) x where ranking <= 5)
group by rollup (s_state, s_county)
order by level desc, case when grouping(s_state) + grouping(s_county) = 0 then s_state end, rank_in_parent, s_state, s_county;
