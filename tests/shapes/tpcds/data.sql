-- TPC-DS: the tables and columns that the queries use, with made data.
-- Customers buy on few days of their own, in all channels.  So INTERSECT finds something.
-- One of five catalog and web orders buys again what a store ticket bought.
drop schema if exists tpcds cascade;
create schema tpcds;
set search_path = tpcds, shapes;

create table date_dim (
	d_date_sk int primary key, d_date_id char(16) not null, d_date date not null, d_month_seq int, d_week_seq int,
	d_quarter_seq int, d_year int, d_dow int, d_moy int, d_dom int, d_qoy int, d_day_name char(9),
	d_quarter_name char(6), d_holiday char(1), d_weekend char(1));
insert into date_dim
select 2450815 + n, 'AAAAAAAA' || lpad(n::text, 8, '0'), d, (y - 1900) * 12 + m - 1, (d - date '1900-01-01') / 7,
	(y - 1900) * 4 + (m - 1) / 3, y, extract(dow from d), m, extract(day from d), (m - 1) / 3 + 1,
	trim(to_char(d, 'Day')), y || 'Q' || (m - 1) / 3 + 1, case when h(n, 1, 30) = 0 then 'Y' else 'N' end,
	case when extract(dow from d) in (0, 6) then 'Y' else 'N' end
from (select n, date '1998-01-01' + n as d, extract(year from date '1998-01-01' + n)::int as y,
	extract(month from date '1998-01-01' + n)::int as m from generate_series(0, 2190) n) s;

create table time_dim (
	t_time_sk int primary key, t_time int not null, t_hour int, t_minute int, t_am_pm char(2), t_shift char(20),
	t_meal_time char(20));
insert into time_dim
select n + 1, n * 60, n / 60, n % 60, case when n < 720 then 'AM' else 'PM' end,
	(array['third', 'first', 'second'])[n / 480 + 1],
	case when n / 60 between 6 and 8 then 'breakfast' when n / 60 between 11 and 13 then 'lunch'
		when n / 60 between 17 and 20 then 'dinner' end
from generate_series(0, 1439) n;

create table item (
	i_item_sk int primary key, i_item_id char(16) not null, i_item_desc varchar(200), i_current_price numeric(7,2),
	i_wholesale_cost numeric(7,2), i_brand_id int, i_brand char(50), i_class_id int, i_class char(50),
	i_category_id int, i_category char(50), i_manufact_id int, i_manufact char(50), i_size char(20), i_color char(20),
	i_units char(10), i_manager_id int, i_product_name char(50));
-- Two items share an id, as the revisions of a product do.
insert into item
select n, 'AAAAAAAA' || lpad(((n + 1) / 2)::text, 8, '0'), 'Item of ' || word(n, 9, '{steel,wood,wool,glass,paper}') || ' no. ' || h(n, 8, 1200),
	case when h(n, 1, 40) > 0 then (h(n, 2, 9900) + 99) / 100.0 end, (h(n, 3, 6000) + 50) / 100.0,
	c * 1000000 + s * 1000 + b, 'brand' || b || ' of ' || c, s, 'class' || s, c,
	case when h(n, 4, 40) > 0 then (array['Books', 'Children', 'Electronics', 'Home', 'Jewelry', 'Men', 'Music', 'Shoes', 'Sports', 'Women'])[c] end,
	fk(n, 5, 200), 'manufact' || h(n, 5, 200) + 1, word(n, 6, '{small,medium,large,"extra large",petite,N/A}'),
	word(n, 7, '{red,orange,yellow,green,blue,indigo,violet,black,white,salmon}'),
	word(n, 10, '{Each,Dozen,Case,Pallet,Gross,Ton}'), h(n, 11, 100) + 1, 'product' || lpad(n::text, 6, '0')
from (select n, h(n, 21, 10) + 1 as c, h(n, 22, 8) + 1 as s, h(n, 23, 6) + 1 as b from generate_series(1, 2000) n) x;

create table income_band (ib_income_band_sk int primary key, ib_lower_bound int, ib_upper_bound int);
insert into income_band select n, (n - 1) * 10000, n * 10000 from generate_series(1, 20) n;

create table household_demographics (
	hd_demo_sk int primary key, hd_income_band_sk int, hd_buy_potential char(15), hd_dep_count int, hd_vehicle_count int);
insert into household_demographics
select n, n % 20 + 1, (array['0-500', '501-1000', '1001-5000', '5001-10000', '>10000', 'Unknown'])[n / 20 % 6 + 1],
	n / 120 % 10, n / 1200 % 6 - 1
from generate_series(1, 7200) n;

create table customer_demographics (
	cd_demo_sk int primary key, cd_gender char(1), cd_marital_status char(1), cd_education_status char(20),
	cd_purchase_estimate int, cd_credit_rating char(10), cd_dep_count int, cd_dep_employed_count int, cd_dep_college_count int);
insert into customer_demographics
select n, (array['M', 'F'])[n % 2 + 1], (array['M', 'S', 'D', 'W', 'U'])[n / 2 % 5 + 1],
	(array['Primary', 'Secondary', 'College', '2 yr Degree', '4 yr Degree', 'Advanced Degree', 'Unknown'])[n / 10 % 7 + 1],
	(n / 70 % 4 + 1) * 500, (array['Good', 'High Risk', 'Low Risk', 'Unknown'])[n / 280 % 4 + 1], n / 1120 % 7, h(n, 1, 7), h(n, 2, 7)
from generate_series(1, 7840) n;

create table customer_address (
	ca_address_sk int primary key, ca_address_id char(16) not null, ca_street_number char(10), ca_street_name varchar(60),
	ca_city varchar(60), ca_county varchar(30), ca_state char(2), ca_zip char(10), ca_country varchar(20),
	ca_gmt_offset numeric(5,2), ca_location_type char(20));
insert into customer_address
select n, 'AAAAAAAA' || lpad(n::text, 8, '0'), h(n, 1, 999)::text, word(n, 2, '{Main,Oak,Park,Elm,Lake,Hill}') || ' ' || h(n, 3, 50),
	'city' || skew(n, 4, 60), 'county' || h(n, 5, 30),
	case when h(n, 6, 30) > 0 then word(n, 7, '{TN,GA,TX,OH,CA,IL,KY,NY,VA,MI}') end, (10000 + h(n, 8, 400) * 173)::text,
	case when h(n, 9, 30) > 0 then 'United States' end, -(h(n, 10, 4) + 5), word(n, 11, '{apartment,condo,"single family"}')
from generate_series(1, 2500) n;

create table customer (
	c_customer_sk int primary key, c_customer_id char(16) not null, c_current_cdemo_sk int, c_current_hdemo_sk int,
	c_current_addr_sk int, c_first_shipto_date_sk int, c_first_sales_date_sk int, c_salutation char(10),
	c_first_name char(20), c_last_name char(30), c_preferred_cust_flag char(1), c_birth_day int, c_birth_month int,
	c_birth_year int, c_birth_country varchar(20), c_email_address char(50));
insert into customer
select n, 'AAAAAAAA' || lpad(n::text, 8, '0'), fk(n, 1, 7840), fk(n, 2, 7200), h(n, 3, 2500) + 1, 2450815 + h(n, 4, 1826),
	2450815 + h(n, 5, 1826), word(n, 6, '{Mr.,Mrs.,Dr.,Ms.,Sir}'),
	case when h(n, 7, 30) > 0 then 'First' || h(n, 8, 300) end, case when h(n, 9, 30) > 0 then 'Last' || h(n, 10, 600) end,
	word(n, 11, '{Y,N,NULL}'), h(n, 12, 28) + 1, fk(n, 13, 12), 1924 + h(n, 14, 69),
	word(n, 15, '{GERMANY,JAPAN,BRAZIL,KENYA,NORWAY,"UNITED STATES"}'), 'c' || n || '@example.org'
from generate_series(1, 5000) n;

create table store (
	s_store_sk int primary key, s_store_id char(16) not null, s_store_name varchar(50), s_number_employees int,
	s_floor_space int, s_market_id int, s_company_name varchar(50), s_city varchar(60), s_county varchar(30), s_state char(2),
	s_zip char(10), s_gmt_offset numeric(5,2));
insert into store
select n, 'AAAAAAAA' || lpad(((n + 1) / 2)::text, 8, '0'), (array['able', 'bar', 'cally', 'eing', 'ese', 'ought'])[n % 6 + 1],
	200 + h(n, 1, 100), 5000000 + h(n, 2, 4000000), n % 4 + 5, 'company' || n % 2, 'city' || n % 5, 'county' || n % 4,
	(array['TN', 'GA', 'TX'])[n % 3 + 1], (10000 + h(n, 8, 400) * 173)::text, -5 - n % 2
from generate_series(1, 12) n;

create table promotion (
	p_promo_sk int primary key, p_promo_id char(16) not null, p_channel_dmail char(1), p_channel_email char(1),
	p_channel_tv char(1), p_channel_event char(1));
insert into promotion
select n, 'AAAAAAAA' || lpad(n::text, 8, '0'), word(n, 1, '{Y,N}'), word(n, 2, '{N,N,N,Y}'), word(n, 3, '{N,N,Y}'), word(n, 4, '{N,Y}')
from generate_series(1, 100) n;

create table warehouse (
	w_warehouse_sk int primary key, w_warehouse_name varchar(20), w_warehouse_sq_ft int, w_city varchar(60),
	w_county varchar(30), w_state char(2), w_country varchar(20));
insert into warehouse
select n, case when n < 5 then 'warehouse ' || n end, 100000 * n + 1234, 'city' || n % 3, 'county' || n % 2,
	(array['TN', 'GA', 'TX'])[n % 3 + 1], 'United States'
from generate_series(1, 5) n;

create table ship_mode (sm_ship_mode_sk int primary key, sm_type char(30), sm_code char(10), sm_carrier char(20));
insert into ship_mode
select n, (array['EXPRESS', 'OVERNIGHT', 'REGULAR', 'TWO DAY', 'LIBRARY'])[n % 5 + 1], (array['AIR', 'SEA', 'SURFACE', 'BIKE'])[n % 4 + 1],
	'carrier' || n
from generate_series(1, 20) n;

create table web_site (web_site_sk int primary key, web_site_id char(16) not null, web_name varchar(50), web_company_name char(50));
insert into web_site
select n, 'AAAAAAAA' || lpad(n::text, 8, '0'), 'site_' || n / 3, (array['pri', 'ought', 'able', 'cally'])[n % 4 + 1] from generate_series(1, 10) n;

create table web_page (wp_web_page_sk int primary key, wp_char_count int, wp_type char(50));
insert into web_page select n, 2000 + h(n, 1, 6000), word(n, 2, '{order,feedback,general,welcome}') from generate_series(1, 40) n;

create table call_center (cc_call_center_sk int primary key, cc_call_center_id char(16) not null, cc_name varchar(50), cc_manager varchar(40), cc_county varchar(30));
insert into call_center
select n, 'AAAAAAAA' || lpad(n::text, 8, '0'), 'center ' || n, 'manager' || n % 4, 'county' || n % 3 from generate_series(1, 6) n;

create table catalog_page (cp_catalog_page_sk int primary key, cp_catalog_page_id char(16) not null, cp_type varchar(100));
insert into catalog_page select n, 'AAAAAAAA' || lpad(n::text, 8, '0'), word(n, 1, '{bi-annual,quarterly,monthly}') from generate_series(1, 200) n;

create table reason (r_reason_sk int primary key, r_reason_desc char(100));
insert into reason select n, 'reason ' || n from generate_series(1, 35) n;

create table inventory (
	inv_date_sk int not null, inv_item_sk int not null, inv_warehouse_sk int not null, inv_quantity_on_hand int,
	primary key (inv_date_sk, inv_item_sk, inv_warehouse_sk));
-- Forty weeks from 2000-01-01 on.
insert into inventory
select 2450815 + 730 + week * 7, i * 4, w, case when h(k, 1, 25) > 0 then case when h(k, 4, 40) = 0 then 20000 else skew(k, 2, 1000) end end
from (select *, (week * 5 + w) * 1000 + i as k
	from generate_series(0, 39) week, generate_series(1, 500) i, generate_series(1, 5) w) x;

-- Sales: ch 1 in stores, 2 by catalog, 3 in the web; t is the ticket or order, l its line.
create temp table line as
select *, q * sp - coupon as paid, round((q * sp - coupon) * h(k, 8, 10) / 100, 2) as tax, q * sp - coupon - q * wc as profit
from (select *, case when h(k, 5, 5) = 0 then round(q * sp * h(k, 6, 50) / 100, 2) else 0 end as coupon
from (select *, round(lp * h(k, 4, 101) / 100, 2) as sp
from (select *, round(wc * (100 + h(k, 3, 100)) / 100, 2) as lp
from (select ch, k, t, l, src, case when h(k, 40, 30) > 0 then c end as cust, c % 2500 + 1 as addr,
	2450815 + h(c * 8 + h(src, 12, 8), 13, 1800) + case when src <= 10000 and ch > 1 then 25 else 0 end as day,
	(skew(src, 14, 2000) + l * 37) % 2000 + 1 as item, h(k, 1, 100) + 1 as q, ((h(k, 2, 9900) + 100) / 100.0)::numeric(7,2) as wc
from (select *, skew(src, 11, 5000) + 1 as c
from (select ch, t, l, (ch * 20000 + t) * 8 + l as k, case when ch = 1 or t % 5 = ch - 2 then t else ch * 20000 + t end as src
from (values (1, 10000, 8), (2, 10000, 5), (3, 6000, 5)) v(ch, tickets, lines), generate_series(1, tickets) t, generate_series(1, lines) l
) a) b) c) d) e) f;

create table store_sales (
	ss_sold_date_sk int, ss_sold_time_sk int, ss_item_sk int not null, ss_customer_sk int, ss_cdemo_sk int, ss_hdemo_sk int,
	ss_addr_sk int, ss_store_sk int, ss_promo_sk int, ss_ticket_number int not null, ss_quantity int,
	ss_wholesale_cost numeric(7,2), ss_list_price numeric(7,2), ss_sales_price numeric(7,2), ss_ext_discount_amt numeric(7,2),
	ss_ext_sales_price numeric(7,2), ss_ext_wholesale_cost numeric(7,2), ss_ext_list_price numeric(7,2), ss_ext_tax numeric(7,2),
	ss_coupon_amt numeric(7,2), ss_net_paid numeric(7,2), ss_net_profit numeric(7,2), primary key (ss_item_sk, ss_ticket_number));
insert into store_sales
select case when h(k, 50, 40) > 0 then day end, fk(t, 51, 1440), item, cust, fk(t, 52, 7840), fk(t, 53, 7200), case when h(k, 54, 30) > 0 then addr end,
	fk(t, 55, 12), fk(k, 56, 100), t, case when h(k, 57, 40) > 0 then q end, wc, lp, sp, q * (lp - sp), q * sp, q * wc, q * lp, tax, coupon, paid, profit
from line where ch = 1 order by t, l;

create table store_returns (
	sr_returned_date_sk int, sr_item_sk int not null, sr_customer_sk int, sr_cdemo_sk int, sr_store_sk int, sr_reason_sk int,
	sr_ticket_number int not null, sr_return_quantity int, sr_return_amt numeric(7,2), sr_fee numeric(7,2), sr_net_loss numeric(7,2),
	primary key (sr_item_sk, sr_ticket_number));
insert into store_returns
select case when h(k, 60, 40) > 0 then day + 2 + h(k, 61, 20) end, item, cust, fk(t, 52, 7840), fk(t, 55, 12), fk(k, 62, 35), t,
	case when h(k, 63, 40) > 0 then h(k, 64, q) + 1 end, round(paid * (h(k, 64, q) + 1) / q, 2), h(k, 65, 10000) / 100.0, round(paid / 4, 2)
from line where ch = 1 and h(k, 66, 4) = 0 order by t, l;

create table catalog_sales (
	cs_sold_date_sk int, cs_sold_time_sk int, cs_ship_date_sk int, cs_bill_customer_sk int, cs_bill_cdemo_sk int, cs_bill_hdemo_sk int,
	cs_bill_addr_sk int, cs_ship_customer_sk int, cs_ship_addr_sk int, cs_call_center_sk int, cs_catalog_page_sk int, cs_ship_mode_sk int,
	cs_warehouse_sk int, cs_item_sk int not null, cs_promo_sk int, cs_order_number int not null, cs_quantity int,
	cs_wholesale_cost numeric(7,2), cs_list_price numeric(7,2), cs_sales_price numeric(7,2), cs_ext_discount_amt numeric(7,2),
	cs_ext_sales_price numeric(7,2), cs_ext_wholesale_cost numeric(7,2), cs_ext_list_price numeric(7,2), cs_coupon_amt numeric(7,2),
	cs_ext_ship_cost numeric(7,2), cs_net_paid numeric(7,2), cs_net_profit numeric(7,2), primary key (cs_item_sk, cs_order_number));
insert into catalog_sales
select case when h(k, 50, 40) > 0 then day end, fk(t, 51, 1440), day + 2 + h(k, 58, 120), cust, fk(t, 52, 7840), fk(t, 53, 7200),
	case when h(k, 54, 30) > 0 then addr end, cust, case when h(k, 54, 30) > 0 then addr end, fk(t, 55, 6), fk(k, 59, 200), fk(k, 71, 20),
	fk(k, 72, 5), item, fk(k, 56, 100), t, case when h(k, 57, 40) > 0 then q end, wc, lp, sp, q * (lp - sp), q * sp, q * wc, q * lp, coupon,
	round(q * lp * h(k, 73, 30) / 100, 2), paid, profit
from line where ch = 2 order by t, l;

create table catalog_returns (
	cr_returned_date_sk int, cr_item_sk int not null, cr_returning_customer_sk int, cr_returning_addr_sk int, cr_call_center_sk int,
	cr_catalog_page_sk int, cr_reason_sk int, cr_order_number int not null, cr_return_quantity int, cr_return_amount numeric(7,2),
	cr_refunded_cash numeric(7,2), cr_store_credit numeric(7,2), cr_net_loss numeric(7,2), primary key (cr_item_sk, cr_order_number));
insert into catalog_returns
select case when h(k, 60, 40) > 0 then day + 2 + h(k, 61, 20) end, item, cust, addr, fk(t, 55, 6), fk(k, 59, 200), fk(k, 62, 35), t,
	case when h(k, 63, 40) > 0 then h(k, 64, q) + 1 end, round(paid * (h(k, 64, q) + 1) / q, 2), round(paid / 5, 2), round(paid / 7, 2), round(paid / 4, 2)
from line where ch = 2 and h(k, 66, 4) = 0 order by t, l;

create table web_sales (
	ws_sold_date_sk int, ws_sold_time_sk int, ws_ship_date_sk int, ws_item_sk int not null, ws_bill_customer_sk int, ws_bill_cdemo_sk int,
	ws_bill_addr_sk int, ws_ship_customer_sk int, ws_ship_hdemo_sk int, ws_ship_addr_sk int, ws_web_page_sk int, ws_web_site_sk int,
	ws_ship_mode_sk int, ws_warehouse_sk int, ws_promo_sk int, ws_order_number int not null, ws_quantity int, ws_wholesale_cost numeric(7,2),
	ws_list_price numeric(7,2), ws_sales_price numeric(7,2), ws_ext_discount_amt numeric(7,2), ws_ext_sales_price numeric(7,2),
	ws_ext_wholesale_cost numeric(7,2), ws_ext_list_price numeric(7,2), ws_ext_ship_cost numeric(7,2), ws_net_paid numeric(7,2),
	ws_net_profit numeric(7,2), primary key (ws_item_sk, ws_order_number));
insert into web_sales
select case when h(k, 50, 40) > 0 then day end, fk(t, 51, 1440), day + 2 + h(k, 58, 120), item, cust, fk(t, 52, 7840),
	case when h(k, 54, 30) > 0 then addr end, cust, fk(t, 53, 7200), case when h(k, 54, 30) > 0 then addr end, fk(k, 55, 40), fk(t, 59, 10),
	fk(k, 71, 20), fk(k, 72, 5), fk(k, 56, 100), t, case when h(k, 57, 40) > 0 then q end, wc, lp, sp, q * (lp - sp), q * sp, q * wc, q * lp,
	round(q * lp * h(k, 73, 30) / 100, 2), paid, profit
from line where ch = 3 order by t, l;

create table web_returns (
	wr_returned_date_sk int, wr_item_sk int not null, wr_refunded_cdemo_sk int, wr_refunded_addr_sk int, wr_returning_customer_sk int,
	wr_web_page_sk int, wr_reason_sk int, wr_order_number int not null, wr_return_quantity int, wr_return_amt numeric(7,2), wr_fee numeric(7,2),
	wr_refunded_cash numeric(7,2), wr_net_loss numeric(7,2), primary key (wr_item_sk, wr_order_number));
insert into web_returns
select case when h(k, 60, 40) > 0 then day + 2 + h(k, 61, 20) end, item, fk(t, 52, 7840), addr, cust, fk(k, 55, 40), fk(k, 62, 35), t,
	case when h(k, 63, 40) > 0 then h(k, 64, q) + 1 end, round(paid * (h(k, 64, q) + 1) / q, 2), h(k, 65, 10000) / 100.0, round(paid / 5, 2), round(paid / 4, 2)
from line where ch = 3 and h(k, 66, 4) = 0 order by t, l;

drop table line;
call no_autovacuum('tpcds');
