# Device calls that fail while shared scans are started: no memory for one call, or a device that is
# lost.  Requests of a scan that was given up run by themselves, or get PostgreSQL's answer; none counts rows twice.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Pages that were written are chunks of each request's own, which are read before the scan that all share.
my $node = new_server('scan_faults', q{
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.debug_gpu_kernels = off
gpuconc.debug_hot_pages = 1
gpuconc.debug_versioned_pages = off
max_parallel_workers_per_gather = 0
});
keep_session($node);
foreach my $t (0, 1)
{
	$node->safe_psql('postgres', qq{
CREATE TABLE s$t AS SELECT i AS id, i % 9 AS g, 1 + i % 200 AS v, (i / 4.0)::numeric(12,2) AS n FROM generate_series(0, 19999) AS i;
VACUUM (FREEZE, ANALYZE) s$t;
UPDATE s$t SET v = v + 1 WHERE id % 500 = 0;
INSERT INTO s$t VALUES (39000, 1, 2, 3)});
}
my %asked = (
	fused => [map { ("SELECT count(*), sum(n), max(v) FROM s$_ WHERE v > 3", "SELECT g, count(*), sum(n), count(v) FROM s$_ WHERE id > 70 GROUP BY g ORDER BY g",
		"SELECT count(*), sum(n), max(v) FROM s$_ WHERE v > 50") } (0, 1)],
	selection => [map { ("SELECT count(*), sum(n), max(v) FROM s$_ WHERE v > 150", "SELECT id, v, n FROM s$_ WHERE v = 27 ORDER BY id",
		"SELECT n, count(*), sum(v) FROM s$_ WHERE v = 12 AND g < 7 GROUP BY n ORDER BY n") } (0, 1)]);
my %expected = map { $_ => answer_of($node, $_, 'forbid') } map { @$_ } values %asked;
my @sessions = map { session($node, "scan_faults$_") } (0 .. 5);

# All sessions at once; the answers that are wrong.  Those that have failed before are not waited for.
my $round = 0;
sub wrong_together
{
	my ($kind) = @_;
	my @queries = @{ $asked{$kind} };

	$round++;
	configure($node, 'gpuconc.debug_hold_requests' => scalar @queries);
	ask($sessions[$_], "$queries[$_] /* round $round */") foreach (0 .. $#queries);
	wait_until($node, "SELECT count(*) = @{[ scalar @queries ]} FROM pg_stat_activity WHERE query LIKE '%/* round $round */%' AND pid <> pg_backend_pid() AND (state = 'idle' OR wait_event_type = 'Extension')");
	configure($node, 'gpuconc.debug_hold_requests' => 0);
	my @got = map { rows_of($sessions[$_]) } (0 .. $#queries);
	my @wrong = grep { $got[$_] ne $expected{ $queries[$_] } } (0 .. $#queries);

	diag "$queries[$_]\n" . substr($got[$_], 0, 500) foreach (@wrong);
	return scalar @wrong;
}

foreach my $kind ('fused', 'selection')
{
	configure($node, 'gpuconc.debug_force_shared_scan' => $kind);
	# Until the kernels are compiled.
	answer_of($node, $_, 'require') foreach (@{ $asked{$kind} });
	$_->query_safe('SET gpuconc.debug_offload = require') foreach (@sessions);
	is(wrong_together($kind), 0, "$kind: answers") foreach (1 .. 3);

	# Calls from the first to what a start takes, which is not known.
	$_->query_safe('SET gpuconc.debug_offload = allow') foreach (@sessions);
	my ($wrong, $fallbacks) = (0, stat_of($node, 'fallbacks'));
	foreach my $n (1, 2, (map { 3 * $_ } (1 .. 18)), (map { 4 * $_ } (1 .. 12)))
	{
		configure($node, 'gpuconc.debug_fail_device' => $n);
		$wrong += wrong_together($kind);
	}
	is($wrong, 0, "$kind: answers where a call has no memory");
	cmp_ok(stat_of($node, 'fallbacks'), '>', $fallbacks, "$kind: some are PostgreSQL's");
	configure($node, 'gpuconc.debug_fail_device' => 0);
	nothing_held($node, "$kind: after it");

	foreach my $n (1, 6, 11, 16, 31)
	{
		my $worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM gpuconc_devices');

		configure($node, 'gpuconc.debug_fail_device' => -$n);
		is(wrong_together($kind), 0, "$kind: answers where the device is lost with call $n");
		# A call that asks finds it out; if all requests were over before, the next one does.
		again_until(sub {
			wrong_together($kind);
			return $node->safe_psql('postgres', "SELECT state = 'ready' AND worker_pid <> $worker FROM gpuconc_devices") eq 't';
		}) or fail("$kind: the worker starts anew");
		configure($node, 'gpuconc.debug_fail_device' => 0);
	}
	$_->query_safe('SET gpuconc.debug_offload = require') foreach (@sessions);
	is(wrong_together($kind), 0, "$kind: answers by the new worker");
}
nothing_held($node, 'at the end');
$_->quit foreach (@sessions);
is(log_has($node, qr/PANIC|TRAP|was terminated by signal/), 0, 'nothing bad in the log');
$node->stop;
done_testing();
