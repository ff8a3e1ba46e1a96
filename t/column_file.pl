# Columns that do not fit into gpuconc.host_cache_size stay in a file (gpuconc.disk_cache_size, src/columns/store/arena.h):
# queries over more columns than memory are offloaded, and read no page of the heap again.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('column_file', q{
gpuconc.host_cache_size = 8MB
gpuconc.disk_cache_size = 96MB
gpuconc.debug_chunk_pages = 512
gpuconc.debug_hot_pages = 100000
max_parallel_workers_per_gather = 0
restart_after_crash = on
});
my $values = join ', ', map { "(i * " . (1000003 + 2 * $_) . "::bigint % 2000000011)::int AS c$_" } (1 .. 8);
$node->safe_psql('postgres', "CREATE TABLE $_ AS SELECT $values FROM generate_series(1, 300000) AS i; VACUUM (FREEZE, ANALYZE) $_") foreach qw(a b c);
my @tables = qw(a b c);

sub loaded { return $node->safe_psql('postgres', 'SELECT pages_loaded FROM gpuconc_stat') }

# All columns of a table, which take more than gpuconc.host_cache_size.
sub whole
{
	my ($table) = @_;
	return "SELECT c1 % 7 AS g, " . join(', ', map { "sum(c$_) AS s$_" } (1 .. 8)) . " FROM $table WHERE c1 > 5 GROUP BY 1";
}

sub are_equal
{
	my ($query, $message) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($status, $out, $error) = $node->psql('postgres', qq{
SET gpuconc.debug_offload = forbid; CREATE TEMP TABLE expected AS $query;
SET gpuconc.debug_offload = require; CREATE TEMP TABLE got AS $query;
SET gpuconc.debug_offload = forbid;
SELECT count(*) FROM ((TABLE expected EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE expected)) AS d});

	is("$out$error", '0', $message);
	return;
}

# While columns that files have are loaded, others find no room.
sub restart
{
	my $offset = -s $node->logfile;

	$node->restart;
	wait_for_worker($node);
	wait_for_kept($node, $offset);
	return;
}

ok(!-e $node->data_dir . '/pgsql_tmp_gpuconc_columns', 'the file has no name');
are_equal(whole($_), "more columns than memory: $_") foreach @tables;
my $before = loaded();
are_equal(whole($_), "again: $_") foreach @tables, @tables;
is(loaded(), $before, 'no page of the heap is loaded again');
is($node->safe_psql('postgres', 'SELECT count(*) FROM gpuconc_cache'), '24', 'all columns are cached');
are_equal('SELECT a.c1 % 5 AS g, sum(b.c2) AS s, count(*) AS n FROM a JOIN b ON a.c3 = b.c3 GROUP BY 1', 'a join');

# The device's memory is less than its columns: they are copied from the file in waves.
$node->append_conf('postgresql.conf', "gpuconc.debug_pretend_gpu = 'H200'\ngpuconc.device_memory_limit = 32MB");
restart();
are_equal(whole($_), "copied to a device: $_") foreach @tables, @tables;
$node->append_conf('postgresql.conf', "gpuconc.debug_pretend_gpu = ''\ngpuconc.device_memory_limit = 0");
restart();
are_equal(whole($_), "after a restart: $_") foreach @tables;

# Beside writers.
my $writer = session($node, 'writer', 'SET gpuconc.debug_offload = forbid');
$writer->query_safe('BEGIN; UPDATE a SET c2 = c2 + 1 WHERE c1 < 200000; DELETE FROM a WHERE c1 > 1999800000');
are_equal(whole('a'), 'beside a writer');
$writer->query_safe('COMMIT');
are_equal(whole('a'), 'which commits');
$writer->quit;
$node->safe_psql('postgres', 'VACUUM (FREEZE) a');
are_equal(whole('a'), 'and after VACUUM');

# Room comes back: much more goes through the file than it has.
foreach my $change ('TRUNCATE c; INSERT INTO c SELECT * FROM a WHERE c1 % 3 = 0', 'ALTER TABLE c ALTER c2 TYPE bigint',
	'DROP TABLE c; CREATE TABLE c AS TABLE b', 'VACUUM FULL b', 'ALTER TABLE b ALTER c4 TYPE bigint')
{
	$node->safe_psql('postgres', $_) foreach split /; /, $change;
	$node->safe_psql('postgres', 'VACUUM (FREEZE, ANALYZE) b, c');
	are_equal(whole($_), "after $change: $_") foreach @tables;
}

# Texts, whose dictionary is larger than what the arena has left.
$node->safe_psql('postgres', q{
CREATE TABLE texts AS SELECT md5(i::text) || repeat('x', 20) AS t, i % 10 AS k FROM generate_series(1, 25000) AS i;
VACUUM (FREEZE, ANALYZE) texts});
are_equal('SELECT k, count(*) AS n, min(t) AS least FROM texts WHERE t > \'5\' GROUP BY k', 'texts');

# A crash: the postmaster keeps the file, and what was in it is forgotten.
my $killed = session($node, 'killed');
kill_process($node, $killed->query_safe('SELECT pg_backend_pid()'));
is($node->safe_psql('postgres', 'SELECT count(*) FROM gpuconc_cache'), '0', 'after a crash nothing is cached');
are_equal(whole($_), "after a crash: $_") foreach @tables;
nothing_held($node, 'in the end');

# More than memory and file: as the server starts, columns are loaded as far as there is room.  PostgreSQL's plan answers
# what wants more, and others are still offloaded.
$node->append_conf('postgresql.conf', 'gpuconc.disk_cache_size = 4MB');
restart();
my $all = $node->safe_psql('postgres', q{SELECT max(n) FROM (SELECT count(*) AS n FROM gpuconc_cache GROUP BY relid) AS c});
ok($all > 2 && $all < 8, "some columns of a table that does not fit: $all");
$node->safe_psql('postgres', 'SELECT gpuconc_evict(relid) FROM (SELECT DISTINCT relid FROM gpuconc_cache) AS c');
is_answered($node, whole('a') . ' ORDER BY 1', 'more than memory and file');
are_equal('SELECT sum(c1) AS s, max(c2) AS m FROM a', 'fewer columns');

# A disk without room.
$node->append_conf('postgresql.conf', 'gpuconc.disk_cache_size = 1000TB');
restart();
ok(log_has($node, qr/gpuconc has no file for columns: could not allocate/) > 0, 'no room on disk: the log says so');
are_equal('SELECT sum(c1) AS s, max(c2) AS m FROM a', 'no room on disk: columns in memory');
$node->stop;
done_testing();
