# A partitioned table over two foreign servers (postgres_fdw): what is pushed down is offloaded by
# these, answers are those of one server, and a server that goes away gives PostgreSQL's error.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @shards = map { new_server("shard$_", "gpuconc.debug_offload = prefer\n") } (0, 1);
my $front = new_server('front', q{
enable_partitionwise_aggregate = on
enable_partitionwise_join = on
});

# Tables "sale" and "item", both partitioned by k, and "all_sale", "all_item": the same rows in one place.
my $columns = 'k int, region int, price numeric(12,2), day date, note text';
foreach my $shard (@shards)
{
	$shard->safe_psql('postgres', "CREATE TABLE sale ($columns); CREATE TABLE item (k int, name text)");
}
$front->safe_psql('postgres', qq{
CREATE EXTENSION postgres_fdw;
CREATE TABLE sale ($columns) PARTITION BY HASH (k);
CREATE TABLE item (k int, name text) PARTITION BY HASH (k);
});
foreach my $i (0, 1)
{
	my ($host, $port) = ($shards[$i]->host, $shards[$i]->port);

	$front->safe_psql('postgres', qq{
CREATE SERVER shard$i FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', use_remote_estimate 'true', async_capable 'true');
CREATE USER MAPPING FOR CURRENT_USER SERVER shard$i;
CREATE FOREIGN TABLE sale$i PARTITION OF sale FOR VALUES WITH (MODULUS 2, REMAINDER $i) SERVER shard$i OPTIONS (table_name 'sale', batch_size '1000');
CREATE FOREIGN TABLE item$i PARTITION OF item FOR VALUES WITH (MODULUS 2, REMAINDER $i) SERVER shard$i OPTIONS (table_name 'item')});
}
$front->safe_psql('postgres', qq{
CREATE TABLE all_sale ($columns);
INSERT INTO all_sale SELECT i % 101, i % 7, CASE WHEN i % 13 <> 0 THEN i / 8.0 END, date '2001-01-01' + i % 800, 'note ' || i % 19
FROM generate_series(1, 20011) AS i;
CREATE TABLE all_item AS SELECT i AS k, 'item ' || i % 10 AS name FROM generate_series(0, 99) AS i;
INSERT INTO sale TABLE all_sale;
INSERT INTO item TABLE all_item});
$_->safe_psql('postgres', 'VACUUM ANALYZE') for (@shards, $front);
$front->safe_psql('postgres', "ANALYZE $_") for qw(sale item);

sub stat_of_shards
{
	return map { stat_of($_, 'offloaded') } @shards;
}

# The answer of one server that has all rows.  Pushed down: what EXPLAIN says of each foreign scan.
# offloaded: do the foreign servers offload it?
sub is_distributed
{
	my ($query, $pushed, $offloaded) = @_;
	my $alone = $query =~ s/\b(sale|item)\b/all_$1/gr;
	my $plan = $front->safe_psql('postgres', "EXPLAIN (VERBOSE, COSTS OFF) $query");
	my @found = $plan =~ /$pushed/g;
	my @before = stat_of_shards();

	is(scalar @found, 2, "pushed down to both servers: $query") or diag $plan;
	is($front->safe_psql('postgres', $query), answer_of($front, $alone, 'forbid'), "the answer of one server: $query");
	my @after = stat_of_shards();
	ok($offloaded ? $after[$_] > $before[$_] : $after[$_] == $before[$_], ($offloaded ? 'offloaded' : 'not offloaded') . " by server $_")
	  for (0, 1);
	return;
}

# Grouped by the partition key: foreign servers aggregate.
is_distributed('SELECT k, count(*), sum(price), avg(price), min(day), max(note) FROM sale GROUP BY k ORDER BY k',
	qr/Remote SQL: SELECT k, count\(\*\).* GROUP BY/, 1);
is_distributed(q{SELECT k, region, sum(price * 2) FROM sale WHERE day < '2002-03-04' AND note LIKE '%7' GROUP BY k, region ORDER BY k, region},
	qr/Remote SQL: SELECT k, region, sum.* WHERE .* GROUP BY/, 1);
is_distributed('SELECT k, count(*) FROM sale GROUP BY k HAVING count(*) > 198 ORDER BY k', qr/Remote SQL: .* HAVING/, 1);
is_distributed('SELECT sale.k, name, sum(price) FROM sale JOIN item ON sale.k = item.k GROUP BY sale.k, name ORDER BY sale.k, name',
	qr/Remote SQL: .*INNER JOIN.*GROUP BY/, 1);
is_distributed('SELECT sale.k, name, count(price) FROM sale LEFT JOIN item ON sale.k = item.k GROUP BY sale.k, name ORDER BY sale.k, name',
	qr/Remote SQL: .*LEFT JOIN.*GROUP BY/, 1);

# By other columns: up to 18, foreign servers have no part in aggregation.  They join and filter.
is_distributed(q{SELECT name, region, count(*), sum(price), avg(price) FROM sale JOIN item ON sale.k = item.k WHERE region < 5 AND name LIKE '%3'
GROUP BY name, region ORDER BY name, region}, qr/Remote SQL: .*INNER JOIN.*region < 5/, 1);
# Nor are the rows of one table offloaded, which come by a cursor.
is_distributed(q{SELECT region, count(*), sum(price) FROM sale WHERE day > '2002-01-01' GROUP BY region ORDER BY region},
	qr/Remote SQL: SELECT region, price FROM .* WHERE /, 0);
is_distributed('SELECT count(*), avg(price), max(note) FROM sale', qr/Remote SQL: SELECT price, note FROM/, 0);

# A foreign table is a row source of a node of this server.
$front->safe_psql('postgres', q{CREATE TABLE region AS SELECT i AS region, 'region ' || i AS title FROM generate_series(0, 6) AS i; VACUUM ANALYZE region});
my $join = 'SELECT title, count(*) AS n, sum(all_sale.price) FROM all_sale JOIN region USING (region) JOIN item0 ON all_sale.k = item0.k GROUP BY title ORDER BY title';
is_offloaded($front, $join, 'a foreign table as a row source');

# Changes there are seen here.
$shards[0]->safe_psql('postgres', 'UPDATE sale SET price = price + 1 WHERE region = 3');
$front->safe_psql('postgres', 'UPDATE all_sale SET price = price + 1 WHERE region = 3 AND k IN (SELECT k FROM sale0)');
is_distributed('SELECT k, sum(price) FROM sale GROUP BY k ORDER BY k', qr/Remote SQL: SELECT k, sum.* GROUP BY/, 1);

#-------------------------------------------------------------------------
# A foreign server goes away
#-------------------------------------------------------------------------

# In the middle of what a node reads: the remote session ends itself at one row.  VOLATILE functions are not
# pushed down, so a view calls it.
$shards[0]->safe_psql('postgres', q{
CREATE FUNCTION ends(k int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF k = 5000 THEN
		PERFORM pg_terminate_backend(pg_backend_pid());
	END IF;
	RETURN k;
END $$;
CREATE VIEW ending AS SELECT ends(i) AS region, i FROM generate_series(0, 9999) AS i});
$front->safe_psql('postgres', q{
CREATE FOREIGN TABLE ending (region int, i int) SERVER shard0 OPTIONS (use_remote_estimate 'false')});
sub reads_ending
{
	my ($rows) = @_;

	return "SELECT region, count(*) AS n, sum(i), sum(price) FROM all_sale JOIN ending USING (region) WHERE i < $rows GROUP BY region ORDER BY region";
}
# The view's rows before the one where it ends, and then all.
like($front->safe_psql('postgres', 'SET gpuconc.debug_offload = require; EXPLAIN (VERBOSE, COSTS OFF) ' . reads_ending(10000)),
	qr/Custom Scan \(GpuconcAggregate\).*Foreign Scan on public\.ending/s, 'a foreign view as a row source');
is_offloaded($front, reads_ending(4000), 'which does not end');
foreach my $round (1, 2)
{
	my (undef, $out, $error) = $front->psql('postgres', 'SET gpuconc.debug_offload = require; ' . reads_ending(10000));

	like($error, qr/ERROR:  (?:FATAL:  )?(?:terminating connection due to administrator command|server closed the connection unexpectedly)/,
		'in the middle of a row source: an error of PostgreSQL');
	is($out, '', 'and no rows');
}
nothing_held($front, 'a row source that ends');
is_offloaded($front, $join, 'the foreign server is asked again');

my $session = $front->background_psql('postgres', on_error_stop => 0);
$session->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT name, price FROM sale JOIN item ON sale.k = item.k');
$session->query_safe('FETCH 10 FROM c');
$_->stop('immediate') for @shards;
$session->query('MOVE ALL FROM c');
like($session->{stderr}, qr/ERROR:  (?:server closed the connection unexpectedly|terminating connection|FATAL: |could not )/,
	'in the middle of a query: an error of PostgreSQL');
$session->{stderr} = '';
$session->query_safe('ROLLBACK');
foreach my $query ('SELECT k, sum(price) FROM sale GROUP BY k', $join)
{
	my ($status, $out, $error) = $front->psql('postgres', "SET gpuconc.debug_offload = prefer; $query");

	like($error, qr/ERROR:  could not connect to server "shard[01]"/, "before a query: an error of PostgreSQL: $query");
}
is($front->safe_psql('postgres', 'SELECT state, running FROM gpuconc_devices'), 'ready|0', 'the worker here goes on');
is_offloaded($front, 'SELECT region, sum(price) FROM all_sale GROUP BY region ORDER BY region', 'and offloads');

# and comes back
foreach my $shard (@shards)
{
	$shard->start;
	wait_for_worker($shard);
}
is($session->query_safe('SELECT count(*) > 0 FROM sale'), 't', 'the same session asks again');
$session->quit;
is_distributed('SELECT k, sum(price) FROM sale GROUP BY k ORDER BY k', qr/Remote SQL: SELECT k, sum.* GROUP BY/, 1);

stop_server($_) for (@shards, $front);
done_testing();
