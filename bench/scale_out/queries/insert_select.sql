-- INSERT ... SELECT of aggregates, at the shards.
begin;
insert into by_order select l_orderkey, sum(l_quantity), count(*) from lineitem group by l_orderkey;
select count(*), sum(q), sum(n), max(q) from by_order;
rollback
