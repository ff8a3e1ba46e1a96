-- A cursor, and COPY of a query.
begin;
declare c cursor for select l_shipmode, sum(l_quantity) from lineitem group by l_shipmode order by l_shipmode;
fetch 3 from c;
fetch all from c;
commit;
copy (select l_shipinstruct, count(*), sum(l_tax) from lineitem group by l_shipinstruct order by l_shipinstruct) to stdout
