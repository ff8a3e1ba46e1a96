-- Shape of TPC-DS query 2: two channels by UNION ALL, a pivot of weekdays, and the CTE joined with itself a year on.
-- offloaded: 1
with sold as (
	select ws_sold_date_sk as day, ws_ext_sales_price as price from web_sales
	union all
	select cs_sold_date_sk, cs_ext_sales_price from catalog_sales),
weeks as (
	select d_week_seq as week,
		sum(case when d_day_name = 'Sunday' then price end) as sun,
		sum(case when d_day_name = 'Monday' then price end) as mon,
		sum(case when d_day_name = 'Friday' then price end) as fri,
		sum(case when d_day_name = 'Saturday' then price end) as sat
	from sold join date_dim on day = d_date_sk
	group by d_week_seq)
select a.week, round(a.sun / b.sun, 2) as sun, round(a.mon / b.mon, 2) as mon, round(a.fri / b.fri, 2) as fri, round(a.sat / b.sat, 2) as sat
from (select w.* from weeks w join date_dim d on d.d_week_seq = w.week where d_year = 1999 and d_dow = 3) a
	join (select w.* from weeks w join date_dim d on d.d_week_seq = w.week where d_year = 2000 and d_dow = 3) b on a.week = b.week - 52
order by a.week;
