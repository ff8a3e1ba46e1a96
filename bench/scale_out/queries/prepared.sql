-- Prepared, with enough executions for a generic plan.
prepare q(numeric, date) as select l_linestatus, count(*), sum(l_extendedprice * l_discount) from lineitem where l_quantity < $1 and l_shipdate >= $2 group by l_linestatus order by l_linestatus;
execute q(24, '1994-01-01');
execute q(25, '1995-01-01');
execute q(26, '1996-01-01');
execute q(1, '1994-01-01');
execute q(51, '1992-01-01');
execute q(30, '1997-01-01');
execute q(24, '1998-01-01');
deallocate q
