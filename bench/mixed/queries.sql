-- Queries that are not offloaded, or only in part, or that PostgreSQL answers soonest.  A query begins by
-- "-- name: NAME [any]": "any" where its rows are not determined, so that only their number is compared.
-- Schemas mixed, ssb and tpch are on the search path as tables' names need them: m_ mixed, s_ ssb, t_ tpch.

-- name: m_lookup_pk
select * from events where id = 4711;
-- name: m_lookup_user
select id, amount from events where user_id = 4711 order by id;
-- name: m_lookup_agg
select count(*), sum(amount) from events where user_id = 4711;
-- name: m_lookup_in
select sum(amount) from events where id in (3, 77, 1234, 99999, 123456);
-- name: m_range_small
select sum(amount) from events where id between 1000 and 1200;
-- name: m_max_indexed
select max(id), min(id) from events;
-- name: m_top1
select id, at from events order by id desc limit 1;
-- name: m_top10_unindexed
select id, amount from events order by amount desc, id limit 10;
-- name: m_limit_any any
select id, kind, at from events where kind = 5 limit 10;
-- name: m_limit_all any
select * from events limit 100;
-- name: m_limit_join any
select e.id, t.name from events e join tiny t on e.kind = t.id limit 20;
-- name: m_limit_group any
select user_id, count(*) from events group by user_id limit 5;
-- name: m_exists_any
select exists (select 1 from events where kind = 3);
-- name: m_tiny_scan
select * from tiny order by id;
-- name: m_tiny_agg
select g, count(*) from tiny group by g order by g;
-- name: m_tiny_join
select a.name, b.name from tiny a join tiny b on a.g = b.id order by 1, 2;
-- name: m_selective_outer
select sum(e.amount) from tiny t join events e on e.user_id = t.id where t.name = 'name 7';
-- name: m_selective_outer_rows
select e.id, t.name from tiny t join events e on e.user_id = t.id where t.id in (3, 4) order by 1;
-- name: m_nested_loop_lateral
select t.id, x.c from tiny t, lateral (select count(*) c from events e where e.user_id = t.id) x order by 1;
-- name: m_lateral_unindexed
select t.id, x.c from (select * from tiny limit 5) t,
	lateral (select count(*) c from urls where g = t.id) x order by 1;
-- name: m_lateral_top
select t.id, x.id from tiny t, lateral (select e.id from events e where e.user_id = t.id order by e.id desc limit 2) x
order by 1, 2;
-- name: m_correlated_agg
select count(*) from tiny t where t.id < (select count(*) from events e where e.user_id = t.id);
-- name: m_correlated_target
select t.id, (select max(e.amount) from events e where e.user_id = t.id and e.kind <> t.g) from tiny t order by 1;
-- name: m_or_exists
select count(*) from orders1 o, c1 where o.k = c1.id and
	(exists (select 1 from ws, dd where ws.c = c1.id and ws.d = dd.d and y = 2002) or g = 6);
-- name: m_or_exists_none
select count(*) from orders1 o, c1 where o.k = c1.id and
	(exists (select 1 from ws, dd where ws.c = c1.id and ws.d = dd.d and y = 2002) or g = 9);
-- name: m_exists_small
select count(*) from orders1 o where exists (select 1 from c1 where c1.id = o.k and c1.g = 3);
-- name: m_not_exists_small
select count(*) from orders1 o where not exists (select 1 from ws where ws.c = o.k);
-- name: m_min_text
select min(u) from urls where g = 7;
-- name: m_count_distinct_text
select count(distinct u) from urls where g < 20;
-- name: m_like
select count(*) from urls where u like '%abcd%';
-- name: m_text_group
select left(u, 25) p, count(*) from urls group by 1 order by 2 desc, 1 limit 5;
-- name: m_text_rows
select u from urls where g = 3 order by u;
-- name: m_all_rows
select i, g, u from urls;
-- name: m_many_groups
select user_id, count(*), sum(amount) from events group by user_id;
-- name: m_unique_groups
select id, sum(amount) from events group by id;
-- name: m_group_sorted
select id, kind, sum(amount) from events group by id, kind order by id limit 10;
-- name: m_distinct_on
select distinct on (kind) kind, id, amount from events order by kind, amount desc, id;
-- name: m_distinct_on_indexed
select distinct on (user_id) user_id, id from events where user_id < 100 order by user_id, id;
-- name: m_distinct
select distinct kind from events order by 1;
-- name: m_rollup
select kind, user_id % 10, count(*), sum(amount) from events group by rollup (kind, user_id % 10) order by 1, 2;
-- name: m_cube_many
select user_id, kind, sum(amount) from events where kind < 20 group by cube (user_id, kind) order by 1, 2, 3 limit 100;
-- name: m_rollup_rank
select * from (select kind, user_id, sum(amount) s, rank() over (partition by kind order by sum(amount) desc) r
	from events group by rollup (kind, user_id)) x where r <= 3 order by 1, 4, 2, 3;
-- name: m_window_running
select id, sum(amount) over (order by id) from events where user_id < 500 order by id;
-- name: m_window_rank
select * from (select id, kind, amount, rank() over (partition by kind order by amount desc, id) r from events) x
where r = 1 order by kind;
-- name: m_window_groups
select kind, sum(amount), sum(sum(amount)) over (order by kind) from events group by kind order by kind;
-- name: m_window_least
select kind, count(*), max(least) from (select kind, amount, min(amount) over (partition by kind order by id rows 100 preceding) as least
	from events) x where amount > 2 * least group by kind order by kind;
-- name: m_window_range
select kind, max(n) from (select kind, count(*) over (partition by kind order by amount::float8 range 0.25 preceding) as n from events) x
group by kind order by kind;
-- name: m_window_floats
select id, avg(amount::float8) over (partition by kind order by id rows 20 preceding) from events where user_id < 500 order by id;
-- name: m_in_long
select count(*) from events where user_id = any (array(select i * 3 from generate_series(1, 2000) i));
-- name: m_in_values
select sum(amount) from events e join (values (1), (5), (9), (100)) v(x) on e.user_id = v.x;
-- name: m_wide_rows
select * from wide where a = 3 order by id;
-- name: m_wide_one
select * from wide where id = 77;
-- name: m_wide_filter
select id, pad from wide where c6 = 5 and c7 = 7 order by id;
-- name: m_jsonb
select doc ->> 'k', count(*) from docs group by 1 order by 1;
-- name: m_array
select count(*) from docs where 3 = any (arr);
-- name: m_uuid
select id from docs where uid = md5('77')::uuid;
-- name: m_float
select round(sum(f)::numeric, 3), count(*) from docs where f > 3;
-- name: m_self_join
select count(*) from ints a join ints b on a.i = b.r where a.s = 5;
-- name: m_merge_join
select count(*) from ints a join events b on a.i = b.id where a.i < 2000;
-- name: m_anti_indexed
select count(*) from ints a where a.i < 500 and not exists (select 1 from events b where b.id = a.i);
-- name: m_union_all
select sum(x) from (select i as x from ints where s = 1 union all select id from events where kind = 1) y;
-- name: m_cte_twice
with q as (select kind, sum(amount) s from events group by kind)
select a.kind from q a where a.s > (select avg(s) from q) order by 1;
-- name: m_generate_series
select d.g, count(e.id) from generate_series(1, 50) d(g) left join events e on e.user_id = d.g group by d.g order by 1;
-- name: m_volatile any
select count(*) from ints where random() < 0.5;
-- name: m_order_all
select i, r from ints order by r limit 1000 offset 1000;
-- name: m_sort_everything
select id, amount from events order by amount, id;
-- name: s_star_one_row
select sum(lo_revenue) from lineorder, date where lo_orderdate = d_datekey and d_datekey = 19940104;
-- name: s_dimension_only
select c_city, count(*) from customer group by c_city order by 1;
-- name: t_order_lines
select * from lineitem where l_orderkey = 1 order by l_linenumber;
-- name: t_orders_of_customer
select o_orderkey, sum(l_extendedprice) from orders, lineitem
where o_custkey = 370 and l_orderkey = o_orderkey group by o_orderkey order by 1;
-- name: t_full_outer
select count(*), count(c_custkey), count(o_custkey) from customer full join orders on c_custkey = o_custkey;
