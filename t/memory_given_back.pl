# Limits of device memory that are too small, or change; and tables that are truncated, rewritten or dropped while what was
# asked of them still runs in waves.  The answer is right, by PostgreSQL's plan if need be, and gpuconc_devices tells that all
# memory is given back.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# One chunk of a column takes some 2.4 MB.
my $node = new_server('given', q{
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.debug_pretend_link = 16MB
gpuconc.device_memory_limit = 1MB
gpuconc.debug_gpu_kernels = off
gpuconc.debug_chunk_pages = 8168
max_parallel_workers_per_gather = 0
autovacuum = off
});
my $values = join ', ', map { "(i * " . (1000003 + 2 * $_) . "::bigint % 2000000011)::int AS c$_" } (1 .. 4);
$node->safe_psql('postgres', "CREATE TABLE t AS SELECT $values, i % 7 AS g FROM generate_series(1, 600000) AS i; VACUUM (FREEZE, ANALYZE) t");
my $sum = 'SELECT count(*), sum(c1), max(c2), min(c3), sum(c4) FROM t WHERE c1 > 5';
my $groups = 'SELECT g, count(*), sum(c1), max(c2) FROM t GROUP BY g ORDER BY g';
my %expected = map { $_ => answer_of($node, $_, 'forbid') } ($sum, $groups);

# No request runs; what is left in device memory may be used again, and has a kind for which that holds.  The worker sees
# what was dropped when it has something to do.
sub is_given_back
{
	my ($message) = @_;
	my $got;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	again_until(sub {
		answer_of($node, 'SELECT count(*) FROM few', 'prefer');
		$got = $node->safe_psql('postgres', q{
SELECT running, memory_groups + memory_other, memory_columns + memory_lookups + memory_builds + memory_waves = memory_used,
	memory_free >= memory_largest_free FROM gpuconc_devices});
		return $got eq '0|0|t|t' });
	is($got, '0|0|t|t', "$message: requests' memory is given back");
	return;
}
$node->safe_psql('postgres', 'CREATE TABLE few AS SELECT i FROM generate_series(1, 100) AS i; VACUUM (FREEZE, ANALYZE) few');

#-------------------------------------------------------------------------
# A limit below what one chunk takes, and other limits, as the server or its worker starts
#-------------------------------------------------------------------------
foreach my $limit (1, 2, 4, 32, 2)
{
	my ($offloaded, $fallbacks);

	if ($limit > 1)
	{
		$node->append_conf('postgresql.conf', "gpuconc.device_memory_limit = ${limit}MB");
		$limit == 4 ? $node->reload : $node->restart;
		$limit == 4 ? end_worker($node) : wait_for_worker($node);
	}
	is($node->safe_psql('postgres', 'SELECT memory_limit / 1024 / 1024, memory_columns, memory_used FROM gpuconc_devices'), "$limit|0|0", "$limit MB: nothing is taken at first");
	($offloaded, $fallbacks) = (stat_of($node, 'offloaded'), stat_of($node, 'fallbacks'));
	foreach my $round (1, 2)
	{
		is(answer_of($node, $_, 'prefer'), $expected{$_}, "$limit MB: $_") foreach ($sum, $groups);
	}
	is(stat_of($node, 'offloaded') + stat_of($node, 'fallbacks') - $offloaded - $fallbacks, 4, "$limit MB: by the device or by PostgreSQL");
	is(stat_of($node, 'fallbacks') - $fallbacks, 0, "$limit MB: by the device") if $limit == 32;
	is($node->safe_psql('postgres', 'SELECT memory_columns > 2000000 FROM gpuconc_devices'), 't', "$limit MB: columns stay") if $limit == 32;
	is_given_back("$limit MB");
	is($node->safe_psql('postgres', 'SELECT memory_used + memory_free <= memory_limit FROM gpuconc_devices'), 't', "$limit MB: no more is taken");
}

#-------------------------------------------------------------------------
# A table goes while the stream of a query that was cancelled still runs, and others wait for the lock
#-------------------------------------------------------------------------
$node->append_conf('postgresql.conf', "gpuconc.device_memory_limit = 3MB\ngpuconc.debug_chunk_pages = 32");
$node->restart;
wait_for_worker($node);
$node->safe_psql('postgres', 'CREATE TABLE copy AS SELECT * FROM t');
my @changes = (
	[ 'truncated', 'TRUNCATE t', '0||||' ],
	[ 'truncated and filled again', 'TRUNCATE t; INSERT INTO t SELECT * FROM copy', undef ],
	[ 'rewritten', 'ALTER TABLE t ALTER g TYPE bigint', undef ],
	[ 'rewritten by VACUUM', 'VACUUM FULL t', undef ],
	[ 'dropped', 'DROP TABLE t; CREATE TABLE t AS SELECT * FROM copy', undef ]);
foreach my $change (@changes)
{
	my ($message, $sql, $after) = @$change;
	my $cancelled = 0;

	again_until(sub {
		$node->safe_psql('postgres', 'DROP TABLE IF EXISTS t; CREATE TABLE t AS SELECT * FROM copy; VACUUM (FREEZE, ANALYZE) t');
		# Its columns are in the cache, and cross the link in waves.
		is(answer_of($node, $sum, 'require'), $expected{$sum}, "$message: offloaded before");
		my $before = stat_of($node, 'waves');
		my @sessions = map { session($node, "given$_") } (0 .. 2);
		$_->query_safe('SET gpuconc.debug_offload = prefer') foreach (@sessions);
		ask($sessions[$_], $_ == 2 ? $groups : $sum) foreach (0 .. 2);
		wait_until($node, "SELECT waves > $before + 3 FROM gpuconc_stat_memory");
		# The change waits for all readers' locks; theirs are given back while the worker still runs their requests.
		my $change = $node->background_psql('postgres');
		$change->query_safe("SET application_name = 'change'");
		$change->query_until(qr/begun/, "\\echo begun\n$sql;\n\\echo ended\n");
		wait_until($node, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'change' AND (wait_event_type = 'Lock' OR state = 'idle')});
		$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name ~ 'given[12]' AND state = 'active'});
		my @got = map { rows_of($_) } @sessions;
		$change->query_until(qr/ended/, "\n");
		$change->quit;
		$_->quit foreach (@sessions);
		is($got[0], $expected{$sum}, "$message: who was not cancelled gets its answer");
		# On a busy machine all waves may be over before.
		$cancelled = grep { /canceling statement/ } @got[1, 2];
		return $cancelled > 0 });
	cmp_ok($cancelled, '>', 0, "$message: queries are cancelled in the middle of waves");
	is(answer_of($node, $sum, 'prefer'), $after // $expected{$sum}, "$message: the next query's answer");
	is(answer_of($node, $groups, 'prefer'), defined $after ? '' : $expected{$groups}, "$message: and another one's");
	is_given_back($message);
}
# Copies of what is gone are dropped.
nothing_held($node, 'in the end');
is_given_back('in the end');
is($node->safe_psql('postgres', 'SELECT memory_columns < 100000 FROM gpuconc_devices'), 't', 'in the end: copies of columns are gone');
$node->stop;
done_testing();
