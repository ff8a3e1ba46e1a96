-- Tables of the mixed queries that neither benchmark has.  "load" runs this file with one argument, :scale,
-- in a schema of its own; at scale 1 the largest has 3,000,000 rows.
drop table if exists events, urls, tiny, wide, orders1, c1, ws, dd, docs, ints;

-- A log: clustered by time, skewed by user, with an index for look-ups.
create table events as
	select i as id, (i * 7919::bigint % 50000)::int as user_id,
		   (case when i % 10 < 7 then i % 20 else i % 997 end)::int as kind,
		   timestamp '2024-01-01' + i * interval '7 seconds' as at,
		   (i * 104729::bigint % 100000 / 100.0)::numeric(12, 2) as amount,
		   case when i % 13 = 0 then null else 'host' || (i % 211) end as host
	from generate_series(1, (3000000 * :scale)::bigint) i;
alter table events add primary key (id);
create index on events (user_id);

-- A text of as many values as rows.
create table urls as
	select i, i % 1000 as g, 'http://www.example.com/' || md5(i::text) as u
	from generate_series(1, (3000000 * :scale)::int) i;

create table tiny as select i as id, 'name ' || i as name, i % 3 as g from generate_series(1, 20) i;
alter table tiny add primary key (id);

create table wide as
	select i as id, i % 17 as a, i % 19 as b, repeat(md5(i::text), 12) as pad, md5((i + 1)::text) as m,
		   i * 3 as c1, i * 5 as c2, i * 7 as c3, i * 11 as c4, i * 13 as c5, i % 97 as c6, i % 89 as c7
	from generate_series(1, (300000 * :scale)::int) i;
alter table wide add primary key (id);

-- EXISTS under OR: few outer rows, and inner tables that PostgreSQL looks up.
create table orders1 as select i as id, i * 97 as k from generate_series(1, 1000) i;
create table c1 as select i as id, i % 7 as g, repeat('x', 100) as pad from generate_series(1, 100000) i;
alter table c1 add primary key (id);
create table ws as
	select (i * 7919::bigint % 100000)::int as c, i % 3000 as d, repeat('x', 150) as pad
	from generate_series(1, 70000) i;
create table dd as select i as d, 1998 + i / 365 as y, repeat('x', 100) as pad from generate_series(0, 2999) i;
alter table dd add primary key (d);

-- Values that columns cannot hold, and types that are not offloaded.
create table docs as
	select i as id, jsonb_build_object('k', i % 50, 'v', i) as doc, array[i % 5, i % 7] as arr,
		   md5(i::text)::uuid as uid, (i % 100) / 7.0::float8 as f
	from generate_series(1, (300000 * :scale)::int) i;
alter table docs add primary key (id);

create table ints as
	select i, (i * 48271::bigint % 2147483647)::int as r, (i % 100)::smallint as s
	from generate_series(1, (1000000 * :scale)::int) i;
create index on ints (i);
