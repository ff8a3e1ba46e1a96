-- Changes and deletes rows, so that one of 20 pages of these tables is not all-visible.
set search_path = tpch, shapes;
update lineitem set l_quantity = l_quantity + 1, l_shipmode = 'NEW MODE', l_discount = 0.06 where on_page(ctid, 40, 7);
delete from lineitem where on_page(ctid, 40, 27);
update orders set o_orderdate = o_orderdate + 1, o_comment = 'new special and no requests' where on_page(ctid, 40, 7);
delete from orders where on_page(ctid, 40, 27);
update partsupp set ps_supplycost = ps_supplycost / 2 where on_page(ctid, 40, 7);
delete from partsupp where on_page(ctid, 40, 27);
update part set p_name = 'green forest', p_size = 15 where on_page(ctid, 20, 7);
update customer set c_mktsegment = 'BUILDING', c_acctbal = 9999 where on_page(ctid, 20, 7);
