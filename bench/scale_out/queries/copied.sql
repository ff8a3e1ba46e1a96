-- Tables of which each server has a copy: the coordinator asks its own.
select n_name, count(*), sum(ps_supplycost * ps_availqty) from partsupp, supplier, nation where ps_suppkey = s_suppkey and s_nationkey = n_nationkey group by n_name order by n_name
