# Decisions of the worker for a GPU, where there is none: device host says that it is one
# (gpuconc.debug_pretend_gpu).  Kernels are sized for its multiprocessors, co-resident
# together, and fused with tables in its shared memory, and run on the host's threads all the same.
# How long they take, and so who shares what with whom, is up to the machine, unless a setting
# forces it: the answers are not.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @sessions;
my $node = new_server('pretended', q{
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.calibration_file = 'gpu.calibration'
gpuconc.batch_log_size = 4096
}, start => 0);

append_to_file($node->data_dir . '/gpu.calibration', "read_bandwidth = 3000\nlaunch_us = 10\n");
start_server($node);
create_tables($node, 150000);
$node->safe_psql('postgres', q{
CREATE TABLE d2 (k int PRIMARY KEY, v int);
INSERT INTO d2 SELECT i, i % 7 FROM generate_series(0, 36) AS i;
VACUUM ANALYZE d2});

is($node->safe_psql('postgres', 'SELECT multiprocessors FROM gpuconc_devices'), '132', 'as many multiprocessors as that GPU has');
is($node->safe_psql('postgres', q{SHOW gpuconc.debug_pretend_gpu}), 'H200', 'the setting');

# Kernels in the batches after some number.
sub kernels_after
{
	my ($last, $figures) = @_;

	return $node->safe_psql('postgres', qq{
SELECT $figures FROM (SELECT e ->> 'cat' AS category, batch, threads, predicted_us, "shared_kB" AS shared
	FROM jsonb_array_elements(gpuconc_timeline(4096)::jsonb -> 'traceEvents') AS e,
		jsonb_to_record(e -> 'args') AS a (batch bigint, threads int, predicted_us float8, "shared_kB" float8)
	WHERE e ->> 'cat' IN ('kernel', 'shared scan', 'selection scan') AND batch > $last) AS k});
}

# Repeat the queries until another query says "t".  How long kernels take, and are compiled, decides how
# often that is: as long as tests wait for anything.
sub until_seen
{
	my ($message, $asked, $query) = @_;
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;

	answered_together($node, \@sessions, $message, undef, undef, @$asked)
	  while time < $end && $node->safe_psql('postgres', $query) ne 't';
	is($node->safe_psql('postgres', $query), 't', $message);
	return;
}

#-------------------------------------------------------------------------
# Every policy, shared scans on and off
#-------------------------------------------------------------------------
my @asked = (
	@queries,
	'SELECT k, s, count(*), max(id) FROM t WHERE id % 2 = 1 GROUP BY k, s ORDER BY k, s',
	'SELECT count(*), sum(id) FROM t JOIN dim ON dim.k = t.k JOIN d2 ON d2.k = t.k % 37 WHERE v < 4 AND dim.k > 9',
	'SELECT name, s, count(*), sum(n) FROM t JOIN dim USING (k) WHERE k % 3 = 1 GROUP BY name, s ORDER BY name, s',
	'SELECT count(*), sum(id) FROM t WHERE k BETWEEN 3 AND 40 AND id < 90000',
	'SELECT count(*), sum(id) FROM t WHERE k BETWEEN 30 AND 35 AND id < 50000');
@sessions = map { session($node, "pretended$_") } (0 .. $#asked);

is_offloaded($node, $_, "alone: $_") foreach (@asked);
is($node->safe_psql('postgres', q{SELECT bool_and(registers > 0 AND threads >= 128) FROM gpuconc_stat_kernels WHERE kind = 'kernel'}), 't', 'kernels in blocks of warps');
foreach my $policy ('sequential', 'streams', 'random', 'kernel', 'twostage')
{
	foreach my $more ('off', 'on')
	{
		next if $more eq 'on' && $policy ne 'kernel' && $policy ne 'twostage';
		configure($node, 'gpuconc.schedule' => $policy, 'gpuconc.enable_shared_scan' => $more);
		answered_together($node, \@sessions, "$policy, shared scans $more, $_", undef, undef, @asked) for (1 .. 3);
	}
}

#-------------------------------------------------------------------------
# Tables of groups in the shared memory of a fused kernel
#-------------------------------------------------------------------------
configure($node, 'gpuconc.debug_force_shared_scan' => 'groups');
my $last = last_batch($node);
answered_together($node, \@sessions, "groups in one kernel, $_", 'shared scan', qr/^[2-9]/, map { "SELECT s, count(*), sum(n), min(id) FROM t WHERE k < $_ GROUP BY s ORDER BY s" } (40 .. 44)) for (1 .. 2);
is(kernels_after($last, q{bool_and(shared > 1 AND threads > 32) FILTER (WHERE category = 'shared scan')}), 't', 'groups in one kernel: in shared memory');
foreach my $kind ('fused', 'selection')
{
	configure($node, 'gpuconc.debug_force_shared_scan' => $kind);
	answered_together($node, \@sessions, "$kind, $_", undef, undef, @asked) for (1 .. 2);
}
configure($node, 'gpuconc.debug_force_shared_scan' => 'off', 'gpuconc.enable_shared_scan' => 'off');

#-------------------------------------------------------------------------
# A fused scan that gave way to selection bitmaps is believed to take less from time to time, so that it is tried again
#-------------------------------------------------------------------------
@asked = map { "SELECT s, count(*), sum(n), min(id) FROM t WHERE k < $_ GROUP BY s ORDER BY s" } (40 .. 42);

# The predicted time of the newest fused scan.
sub predicted_fused
{
	my ($round) = @_;

	configure($node, 'gpuconc.debug_force_shared_scan' => 'groups');
	$last = last_batch($node);
	answered_together($node, \@sessions, $round, 'shared scan', 3, @asked);
	return kernels_after($last, q{max(predicted_us) FILTER (WHERE category = 'shared scan')});
}

configure($node, 'gpuconc.enable_shared_scan' => 'on');
predicted_fused("three fused, $_") for (1 .. 8);
my ($fused_us, $later_us);
# Again where the last fused scan before them took much longer than those that its prediction came from.
again_until(sub {
	$fused_us = predicted_fused('before selection bitmaps');
	configure($node, 'gpuconc.debug_force_shared_scan' => 'selection');
	$last = last_batch($node);
	together($node, \@sessions, @asked) for (1 .. 128);
	is(kernels_after($last, q{count(*) >= 128 AND bool_and(category = 'selection scan')}), 't', 'then by selection bitmaps');
	$later_us = predicted_fused('after selection bitmaps');
	note "$fused_us us, and then $later_us";
	return $later_us < $fused_us / 2 });
cmp_ok($later_us, '<', $fused_us / 2, 'less is believed of what was not fused');
configure($node, 'gpuconc.debug_force_shared_scan' => 'off', 'gpuconc.enable_shared_scan' => 'off');

#-------------------------------------------------------------------------
# A bitmap in shared memory; for large tables only
#-------------------------------------------------------------------------
$node->safe_psql('postgres', q{
CREATE TABLE large (k int, w int);
INSERT INTO large SELECT i % 100, i * 7919::bigint % 1000000 FROM generate_series(1, 2100000) AS i;
CREATE TABLE sparse (w int PRIMARY KEY, v int);
INSERT INTO sparse SELECT i * 5, i % 7 FROM generate_series(0, 199999) AS i;
VACUUM ANALYZE large, sparse});
my @probing = ('SELECT count(*), sum(large.w) FROM large JOIN sparse ON sparse.w = large.w WHERE v < 3', 'SELECT v, count(*) FROM large JOIN sparse ON sparse.w = large.w WHERE k < 60 GROUP BY v ORDER BY v');
is_offloaded($node, $_, "alone: $_") foreach (@probing);
my $plan = $node->safe_psql('postgres', "SET gpuconc.debug_offload = require; EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, FORMAT YAML) $probing[0]");
like($plan, qr/Shared Memory per Block: 12\d\n/, 'a bitmap in shared memory');
answered_together($node, \@sessions, "bitmaps in shared memory, $_", undef, undef, @probing) for (1 .. 2);

#-------------------------------------------------------------------------
# Resident together: kernels of different tables in shared memory, in one batch with one prediction
#-------------------------------------------------------------------------
@asked = (
	'SELECT count(*), sum(id) FROM t WHERE k BETWEEN 1 AND 31',
	'SELECT s, count(*), sum(n), min(id) FROM t WHERE k < 40 GROUP BY s ORDER BY s',
	'SELECT count(*), sum(id) FROM t JOIN dim ON dim.k = t.k WHERE dim.k > 9',
	'SELECT id, k FROM t WHERE k = 77 AND id < 20000 ORDER BY id');
is_offloaded($node, $_, "alone: $_") foreach (@asked);
configure($node, 'gpuconc.debug_force_coresident' => 'on');
foreach my $n (2 .. 4)
{
	$last = last_batch($node);
	answered_together($node, \@sessions, "$n co-co-resident", undef, undef, @asked[0 .. $n - 1]);
	is(kernels_after($last, "count(*) = $n AND count(DISTINCT batch) = 1 AND count(DISTINCT predicted_us) = 1"), 't', "$n co-co-resident");
}

# Also those whom a shared scan might serve, and sooner than their own kernels
@asked = map { "SELECT count(*), sum(id) FROM t WHERE ((k::bigint * k % 97) * k % 89 + k::bigint * (k + 3) % 83 * k % 79) % 11 = $_" } (1 .. 4);
configure($node, 'gpuconc.debug_force_coresident' => 'off', 'gpuconc.enable_shared_scan' => 'on', 'gpuconc.debug_force_shared_scan' => 'selection');
answered_together($node, \@sessions, 'by selection bitmaps', 'selection scan', qr/^4/, @asked);
configure($node, 'gpuconc.debug_force_shared_scan' => 'off', 'gpuconc.debug_force_coresident' => 'on');
foreach my $round (1 .. 4)
{
	$last = last_batch($node);
	answered_together($node, \@sessions, "co-resident instead, $round", undef, undef, @asked);
	is(kernels_after($last, q{count(*) = 4 AND bool_and(category = 'kernel') AND count(DISTINCT batch) = 1 AND count(DISTINCT predicted_us) = 1}), 't', "four that could share a scan are co-co-resident, $round");
}

$_->quit foreach (@sessions);
nothing_held($node, 'at the end');
$node->stop;

#-------------------------------------------------------------------------
# Memory of its own: what directories have in common is copied once, however closely they follow
#-------------------------------------------------------------------------
$node = new_server('copies', q{
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.debug_chunk_pages = 128
});
create_tables($node, 150000);
my $copied = sub { $node->safe_psql('postgres', 'SELECT copied_bytes FROM gpuconc_stat_memory') };
my $on_device = sub { $node->safe_psql('postgres', q{SELECT sum(device_bytes) FROM gpuconc_cache WHERE relation = 't'::regclass}) };
my $asked = 'SELECT count(*), sum(id), max(n) FROM t WHERE k % 11 < 5';
is_offloaded($node, $asked, 'copied');
my ($first, $bytes) = ($copied->(), $on_device->());
cmp_ok($bytes, '>', 150000, 'copied: columns are in device memory');
foreach my $round (1 .. 5)
{
	$node->safe_psql('postgres', "UPDATE t SET n = n + 1 WHERE id % 20000 = $round; SELECT gpuconc_prewarm('t')");
	is_offloaded($node, $asked, "copied: with other hot chunks, $round");
}
# The last chunk has grown each time, and there is a new hot chunk.
cmp_ok($copied->() - $first, '<', 2 * $bytes, 'copied: five directories have not made five copies');
cmp_ok($on_device->(), '<', 2 * $bytes, 'copied: nor is that shown');
is($node->safe_psql('postgres', q{SELECT gpuconc_evict('t') > 0}), 't', 'copied: evicted');
is_offloaded($node, $asked, 'copied: and anew');
nothing_held($node, 'copied');
$node->stop;

#-------------------------------------------------------------------------
# Side by side on a single thread: from what batches took, the worker learns what they will take
#-------------------------------------------------------------------------
$node = new_server('line', q{
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.host_threads = 1
gpuconc.enable_shared_scan = off
});
create_tables($node, 150000);
# Kernels take long: nothing is learned where launches take longer, which are many times as slow on a loaded machine.
my $work = join ' + ', map { "id % $_" } (101 .. 160);
@asked = map { "SELECT count(*), sum(id), max(n) FROM t WHERE s LIKE '%$_' OR ($work) % 11 = $_" } (0 .. 7);
@sessions = map { session($node, "line$_") } (0 .. $#asked);
is_offloaded($node, $asked[0], 'alone') for (1 .. 3);
answered_together($node, \@sessions, "in sequence, $_", undef, undef, @asked) for (1 .. 4);
until_seen('what eight in sequence take is predicted', \@asked, q{
SELECT count(*) > 2 FROM (SELECT * FROM gpuconc_stat_batches WHERE kernels = 8 ORDER BY id DESC LIMIT 4) AS b
WHERE predicted_time BETWEEN 0.7 * actual_time AND 1.4 * actual_time});
$_->quit foreach (@sessions);
nothing_held($node, 'in sequence');
done_testing();
