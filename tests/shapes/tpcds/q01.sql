-- Shape of TPC-DS query 1: a CTE of sums, compared with its own average per store by a correlated sub-select.
-- offloaded: 1
with returned as (
	select sr_customer_sk as cust, sr_store_sk as store, sum(sr_return_amt) as amount
	from store_returns join date_dim on sr_returned_date_sk = d_date_sk
	where d_year = 2000
	group by sr_customer_sk, sr_store_sk)
select c_customer_id, r.store, r.amount
from returned r join store on s_store_sk = r.store join customer on c_customer_sk = r.cust
where s_state = 'TN' and r.amount > (select avg(x.amount) * 1.2 from returned x where x.store = r.store)
order by c_customer_id, r.store
limit 100;
