# Little memory: tables that do not fit, tables that push each other out, and
# memory that requests still use.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use ColumnsTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('memory', 'gpuconc.host_cache_size = 1MB');

$node->safe_psql(
	'postgres', q{
CREATE TABLE large AS SELECT i AS id, i * 1.5::float8 AS f, i % 100 AS n, i::text AS t FROM generate_series(1, 200000) AS i;
CREATE TABLE small AS SELECT i AS id, i::float8 AS f FROM generate_series(1, 100) AS i;
});
$node->safe_psql('postgres', 'VACUUM large, small');

# A table that does not fit: found out early, remembered, and no harm done.
like(
	$node->safe_psql('postgres', "SELECT code, detail FROM gpuconc_columns_test_load('large', '{id,f}')"),
	qr/^cache full\|Table "large" would take about \d+ kB, and columns can take \d+ kB of gpuconc.host_cache_size and gpuconc.disk_cache_size\.$/,
	'too large');
like(
	$node->safe_psql('postgres', "SELECT code, detail, pages FROM gpuconc_columns_test_load('large', '{id,f}')"),
	qr/^cache full\|Table "large" would take about \d+ kB.*\|0$/,
	'too large is remembered');
is_exact($node, 'large', 'exact though too large', ", '{n}', false");
my ($ret, $stdout, $stderr) = $node->psql('postgres', "SELECT count(*) FROM gpuconc_columns_test_scan('large', load => false)");
like($stderr, qr/The rows of "large" that are not cached take more room than gpuconc.host_cache_size/,
	'nor does a delta of that size');
is_exact($node, 'small', 'another one fits');
is($node->safe_psql('postgres', "SELECT complete FROM gpuconc_columns_test_served('small')"),
	't', 'and is served');
($ret, $stdout, $stderr) = $node->psql('postgres', "SELECT gpuconc_prewarm('large')");
like($stderr, qr/ERROR:  could not cache "large": cache full\n.*DETAIL:  Table "large" would take about \d+ kB.*\nHINT:  Consider increasing gpuconc.host_cache_size\./s,
	'error of gpuconc_prewarm');
nothing_in_use($node, 'after a table that does not fit');

# A session that wants one column has that, though the load of all that it takes part in finds no room.
create_blockable_table($node, 'l');
$node->safe_psql('postgres', 'ALTER TABLE l ' . join(', ', map { "ADD f$_ float8 DEFAULT random()" } (0 .. 9)));
vacuum_whole($node, 'l');
my ($blocker, $all, $some) = map { $node->background_psql('postgres') } (0 .. 2);
$blocker->query_safe('BEGIN; SELECT block_l();');
foreach my $load ([ $all, '' ], [ $some, ", '{n}'" ])
{
	my ($session, $columns) = @$load;
	my $pid = $session->query_safe('SELECT pg_backend_pid()');

	$session->query_until(qr/loading/, "\\echo loading\nSELECT 'code ' || code FROM gpuconc_columns_test_load('l'$columns);\n");
	$node->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $pid")
	  or die 'a load does not wait';
}
$blocker->query_safe('COMMIT;');
like($all->query_until(qr/code/, "\n"), qr/code cache full/, 'a load of all columns finds no room');
like($some->query_until(qr/code/, "\n"), qr/code ok/, 'a session that takes part for one of them has that');
is_exact($node, 'l', 'exact after that', ", '{n}', false");
$_->quit for $blocker, $all, $some;
nothing_in_use($node, 'after a load that others took part in');

# Two tables, either of which fits.  How large they are depends on how columns are
# padded, so that is measured.
$node->append_conf('postgresql.conf', 'gpuconc.host_cache_size = 64MB');
restart_server($node);
foreach my $table ('a', 'b')
{
	$node->safe_psql('postgres',
		"CREATE TABLE $table AS SELECT i AS id, i / 7.0::float8 AS f, i % 9 AS n, 't' || i % 50 AS t FROM generate_series(1, 100000) AS i");
	vacuum_whole($node, $table);
}
$node->safe_psql('postgres', "SELECT gpuconc_prewarm('a')");
my $size = $node->safe_psql('postgres', 'SELECT used FROM gpuconc_columns_test_arena()');
$node->append_conf('postgresql.conf',
	sprintf('gpuconc.host_cache_size = %dMB', $size * 1.2 / (1024 * 1024) + 1));
restart_server($node);
foreach my $i (1 .. 3)
{
	foreach my $table ('a', 'b')
	{
		is_exact($node, $table, "table $table, round $i");
		is($node->safe_psql('postgres', "SELECT complete FROM gpuconc_columns_test_served('$table')"),
			't', "table $table is cached, round $i");
	}
	cmp_ok($node->safe_psql('postgres', "SELECT count(*) FROM gpuconc_cache WHERE relation = 'a'::regclass"),
		'<', 4, "table a lost columns, round $i");
}

# Column by column, the least recently used first.
$node->safe_psql('postgres', "SELECT gpuconc_evict('a'), gpuconc_evict('b')");
foreach my $column ('n', 'f', 't')
{
	$node->safe_psql('postgres', "SELECT gpuconc_columns_test_load('a', '{$column}')");
}
$node->safe_psql('postgres', "SELECT gpuconc_columns_test_load('a', '{n}')");
$node->safe_psql('postgres', "SELECT gpuconc_columns_test_load('b', '{id,f}')");
is($node->safe_psql('postgres', "SELECT string_agg(column_name, ',' ORDER BY column_name) FROM gpuconc_cache WHERE relation = 'a'::regclass"),
	'n,t', 'the least recently used column was evicted');
is_exact($node, 'a', 'what is left is served', ", '{n,t}', false");
is_exact($node, 'b', 'and so is the other', ", '{id,f}', false");
nothing_in_use($node, 'after evictions');

# Memory that a request may still read is not given back before the request is over.
$node->safe_psql('postgres', "SELECT gpuconc_prewarm('a')");
$node->safe_psql('postgres', 'SELECT gpuconc_columns_test_guard(0, true)');
$node->safe_psql('postgres', "SELECT gpuconc_evict('a')");
is($node->safe_psql('postgres', 'SELECT used > 1000000, retired > 1000000 FROM gpuconc_columns_test_arena()'),
	't|t', 'guarded memory is kept');
like($node->safe_psql('postgres', "SELECT code, detail FROM gpuconc_columns_test_load('b')"),
	qr/^cache full\|.*kB/, 'no room while it is');
is_exact($node, 'b', 'exact all the same');
$node->safe_psql('postgres', 'SELECT gpuconc_columns_test_guard(0, false)');
is_exact($node, 'b', 'exact with room again');
is($node->safe_psql('postgres', "SELECT complete FROM gpuconc_columns_test_served('b')"),
	't', 'and cached');
nothing_in_use($node, 'after a guard');

# A load waits a little for such memory: again, where the machine takes longer than that to see it.
my $end = time + $PostgreSQL::Test::Utils::timeout_default;
my $said;
do
{
	$node->safe_psql('postgres', "SELECT gpuconc_evict('b'), gpuconc_prewarm('a')");
	$node->safe_psql('postgres', 'SELECT gpuconc_columns_test_guard(0, true)');
	$node->safe_psql('postgres', "SELECT gpuconc_evict('a')");
	my $session = $node->background_psql('postgres');
	$session->query_until(qr/loading/, "\\echo loading\nSELECT 'code ' || code FROM gpuconc_columns_test_load('b');\n");
	$node->poll_query_until('postgres',
		q{SELECT wait_event_type = 'Extension' OR state = 'idle' FROM pg_stat_activity WHERE query LIKE '%test_load%' AND pid <> pg_backend_pid()})
	  or die 'the load neither waits nor ends';
	$node->safe_psql('postgres', 'SELECT gpuconc_columns_test_guard(0, false)');
	$said = $session->query_until(qr/code/, "\n");
	$session->quit;
} while ($said !~ /code ok/ && time < $end);
like($said, qr/code ok/, 'load waits for guarded memory');
nothing_in_use($node, 'after waiting for memory');

# More tables than the store has room for.
$node->safe_psql(
	'postgres', q{
SELECT format('CREATE TABLE m%s AS SELECT %s AS i', i, i) FROM generate_series(1, 1100) AS i
\gexec
});
$node->safe_psql('postgres', 'VACUUM');
is($node->safe_psql('postgres',
		"SELECT count(*) FROM generate_series(1, 1100) AS i, gpuconc_columns_test_load(('m' || i)::regclass) WHERE code = 'ok'"),
	'1100', 'more tables than fit the store');
is($node->safe_psql('postgres',
		"SELECT count(*), bool_and(missing = 0 AND extra = 0) FROM generate_series(1, 1100, 100) AS i, gpuconc_columns_test_diff(('m' || i)::regclass)"),
	'11|t', 'exact all the same');
nothing_in_use($node, 'after many tables');

$node->stop;
done_testing();
