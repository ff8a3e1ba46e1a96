-- Shape of TPC-DS query 6: a scalar sub-select for the month, a correlated average per category, HAVING.
-- offloaded: 2
select ca_state, count(*) as buyers
from customer_address, customer, store_sales, date_dim, item i
where ca_address_sk = c_current_addr_sk and c_customer_sk = ss_customer_sk and ss_sold_date_sk = d_date_sk and ss_item_sk = i_item_sk
	and d_month_seq = (select distinct d_month_seq from date_dim where d_year = 2001 and d_moy = 1)
	and i.i_current_price > 1.2 * (select avg(j.i_current_price) from item j where j.i_category = i.i_category)
group by ca_state
having count(*) >= 5
order by buyers, ca_state;
