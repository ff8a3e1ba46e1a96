# Common code of the TAP tests of gpuconc's column cache: a server with gpuconc, and
# a table whose load can be held up.
package ColumnsTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(new_server restart_server wait_for_worker create_blockable_table is_exact nothing_in_use vacuum_whole);

# Bytes of the arena in use when nothing was cached, by server.
my %used_before;

# A server with gpuconc and these lines of configuration more, started.
sub new_server
{
	my ($name, $conf, %init) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(%init);
	$node->append_conf(
		'postgresql.conf', qq{
shared_preload_libraries = 'gpuconc'
gpuconc.debug_chunk_pages = 32
gpuconc.host_cache_size = 64MB
gpuconc.loader_workers = 0
autovacuum = off
$conf});
	$node->start;
	$node->safe_psql('postgres',
		'CREATE EXTENSION gpuconc_columns_test CASCADE');
	note_arena($node);
	return $node;
}

# The worker takes some memory for itself when it starts.  It has no slot to start
# in where there are none at all.
sub wait_for_worker
{
	my ($node) = @_;

	$node->poll_query_until(
		'postgres', q{
SELECT state <> 'starting' OR current_setting('max_worker_processes') = '0' FROM gpuconc_devices})
	  or die 'the worker does not start';
	return;
}

sub note_arena
{
	my ($node) = @_;

	wait_for_worker($node);
	$used_before{ $node->name } =
	  $node->safe_psql('postgres', 'SELECT used FROM gpuconc_columns_test_arena()');
	return;
}

sub restart_server
{
	my ($node) = @_;

	$node->restart;
	note_arena($node);
	return;
}

# Table $name of several chunks with TOASTed values in each, and a function that,
# in the transaction that calls it, keeps others from fetching those.  With hot => 1 its
# pages are hot: it is not vacuumed.  rows => so many.
sub create_blockable_table
{
	my ($node, $name, %options) = @_;
	my $rows = $options{rows} // 20000;

	$node->safe_psql(
		'postgres', qq{
CREATE TABLE $name (id int, n int, big text);
ALTER TABLE $name ALTER big SET STORAGE EXTERNAL;
INSERT INTO $name SELECT i, i % 7, CASE WHEN i % 100 = 0 THEN repeat('b' || i % 9, 3000) END
FROM generate_series(1, $rows) AS i;
CREATE FUNCTION block_$name() RETURNS void LANGUAGE plpgsql AS \$\$
BEGIN
	EXECUTE (SELECT 'REINDEX TABLE ' || reltoastrelid::regclass FROM pg_class WHERE relname = '$name');
END
\$\$;
});
	$node->safe_psql('postgres', "VACUUM $name") unless $options{hot};
	return;
}

# Does the cache give the rows of the table, no more and no fewer?
sub is_exact
{
	my ($node, $table, $message, $args) = @_;
	$args //= '';

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is( $node->safe_psql(
			'postgres',
			"SELECT missing, extra FROM gpuconc_columns_test_diff('$table'$args)"),
		'0|0', $message);
	return;
}

# Once all loads have ended and all tables are evicted, no memory may be missing.
sub nothing_in_use
{
	my ($node, $message) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'gpuconc loader'")
	  or die 'loaders do not end';
	$node->safe_psql('postgres',
		'SELECT count(gpuconc_evict(oid)) FROM pg_class WHERE relkind IN (\'r\', \'m\')');
	is( $node->safe_psql(
			'postgres',
			'SELECT used, retired FROM gpuconc_columns_test_arena()'),
		"$used_before{$node->name}|0", $message);
	is( $node->safe_psql('postgres', 'SELECT count(*) FROM gpuconc_load_progress'),
		'0', "$message: no load is left");
	return;
}

# So that a table can be served whole.  From 16 on, rows in bulk leave new pages behind them, which only the second
# VACUUM removes.
sub vacuum_whole
{
	my ($node, $table) = @_;

	$node->safe_psql('postgres', "VACUUM $table") for (1, 2);
	return;
}

1;
