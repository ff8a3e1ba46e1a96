-- Shape of TPC-DS query 11: a CTE of two channels' totals per customer, joined with itself four times.
-- offloaded: 1
with totals as (
	select c_customer_id as id, c_preferred_cust_flag as flag, d_year as year, sum(ss_ext_list_price - ss_ext_discount_amt) as total, 's' as channel
	from customer, store_sales, date_dim
	where c_birth_month <= 5 and c_customer_sk = ss_customer_sk and ss_sold_date_sk = d_date_sk
	group by c_customer_id, c_preferred_cust_flag, d_year
	union all
	select c_customer_id, c_preferred_cust_flag, d_year, sum(ws_ext_list_price - ws_ext_discount_amt), 'w'
	from customer, web_sales, date_dim
	where c_birth_month <= 5 and c_customer_sk = ws_bill_customer_sk and ws_sold_date_sk = d_date_sk
	group by c_customer_id, c_preferred_cust_flag, d_year)
select s2.id, s2.flag, s1.total as s1, s2.total as s2, w1.total as w1, w2.total as w2
from totals s1 join totals s2 using (id) join totals w1 using (id) join totals w2 using (id)
where s1.channel = 's' and s2.channel = 's' and w1.channel = 'w' and w2.channel = 'w'
	and s1.year = 2000 and s2.year = 2001 and w1.year = 2000 and w2.year = 2001 and s1.total > 0 and w1.total > 0
	and case when w1.total > 0 then w2.total / w1.total else 0 end > case when s1.total > 0 then s2.total / s1.total else 0 end
order by s2.id
limit 100;
