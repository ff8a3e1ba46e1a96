-- Shape of TPC-DS query 4: a CTE of three channels' yearly totals per customer, joined with itself six times.
-- offloaded: 1
with totals as (
	select c_customer_id as id, c_first_name as first_name, c_last_name as last_name, d_year as year, 's' as channel,
		sum(((ss_ext_list_price - ss_ext_wholesale_cost - ss_ext_discount_amt) + ss_ext_sales_price) * 0.5) as total
	from customer, store_sales, date_dim
	where c_birth_month <= 5 and c_customer_sk = ss_customer_sk and ss_sold_date_sk = d_date_sk
	group by c_customer_id, c_first_name, c_last_name, d_year
	union all
	select c_customer_id, c_first_name, c_last_name, d_year, 'c',
		sum(((cs_ext_list_price - cs_ext_wholesale_cost - cs_ext_discount_amt) + cs_ext_sales_price) * 0.5)
	from customer, catalog_sales, date_dim
	where c_birth_month <= 5 and c_customer_sk = cs_bill_customer_sk and cs_sold_date_sk = d_date_sk
	group by c_customer_id, c_first_name, c_last_name, d_year
	union all
	select c_customer_id, c_first_name, c_last_name, d_year, 'w',
		sum(((ws_ext_list_price - ws_ext_wholesale_cost - ws_ext_discount_amt) + ws_ext_sales_price) * 0.5)
	from customer, web_sales, date_dim
	where c_birth_month <= 5 and c_customer_sk = ws_bill_customer_sk and ws_sold_date_sk = d_date_sk
	group by c_customer_id, c_first_name, c_last_name, d_year)
select s2.id, s2.first_name, s2.last_name
from totals s1, totals s2, totals c1, totals c2, totals w1, totals w2
where s2.id = s1.id and s1.id = c1.id and s1.id = c2.id and s1.id = w1.id and s1.id = w2.id
	and s1.channel = 's' and s2.channel = 's' and c1.channel = 'c' and c2.channel = 'c' and w1.channel = 'w' and w2.channel = 'w'
	and s1.year = 1999 and s2.year = 2000 and c1.year = 1999 and c2.year = 2000 and w1.year = 1999 and w2.year = 2000
	and s1.total > 0 and c1.total > 0 and w1.total > 0
	and case when c1.total > 0 then c2.total / c1.total end > case when s1.total > 0 then s2.total / s1.total end
order by 1, 2, 3
limit 100;
