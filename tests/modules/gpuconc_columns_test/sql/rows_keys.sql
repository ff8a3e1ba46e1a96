-- Which rows a request reads, as a key: equal keys if, and only if, the rows are equal.
\pset format unaligned
SELECT same > 40000 AS many_same, differing > 40000 AS many_differing, edited > 10000 AS many_edited
FROM gpuconc_columns_test_rows_keys(100000);
