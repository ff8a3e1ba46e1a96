-- TPC-H: its eight tables with made data, at about scale 0.02.
drop schema if exists tpch cascade;
create schema tpch;
set search_path = tpch, shapes;

create table region (r_regionkey int primary key, r_name char(25) not null, r_comment varchar(152));
insert into region select n - 1, (array['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'])[n], 'region ' || n from generate_series(1, 5) n;

create table nation (n_nationkey int primary key, n_name char(25) not null, n_regionkey int not null, n_comment varchar(152));
insert into nation
select n - 1, (array['ALGERIA', 'ARGENTINA', 'BRAZIL', 'CANADA', 'EGYPT', 'ETHIOPIA', 'FRANCE', 'GERMANY', 'INDIA', 'INDONESIA', 'IRAN', 'IRAQ',
		'JAPAN', 'JORDAN', 'KENYA', 'MOROCCO', 'MOZAMBIQUE', 'PERU', 'CHINA', 'ROMANIA', 'SAUDI ARABIA', 'VIETNAM', 'RUSSIA', 'UNITED KINGDOM', 'UNITED STATES'])[n],
	(array[0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1])[n], 'nation ' || n
from generate_series(1, 25) n;

create table supplier (
	s_suppkey int primary key, s_name char(25) not null, s_address varchar(40) not null, s_nationkey int not null, s_phone char(15) not null,
	s_acctbal numeric(15,2) not null, s_comment varchar(101) not null);
insert into supplier
select n, 'Supplier#' || lpad(n::text, 9, '0'), 'street ' || h(n, 1, 1000), n % 25, n % 25 + 10 || '-' || lpad(h(n, 2, 1000000)::text, 7, '0'),
	(h(n, 3, 1100000) - 100000) / 100.0, case when h(n, 4, 20) = 0 then 'often Customer and many Complaints' else 'quick deposits ' || n end
from generate_series(1, 200) n;

create table part (
	p_partkey int primary key, p_name varchar(55) not null, p_mfgr char(25) not null, p_brand char(10) not null, p_type varchar(25) not null,
	p_size int not null, p_container char(10) not null, p_retailprice numeric(15,2) not null, p_comment varchar(23) not null);
insert into part
select n, word(n, 1, c) || ' ' || word(n, 2, c) || ' ' || word(n, 3, c), 'Manufacturer#' || m, 'Brand#' || m || h(n, 5, 5) + 1,
	word(n, 6, '{STANDARD,SMALL,MEDIUM,LARGE,ECONOMY,PROMO}') || ' ' || word(n, 7, '{ANODIZED,BURNISHED,PLATED,POLISHED,BRUSHED}') || ' ' ||
		word(n, 8, '{TIN,NICKEL,BRASS,STEEL,COPPER}'),
	h(n, 9, 50) + 1, word(n, 10, '{SM,MED,LG,JUMBO,WRAP}') || ' ' || word(n, 11, '{CASE,BOX,BAG,JAR,PKG,PACK,CAN,DRUM}'),
	(90000 + n % 200 * 100 + n / 10) / 100.0, 'part ' || n
from (select n, h(n, 4, 5) + 1 as m, '{almond,blue,coral,forest,green,ivory,lemon,navy,orchid,plum,red,salmon,tan,white,yellow}'::text[] as c
	from generate_series(1, 4000) n) x;

create table partsupp (
	ps_partkey int not null, ps_suppkey int not null, ps_availqty int not null, ps_supplycost numeric(15,2) not null, ps_comment varchar(199) not null,
	primary key (ps_partkey, ps_suppkey));
insert into partsupp
select p, (p + i * 50) % 200 + 1, h(p * 4 + i, 1, 9999) + 1, (h(p * 4 + i, 2, 99900) + 100) / 100.0, 'partsupp ' || i
from generate_series(1, 4000) p, generate_series(0, 3) i;

create table customer (
	c_custkey int primary key, c_name varchar(25) not null, c_address varchar(40) not null, c_nationkey int not null, c_phone char(15) not null,
	c_acctbal numeric(15,2) not null, c_mktsegment char(10) not null, c_comment varchar(117) not null);
insert into customer
select n, 'Customer#' || lpad(n::text, 9, '0'), 'street ' || h(n, 1, 1000), k, k + 10 || '-' || lpad(h(n, 2, 1000000)::text, 7, '0'),
	(h(n, 3, 1100000) - 100000) / 100.0, word(n, 4, '{AUTOMOBILE,BUILDING,FURNITURE,MACHINERY,HOUSEHOLD}'), 'customer ' || n
from (select n, h(n, 5, 25) as k from generate_series(1, 3000) n) x;

create table orders (
	o_orderkey int primary key, o_custkey int not null, o_orderstatus char(1) not null, o_totalprice numeric(15,2) not null, o_orderdate date not null,
	o_orderpriority char(15) not null, o_clerk char(15) not null, o_shippriority int not null, o_comment varchar(79) not null);
-- Every third customer has no orders.
insert into orders
select n, h(n, 1, 1000) * 3 + h(n, 2, 2) + 1, case when d < date '1995-01-01' then 'F' when d > date '1995-06-17' then 'O' else 'P' end,
	(h(n, 3, 40000000) + 100000) / 100.0, d, word(n, 4, '{1-URGENT,2-HIGH,3-MEDIUM,"4-NOT SPECIFIED",5-LOW}'),
	'Clerk#' || lpad(h(n, 5, 20)::text, 9, '0'), 0, case when h(n, 6, 25) = 0 then 'the special packages and requests' else 'order ' || n end
from (select n, date '1992-01-01' + h(n, 7, 2406) as d from generate_series(1, 30000) n) x;

create table lineitem (
	l_orderkey int not null, l_partkey int not null, l_suppkey int not null, l_linenumber int not null, l_quantity numeric(15,2) not null,
	l_extendedprice numeric(15,2) not null, l_discount numeric(15,2) not null, l_tax numeric(15,2) not null, l_returnflag char(1) not null,
	l_linestatus char(1) not null, l_shipdate date not null, l_commitdate date not null, l_receiptdate date not null, l_shipinstruct char(25) not null,
	l_shipmode char(10) not null, l_comment varchar(44) not null, primary key (l_orderkey, l_linenumber));
insert into lineitem
select o_orderkey, p, (p + h(k, 6, 4) * 50) % 200 + 1, l, q, q * (90000 + p % 200 * 100 + p / 10) / 100.0, h(k, 7, 11) / 100.0, h(k, 8, 9) / 100.0,
	case when receipt > date '1995-06-17' then 'N' else word(k, 9, '{R,A}') end, case when ship > date '1995-06-17' then 'O' else 'F' end,
	ship, o_orderdate + 30 + h(k, 10, 61), receipt, word(k, 11, '{"DELIVER IN PERSON","COLLECT COD",NONE,"TAKE BACK RETURN"}'),
	word(k, 12, '{REG AIR,AIR,RAIL,SHIP,TRUCK,MAIL,FOB}'), 'line ' || l
from (select *, ship + 1 + h(k, 13, 30) as receipt
	from (select o_orderkey, o_orderdate, l, o_orderkey * 8 + l as k, h(o_orderkey * 8 + l, 1, 4000) + 1 as p, h(o_orderkey * 8 + l, 2, 50) + 1 as q,
		o_orderdate + 1 + h(o_orderkey * 8 + l, 3, 121) as ship
		from orders, generate_series(1, 7) l where l <= h(o_orderkey, 4, 7) + 1) x) y
order by k;

-- Indexes for correlated sub-selects.
create index on lineitem (l_partkey);
create index on lineitem (l_suppkey);
create index on orders (o_custkey);
create index on partsupp (ps_suppkey);
call no_autovacuum('tpch');
