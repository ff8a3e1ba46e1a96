-- Shape of TPC-DS query 47: monthly sums, their average and rank by windows, the CTE joined with its neighbours.
-- offloaded: 1
with monthly as (
	select i_category, i_brand, s_store_name, s_company_name, d_year, d_moy, sum(ss_sales_price) as sales,
		avg(sum(ss_sales_price)) over (partition by i_category, i_brand, s_store_name, s_company_name, d_year) as average,
		rank() over (partition by i_category, i_brand, s_store_name, s_company_name order by d_year, d_moy) as rn
	from item, store_sales, date_dim, store
	where ss_item_sk = i_item_sk and ss_sold_date_sk = d_date_sk and ss_store_sk = s_store_sk
		and (d_year = 2000 or (d_year = 1999 and d_moy = 12) or (d_year = 2001 and d_moy = 1))
	group by i_category, i_brand, s_store_name, s_company_name, d_year, d_moy)
select v.i_category, v.i_brand, v.s_store_name, v.s_company_name, v.d_year, v.d_moy, v.average, v.sales, p.sales as previous, n.sales as next
from monthly v, monthly p, monthly n
where v.i_category = p.i_category and v.i_category = n.i_category and v.i_brand = p.i_brand and v.i_brand = n.i_brand
	and v.s_store_name = p.s_store_name and v.s_store_name = n.s_store_name and v.s_company_name = p.s_company_name and v.s_company_name = n.s_company_name
	and v.rn = p.rn + 1 and v.rn = n.rn - 1 and v.d_year = 2000 and v.average > 0 and abs(v.sales - v.average) / v.average > 0.1
order by v.sales - v.average, v.i_category, v.i_brand, v.s_store_name, v.s_company_name, v.d_year, v.d_moy
limit 100;
