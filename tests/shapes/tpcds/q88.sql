-- Shape of TPC-DS query 88: a cross join of counts per half hour.
-- offloaded: 1
select *
from (select count(*) as h8 from store_sales, household_demographics, time_dim, store
	where ss_sold_time_sk = t_time_sk and ss_hdemo_sk = hd_demo_sk and ss_store_sk = s_store_sk and t_hour = 8 and t_minute >= 30
		and (hd_dep_count = 4 and hd_vehicle_count <= 6 or hd_dep_count = 2 and hd_vehicle_count <= 4) and s_store_name = 'ese') s1,
	(select count(*) as h9 from store_sales, household_demographics, time_dim, store
	where ss_sold_time_sk = t_time_sk and ss_hdemo_sk = hd_demo_sk and ss_store_sk = s_store_sk and t_hour = 9 and t_minute < 30
		and (hd_dep_count = 4 and hd_vehicle_count <= 6 or hd_dep_count = 2 and hd_vehicle_count <= 4) and s_store_name = 'ese') s2,
	(select count(*) as h10 from store_sales, household_demographics, time_dim, store
	where ss_sold_time_sk = t_time_sk and ss_hdemo_sk = hd_demo_sk and ss_store_sk = s_store_sk and t_hour = 10 and t_minute >= 30
		and (hd_dep_count = 4 and hd_vehicle_count <= 6 or hd_dep_count = 2 and hd_vehicle_count <= 4) and s_store_name = 'ese') s3,
	(select count(*) as h11 from store_sales, household_demographics, time_dim, store
	where ss_sold_time_sk = t_time_sk and ss_hdemo_sk = hd_demo_sk and ss_store_sk = s_store_sk and t_hour = 11 and t_minute < 30
		and (hd_dep_count = 4 and hd_vehicle_count <= 6 or hd_dep_count = 2 and hd_vehicle_count <= 4) and s_store_name = 'ese') s4;
