-- Changes and deletes rows, so that one of 20 pages of these tables is not all-visible.
set search_path = tpcds, shapes;
update store_sales set ss_quantity = ss_quantity + 1, ss_net_paid = ss_net_paid + 10, ss_store_sk = ss_store_sk % 12 + 1 where on_page(ctid, 40, 7);
delete from store_sales where on_page(ctid, 40, 27);
update catalog_sales set cs_quantity = cs_quantity + 1, cs_net_profit = -cs_net_profit, cs_bill_customer_sk = null where on_page(ctid, 40, 7);
delete from catalog_sales where on_page(ctid, 40, 27);
update web_sales set ws_list_price = ws_list_price * 2, ws_sold_date_sk = ws_sold_date_sk + 1 where on_page(ctid, 40, 7);
delete from web_sales where on_page(ctid, 40, 27);
update store_returns set sr_return_amt = sr_return_amt + 1 where on_page(ctid, 40, 7);
delete from store_returns where on_page(ctid, 40, 27);
update catalog_returns set cr_return_quantity = null where on_page(ctid, 40, 7);
delete from catalog_returns where on_page(ctid, 40, 27);
update web_returns set wr_return_amt = wr_return_amt + 1 where on_page(ctid, 40, 7);
delete from web_returns where on_page(ctid, 40, 27);
update inventory set inv_quantity_on_hand = inv_quantity_on_hand * 3 where on_page(ctid, 40, 7);
delete from inventory where on_page(ctid, 40, 27);
update customer set c_last_name = 'Changed' || c_customer_sk % 5, c_birth_month = 1 where on_page(ctid, 20, 7);
update customer_address set ca_state = 'TN' where on_page(ctid, 20, 7);
update item set i_brand = 'new brand', i_current_price = i_current_price * 2 where on_page(ctid, 20, 7);
