-- Aggregates of which workers send their states (worker_partial_agg).
select l_returnflag, bit_or(l_linenumber), round(stddev(l_quantity), 6), round(variance(l_discount), 9), bool_and(l_tax < 1) from lineitem group by l_returnflag order by l_returnflag
