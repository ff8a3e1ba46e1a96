-- Shape of TPC-DS query 74: a CTE of two channels' maxima per customer, joined with itself four times.
-- offloaded: 1
with totals as (
	select c_customer_id as id, c_first_name as first_name, c_last_name as last_name, d_year as year, max(ss_net_paid) as total, 's' as channel
	from customer, store_sales, date_dim
	where c_birth_month <= 5 and c_customer_sk = ss_customer_sk and ss_sold_date_sk = d_date_sk and d_year in (2000, 2001)
	group by c_customer_id, c_first_name, c_last_name, d_year
	union all
	select c_customer_id, c_first_name, c_last_name, d_year, max(ws_net_paid), 'w'
	from customer, web_sales, date_dim
	where c_birth_month <= 5 and c_customer_sk = ws_bill_customer_sk and ws_sold_date_sk = d_date_sk and d_year in (2000, 2001)
	group by c_customer_id, c_first_name, c_last_name, d_year)
select s2.id, s2.first_name, s2.last_name
from totals s1, totals s2, totals w1, totals w2
where s2.id = s1.id and w1.id = s1.id and w2.id = s1.id and s1.channel = 's' and s2.channel = 's' and w1.channel = 'w' and w2.channel = 'w'
	and s1.year = 2000 and s2.year = 2001 and w1.year = 2000 and w2.year = 2001 and s1.total > 0 and w1.total > 0
	and case when w1.total > 0 then w2.total / w1.total end > case when s1.total > 0 then s2.total / s1.total end
order by s2.first_name, s2.id, s2.last_name
limit 100;
